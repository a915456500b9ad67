"""OpenTelemetry: model calls in spans, by the conventions of GenAI or of OpenInference.

A span holds the model's input, which repeats the earlier messages, and its output. Of the spans of a conversation (or
else of a trace) those are kept whose messages no later span, and none inside an agent's span, repeats; one of them
without output has no answer. A span that was cut (dropped attributes, half a list, a missing number) or says two things
is refused, and a tool that ran without a call in the messages. What a retriever found is the result of a tool.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, summed
from rulewright_runtime.transcripts.readers.content import as_json
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, OUTPUT_KEYS, run_messages
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    duration,
    first_of,
    instant,
    is_list,
    is_record,
    list_at,
    parsed,
    records_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, ended, messages
from rulewright_runtime.transcripts.readers.span_attributes import (
    TEXTS,
    Retrieval,
    SpanKey,
    ToolExecution,
    TracedCall,
    attributes_of,
    content_of,
    execution_in,
    from_numbered_keys,
    nested,
    prefix_digests,
    retrieved_in,
    with_passages,
    with_results,
)

_SDK: Final = "ai.prompt.messages"
_IN: Final = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages", _SDK)
_OUT: Final = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")
_SYSTEM: Final = "gen_ai.system_instructions"
_MODELS: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
# Of a request of OTLP: its resources, their scopes, and the items of each.
_EXPORTS: Final = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
_CONVERSATIONS: Final = ("gen_ai.conversation.id", "session.id")
_EVENTS: Final = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_USAGE: Final = ("gen_ai.usage.", "llm.token_count.")
_DROPPED: Final = ("droppedAttributesCount", "droppedEventsCount", "dropped_attributes_count", "dropped_events_count")
_STARTS: Final = ("startTimeUnixNano", "timeUnixNano", "start_time", "startTime")
_TIMES: Final = ("endTimeUnixNano", "end_time", "endTime", *_STARTS)
_OPERATION: Final = "gen_ai.operation.name"
_MODEL_CALLS: Final = ("chat", "text_completion", "generate_content")
_NO_ANSWER: Final = Message("assistant", metadata={"error": "the span has no answer"})
_JSON: Final = re.compile(r'\s*(\[\s*(["\[{\]]|$)|\{\s*(["}]|$))')  # how a list or object begins, but not `[INST]`
_MESSAGE_KEYS: Final = frozenset(("role", "content", "contents", "parts", "tool_calls", "message"))


def _recognises(record: Record) -> bool:
    return any(is_list(record.get(key)) for key, _, _ in _EXPORTS) or _is_span(record) or _is_row(record)


def _is_row(record: Record) -> bool:
    """Whether it is a row of Phoenix's data frame, which has the keys of the inner objects in its own."""
    return "attributes" not in record and "context.trace_id" in record


def _is_span(record: Record) -> bool:
    attributes = record.get("attributes")
    identified = any(key in record for key in ("context", "spanId", "span_id", "traceId", "trace_id"))
    return identified and (is_record(attributes) or is_list(attributes))


_DEPTH: Final = 64  # of the spans around a call


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    calls: list[TracedCall] = []
    parents: dict[SpanKey, SpanKey] = {}
    executions: dict[SpanKey, ToolExecution] = {}
    retrievals: list[Retrieval] = []
    silent: dict[str, str] = {}  # spans by their traces
    for number, span in enumerate((span for record in records for span in _spans(record)), 1):
        where = f"span {number}"
        key, parents[key] = _identity(span, where)
        try:
            attributes = attributes_of(span.get("attributes"))
            execution = execution_in(span, attributes, where)
            retrieved = retrieved_in(attributes)
            conversation = _conversation(span, attributes, where)
        except ShapeError as wrong:
            yield wrong
            continue
        if conversation is not None:
            calls.append(TracedCall(key, _ended(span), conversation))
        elif retrieved is not None:
            retrievals.append(Retrieval(key[0], _ended(span), retrieved))
        elif execution is not None:
            executions[key] = execution
        if execution is not None or _calls_a_model(attributes):
            silent.setdefault(key[0], where)
    if not calls:
        yield ShapeError("no span contains messages of a model (`gen_ai.input.messages`, `llm.input_messages`)")
        return
    yield from _grouped(
        without_agents(calls, parents), _by_trace(executions, parents), sorted(retrievals, key=lambda each: each.at)
    )
    for trace in sorted(silent.keys() - {call.key[0] for call in calls}):
        yield ShapeError(f"{silent[trace]}: no span of the trace `{trace}` contains messages of a model")


def _grouped(
    calls: Iterable[TracedCall], uncalled: dict[str, list[ToolExecution]], retrievals: Sequence[Retrieval]
) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations, and an error for each execution of their traces that no message calls."""
    groups: dict[str, list[TracedCall]] = {}
    for call in calls:
        groups.setdefault(call.conversation.id, []).append(call)
    for name, group in groups.items():
        tried = {call.key[0]: uncalled.get(call.key[0], []) for call in group}
        spans = sorted(group, key=lambda each: each.at)
        kept = unrepeated(spans, name)
        shown = [*with_passages(kept, spans, retrievals)]
        whole, uncalled_here = with_results(shown, itertools.chain(*tried.values()))
        left = {*map(id, uncalled_here)}
        uncalled |= {trace: [each for each in ran if id(each) in left] for trace, ran in tried.items()}
        for conversation in whole:
            unanswered = () if conversation.messages[-1].role == "assistant" else (_NO_ANSWER,)
            yield msgspec.structs.replace(conversation, messages=(*conversation.messages, *unanswered))
    traces = {call.key[0]: None for group in groups.values() for call in group}
    for each in itertools.chain(*(uncalled.get(trace, ()) for trace in traces)):
        yield ShapeError(f"{each.where}: the tool `{each.name}` ran, and no message of its trace calls it")


def _by_trace(
    executions: Mapping[SpanKey, ToolExecution], parents: Mapping[SpanKey, SpanKey]
) -> dict[str, list[ToolExecution]]:
    """The executions of each trace; of one that two instrumentations record, the outer span."""
    found: dict[str, list[ToolExecution]] = {}
    for key, execution in executions.items():
        outer = executions.get(parents[key])
        if outer is None or outer.name != execution.name or execution.call_id not in ("", outer.call_id):
            found.setdefault(key[0], []).append(execution)
    return found


def without_agents(calls: Sequence[TracedCall], parents: Mapping[SpanKey, SpanKey]) -> Iterator[TracedCall]:
    """Yield the calls, but none around another one, such as that of an agent, that repeats its messages in order."""
    inside: dict[SpanKey, list[Conversation]] = {}
    for call in calls:
        key, passed = call.key, {call.key}
        while (key := parents.get(key, key)) not in passed and len(passed) < _DEPTH:
            passed.add(key)
            inside.setdefault(key, []).append(call.conversation)
    for call in calls:
        if not any(_repeats(each, call.conversation) for each in inside.get(call.key, ())):
            yield call


def _repeats(whole: Conversation, part: Conversation) -> bool:
    """Whether the messages of one conversation are in the other, in the same order."""
    rest = iter(map(content_of, whole.messages))
    return all(message in rest for message in map(content_of, part.messages))


def _identity(span: Record, where: str) -> tuple[SpanKey, SpanKey]:
    """The trace and the id of a span (without an id, where it stands), and those of its parent."""
    context = span.get("context")
    names = {**(context if is_record(context) else {}), **span}
    trace, own = word(first_of(names, ("traceId", "trace_id"))), word(first_of(names, ("spanId", "span_id"))) or where
    return (trace, own), (trace, word(first_of(names, ("parentSpanId", "parent_span_id", "parent_id"))))


def _calls_a_model(attributes: Record) -> bool:
    return attributes.get("openinference.span.kind") == "LLM" or attributes.get(_OPERATION) in _MODEL_CALLS


def _spans(record: Record) -> Iterator[Record]:
    """Yield the spans or the log records in an OTLP export, or the record itself if it is a span."""
    if _is_span(record) or _is_row(record):
        yield record if _is_span(record) else _span_of_row(record)
        return
    for resources, scopes, items in _EXPORTS:
        for resource in records_at(record.get(resources), resources):
            for scope in records_at(first_of(resource, (scopes, "instrumentationLibrarySpans")), scopes):
                yield from records_at(scope.get(items), items)


def _span_of_row(record: Record) -> Record:
    """The span with its inner objects in place of keys such as `context.trace_id` and `attributes.llm.model_name`."""
    context = {key.removeprefix("context."): value for key, value in record.items() if key.startswith("context.")}
    attributes = {
        key.removeprefix("attributes."): nested(value)
        for key, value in record.items()
        if key.startswith("attributes.") and value is not None
    }
    return {**record, "context": context, "attributes": attributes}


def _ended(span: Record) -> int:
    """When a span ended: that of an agent ends after those inside it."""
    return instant(first_of(span, _TIMES))


def unrepeated(spans: Sequence[TracedCall], name: str) -> Iterator[Conversation]:
    """The conversations that are not a prefix of a later one, with the id `name`, and a number if there are several.
    The usage of each is the sum of its own and of those that it repeats, in the fields that all of them have; a span
    that is exported twice counts once."""
    prefixes: set[bytes] = set()
    unique: list[tuple[Conversation, list[bytes]]] = []
    used: dict[bytes, dict[SpanKey, JsonObject]] = {}  # by what a call and those before it said, and by its span
    for span in reversed(spans):
        each = span.conversation
        digests = prefix_digests(each.messages)
        if digests[-1] not in prefixes:
            unique.append((each, digests))
        prefixes.update(digests)
        if each.usage or each.messages[-1].role == "assistant":
            used.setdefault(digests[-1], {}).setdefault(span.key, each.usage)
    for number, (each, digests) in enumerate(reversed(unique), 1):
        calls = [usage for digest in digests for usage in used.get(digest, {}).values()]
        usage = calls[0] if len(calls) == 1 else summed(calls)
        yield msgspec.structs.replace(each, id=name if len(unique) == 1 else f"{name}#{number}", usage=usage)


def _conversation(span: Record, attributes: Record, where: str) -> Conversation | None:
    """The conversation in a span; None if it has no messages of a model."""
    event = word(first_of({**attributes, **span}, ("eventName", "event.name")))
    if event in _EVENTS or event == "gen_ai.choice":
        raise ShapeError(
            f"{where}: an event `{event}` outside of a span is not read; export the spans with their events"
        )
    asked, replies = [*_listed(attributes, _IN, where)], [*_listed(attributes, _OUT, where)]
    if attributes.get("openinference.span.kind") == "LLM":
        asked = asked or _values(attributes, "input", INPUT_KEYS, where)
        replies = replies or _values(attributes, "output", OUTPUT_KEYS, where)
    found = [*_instructions(attributes, where), *asked, *replies]
    found += [*_answer_of_sdk(attributes, where), *_events(span, where)]
    if not found:
        return None
    if dropped := next((key for key in _DROPPED if span.get(key)), None):
        raise ShapeError(f"{where} was cut: `{dropped}` is {word(span[dropped])}")
    usage = duration(instant(first_of(span, _STARTS)), _ended(span)) | {
        key.removeprefix(prefix): value
        for prefix in _USAGE
        for key, value in attributes.items()
        if key.startswith(prefix)
    }
    read = (*_IN, *_OUT, _SYSTEM)
    return Conversation(
        word(first_of(attributes, _CONVERSATIONS)) or _identity(span, "")[0][0],
        tuple(found),
        word(attributes.get("scenario_id")) or None,
        metadata={key: value for key, value in attributes.items() if not key.startswith((*read, *_USAGE))},
        usage=usage,
        source="otel",
        model=word(first_of(attributes, _MODELS)),
    )


def _instructions(attributes: Record, where: str) -> list[Message]:
    value = attributes.get(_SYSTEM)
    value = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") else value
    return messages({"role": "system", "content": _contents(value)}, f"{where}: {_SYSTEM}") if value else []


def _listed(attributes: Record, names: Sequence[str], where: str) -> Iterator[Message]:
    """Yield the messages under the names: a list or a message, also as JSON text, a text, or values under numbered
    keys."""
    role = "user" if names == _IN else "assistant"
    for name in names:
        value = attributes.get(name)
        numbered = from_numbered_keys(attributes, f"{name}.")
        if value is None:
            value = numbered
        elif numbered:
            raise ShapeError(f"{where}: `{name}` occurs twice")
        for index, each in enumerate(_as_list(value, role, name, where)):
            for message in _messages(each, f"{where}: {name}[{index}]"):
                if names == _OUT and message.role not in ("assistant", "tool"):
                    raise ShapeError(f"{where}: {name}[{index}].role is `{message.role}`; expected `assistant`")
                yield message


def _values(attributes: Record, key: str, names: Sequence[str], where: str) -> list[Message]:
    """The messages in the value that OpenInference records for every span: a text, or the request or response."""
    text = attributes.get(f"{key}.value") or ""
    value, text = (parsed(text), text) if isinstance(text, str) else (text, as_json(text))
    if not text.strip():
        return []
    role = "user" if key == "input" else "assistant"
    found = run_messages(value, names, role, f"{where}: {key}.value") if is_record(value) else []
    return found or messages({"role": role, "content": text}, where)


def _answer_of_sdk(attributes: Record, where: str) -> list[Message]:
    """The answer of the AI SDK, which has attributes of its own."""
    text, calls = attributes.get("ai.response.text"), attributes.get("ai.response.toolCalls")
    if _SDK not in attributes or (text is None and calls is None):
        return []
    calls = parsed(calls) if isinstance(calls, str) else calls
    return messages({"role": "assistant", "content": text, "tool_calls": calls}, f"{where}: ai.response")


def _as_list(value: Json, role: str, name: str, where: str) -> list[Json]:
    """The messages in an attribute. Raises ShapeError for JSON text that was cut, and for other values."""
    if isinstance(value, str):
        text = {"role": role, "content": value}
        is_json = _JSON.match(value) if name in TEXTS else value.lstrip()[:1] in ("[", "{")
        value = parsed(value) if is_json else text
        if value is None:
            raise ShapeError(f"{where}: {name} is cut or damaged: it is not JSON")
        if name in TEXTS and value and not _holds_messages(value):
            value = text  # a text that happens to be JSON
    return [value] if is_record(value) else list_at(value, f"{where}: {name}")


def _holds_messages(value: Json) -> bool:
    """Whether a value is a message or a list that contains one."""
    listed = value if is_list(value) else [value]
    return any(is_record(each) and not _MESSAGE_KEYS.isdisjoint(each) for each in listed)


def _messages(value: object, where: str) -> list[Message]:
    record = value.get("message", value) if is_record(value) else value
    if not is_record(record) or not _holds_messages(record):
        raise ShapeError(f"{where} is not a message")
    calls = record.get("tool_calls")
    if is_list(calls):
        calls = [each.get("tool_call", each) if is_record(each) else each for each in calls]
    content = first_of(record, ("contents", "content", "parts"))
    known = {key: one for key, one in record.items() if key not in ("contents", "content", "parts", "tool_calls")}
    full = {**known, "content": _contents(content), **({"tool_calls": calls} if calls else {})}
    return messages({**full, "role": record.get("role", "assistant")}, where)


def _contents(value: object) -> object:
    """The parts of a content; those of OpenInference are unwrapped, and images reduced to their address."""
    if not is_list(value):
        return value
    parts = [each.get("message_content", each) if is_record(each) else each for each in value]
    return [_image(part) if is_record(part) and is_record(part.get("image")) else part for part in parts]


def _image(part: JsonObject) -> dict[str, object]:
    inner = part["image"].get("image", part["image"])
    return {"type": "image", **(inner if is_record(inner) else {})}


def _events(span: Record, where: str) -> Iterator[Message]:
    """Yield the messages that an older instrumentation recorded as events of the span."""
    for index, event in enumerate(records_at(span.get("events"), f"{where}: events")):
        name = word(event.get("name"))
        attributes = attributes_of(event.get("attributes"))
        if name in _EVENTS:
            yield from _messages({"role": _EVENTS[name], **attributes}, f"{where}: events[{index}]")
        elif name == "gen_ai.choice":
            inner = parsed(word(attributes.get("message"))) or attributes.get("message") or attributes
            yield from ended(_messages(inner, f"{where}: events[{index}]"), attributes)
        elif name.startswith("gen_ai."):
            yield from _listed(attributes, (*_IN, *_OUT), f"{where}: events[{index}]")


FORMAT: Final = Format("otel", _recognises, _read, joins=True)
