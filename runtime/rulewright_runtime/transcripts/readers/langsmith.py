"""LangSmith: exported runs, with messages as LangChain, OpenAI or Anthropic write them.

The conversation of a thread (or else of a trace) is the input and output of its model calls; if an export has no model
call, that of its outermost run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part
from rulewright_runtime.transcripts.readers.openai import item_messages
from rulewright_runtime.transcripts.readers.shapes import (
    ROLE_WORDS,
    Format,
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    messages,
    optional,
    parsed,
    record_at,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.spans import unrepeated

_THREADS: Final = ("session_id", "thread_id", "conversation_id")  # in the metadata of a run
INPUT_KEYS: Final = ("input", "question", "query", "prompt", "text", "user_input")
ANSWER_KEYS: Final = ("output", "answer", "response")
OUTPUT_KEYS: Final = (*ANSWER_KEYS, "result", "text", "content")
_USAGE: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_MODELS: Final = ("ls_model_name", "model", "model_name")
_CALLS: Final = ("tool_use", "tool_call", "function_call")
_MAX_DEPTH: Final = 64


def _recognises(record: Record) -> bool:
    runs = record.get("runs")
    return _is_run(record) or (is_list(runs) and any(is_record(run) and _is_run(run) for run in runs[:1]))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and "inputs" in record


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    threads: dict[str, list[tuple[Record, str]]] = {}
    number = 0
    for record in records:
        for value in _runs(record, 0):
            number += 1
            if not is_record(value) or not _is_run(value):
                yield ShapeError(f"run {number} has no `run_type` and `inputs`")
            else:
                threads.setdefault(_thread(value), []).append((value, f"run {number}"))
    for name, runs in threads.items():
        yield from _conversations(name, runs)


def _runs(record: object, depth: int) -> Iterator[object]:
    """Yield the runs in an API response, or the record itself and its child runs."""
    if depth > _MAX_DEPTH:
        raise ShapeError("the runs are nested too deeply")
    if not is_record(record) or _is_run(record):
        yield record
    inner = (record.get("child_runs") if _is_run(record) else record.get("runs")) if is_record(record) else None
    for run in inner if is_list(inner) else []:
        yield from _runs(run, depth + 1)


def _thread(run: Record) -> str:
    return word(first_of(_metadata(run), _THREADS)) or word(first_of(run, ("trace_id", "id")))


def _metadata(run: Record) -> Record:
    extra = _object(run.get("extra"))
    return _object(extra.get("metadata")) or _object(run.get("metadata"))


def _object(value: object) -> Record:
    """An object, also from JSON text, which a bulk export has in its columns; empty for any other value."""
    value = parsed(value) if isinstance(value, str) else value
    return value if is_record(value) else {}


def _conversations(name: str, runs: list[tuple[Record, str]]) -> Iterator[Conversation | ShapeError]:
    traces: dict[str, list[tuple[Record, str]]] = {}
    for run, where in runs:
        traces.setdefault(word(first_of(run, ("trace_id", "id"))), []).append((run, where))
    relevant = []
    for trace_id, trace in traces.items():
        selected = _relevant_runs(trace)
        relevant += selected
        if not selected:
            yield ShapeError(f"trace `{trace_id[:60]}` has no outermost run; its runs stand below each other")
    found = []
    for run, where in sorted(relevant, key=lambda each: word(each[0].get("start_time"))):
        try:
            crashed = _error(traces[word(first_of(run, ("trace_id", "id")))])
            found.append(_conversation(run, name, where, crashed))
        except ShapeError as wrong:
            yield wrong
    unique = unrepeated(found)
    for number, each in enumerate(unique, 1):
        yield each if len(unique) == 1 else msgspec.structs.replace(each, id=f"{name}#{number}")


def _relevant_runs(trace: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
    """The model calls in a trace; if there are none, its outermost runs."""
    ids = {word(run.get("id")) for run, _ in trace}
    calls = [each for each in trace if each[0]["run_type"] == "llm"]
    return calls or [each for each in trace if word(each[0].get("parent_run_id")) not in ids]


def _error(trace: list[tuple[Record, str]]) -> str:
    """The error of the whole trace, whatever its calls returned; empty if there is none."""
    return next((word(run["error"]) for run, _ in trace if run.get("error") and not run.get("parent_run_id")), "")


def _conversation(run: Record, name: str, where: str, crashed: str) -> Conversation:
    inputs, outputs = _object(run.get("inputs")), _object(run.get("outputs"))
    asked = run_messages(inputs, INPUT_KEYS, "user", f"{where}: inputs")
    replies = run_messages(outputs, OUTPUT_KEYS, "assistant", f"{where}: outputs")
    other = next((key for key in ANSWER_KEYS if _is_text_elsewhere(outputs.get(key), replies)), None)
    if other is not None:
        raise ShapeError(f"{where}: `{other}` in the outputs is not among the messages that were read")
    if not asked:
        raise ShapeError(f"{where}: inputs hold neither `messages` nor one text")
    if replies[: len(asked)] == asked:  # the state of a graph repeats its input
        replies = replies[len(asked) :]
    error = (
        word(run.get("error"))
        or crashed
        or ("" if replies and replies[-1].role == "assistant" else "the run has no answer")
    )
    ended = optional(run.get("end_time"))
    replies = [msgspec.structs.replace(each, timestamp=each.timestamp or ended) for each in replies]
    failed = [Message("assistant", metadata={"error": error}, timestamp=ended)] if error else []
    metadata = _metadata(run)
    return Conversation(
        name,
        (*asked, *replies, *failed),
        optional(metadata.get("scenario_id")),
        metadata=rest(run, "inputs", "outputs", "child_runs", "events", "serialized", *_USAGE),
        usage=_usage(run, replies),
        source="langsmith",
        model=_model(run, metadata, outputs),
    )


def _is_text_elsewhere(value: Json, replies: list[Message]) -> bool:
    """Whether a text is in none of the messages."""
    return isinstance(value, str) and value.strip() != "" and not any(value.strip() in each.text for each in replies)


def _usage(run: Record, replies: list[Message]) -> dict[str, object]:
    """The usage of the run, or else of its reply; a cost may be written as text."""
    usage = {key: run[key] for key in _USAGE if run.get(key) is not None}
    cost = usage.get("total_cost")
    if isinstance(cost, str):
        usage["total_cost"] = parsed(cost)
    return usage or next((each.usage for each in replies if each.usage), {})


def _model(run: Record, metadata: Record, outputs: Record) -> str:
    parameters = _object(_object(run.get("extra")).get("invocation_params"))
    records = (metadata, parameters, _object(outputs.get("llm_output")), outputs)
    return next((model for record in records if (model := word(first_of(record, _MODELS)))), "")


def run_messages(values: Record, names: Sequence[str], role: str, where: str) -> list[Message]:
    """The messages in the inputs or the outputs of a run. Raises ShapeError."""
    for key in ("messages", "prompts", "generations", "choices"):
        if is_list(values.get(key)):
            return _listed(values[key], role, f"{where}.{key}")
    for key in ("message", *names):
        value = values.get(key)
        if is_list(value) and all(is_record(each) for each in value) and value:
            return _listed(value, role, f"{where}.{key}")
        if is_record(value) and _is_message(value):
            return _message(value, role, f"{where}.{key}")
    if _is_message(values):
        return _message(values, role, where)
    text = first_of(values, names)
    texts = [each for each in values.values() if isinstance(each, str)]
    text = text if isinstance(text, str) else texts[0] if len(texts) == 1 else None
    return [] if text is None else [Message("assistant" if role == "assistant" else "user", (Part(text=text),))]


def _is_message(value: Record) -> bool:
    return any(key in value for key in ("lc", "role")) or ("type" in value and ("content" in value or "data" in value))


def _listed(values: list[Json], role: str, where: str) -> list[Message]:
    """The messages in a list, or in the only list of a batch."""
    if len(values) == 1 and is_list(values[0]) and not _is_pair(values[0]):
        values, where = values[0], f"{where}[0]"
    return [each for index, value in enumerate(values) for each in _message(value, role, f"{where}[{index}]")]


def _is_pair(value: list[object]) -> bool:
    """Whether it is a message as a pair of role and text."""
    return len(value) == 2 and isinstance(value[0], str) and value[0].lower() in ROLE_WORDS


def _message(value: object, role: str, where: str) -> list[Message]:
    if isinstance(value, str):
        return messages({"role": role, "content": value}, where)
    if is_list(value) and _is_pair(value):
        return messages({"role": value[0], "content": value[1]}, where)
    record = record_at(value, where)
    inner = record.get("message")
    if is_record(inner):
        return _message(inner, role, f"{where}.message")
    if "lc" in record:
        fields = record_at(record.get("kwargs"), f"{where}.kwargs")
        return messages(_plain(fields, _role(fields, record.get("id"))), where)
    if is_record(record.get("data")):
        return messages(_plain(record["data"], record.get("type")), where)
    if "role" not in record and "type" in record:
        is_role = word(record["type"]).removesuffix("MessageChunk").lower() in ROLE_WORDS
        return messages(_plain(record, record["type"]), where) if is_role else item_messages(record, where)
    if "role" not in record and isinstance(record.get("text"), str):
        return messages({"role": role, "content": record["text"]}, where)
    return messages({"role": role, **record}, where)


def _role(fields: Record, name: object) -> object:
    """The role of a LangChain message, from its fields or from the name of its class."""
    role = first_of(fields, ("role", "type"))
    last = name[-1] if is_list(name) and name else None
    of_class = last.removesuffix("Chunk").removesuffix("Message").lower() if isinstance(last, str) else None
    return role or of_class


def _plain(fields: Record, role: object) -> JsonObject:
    """A LangChain message with the common key names."""
    more = _object(fields.get("additional_kwargs"))
    calls = [
        call
        for key in ("tool_calls", "invalid_tool_calls")
        for call in (fields[key] if is_list(fields.get(key)) else [])
    ]
    calls = calls or more.get("tool_calls") or []
    content = fields.get("content")
    if calls and is_list(content):  # Anthropic's calls are also in the content
        content = [part for part in content if not (is_record(part) and part.get("type") in _CALLS)]
    role = role.removesuffix("MessageChunk").lower() if isinstance(role, str) else role
    known = ("content", "type", "role", "tool_calls", "invalid_tool_calls", "additional_kwargs", "usage_metadata")
    plain = {
        **rest(fields, *known),
        "reasoning": more.get("reasoning_content"),
        "refusal": more.get("refusal"),
        "additional_kwargs": rest(more, "tool_calls", "reasoning_content", "refusal") or None,
        "response_metadata": fields.get("response_metadata") or None,
    }
    return {**plain, "role": role, "content": content, "tool_calls": calls, "usage": fields.get("usage_metadata")}


FORMAT: Final = Format(
    "langsmith",
    '{"run_type", "inputs", "outputs"}, one per line, or {"runs": [...]}',
    _recognises,
    _read,
    joins=True,
)
