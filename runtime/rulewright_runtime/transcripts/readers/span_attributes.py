"""The attributes of a span, as plain values under dotted names, and the results of tools and retrievers in spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall
from rulewright_runtime.transcripts.readers.content import as_json
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    object_in,
    parsed,
    records_at,
    shown,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import document_in, passages

TEXTS: Final = ("gen_ai.prompt", "gen_ai.completion")  # may be plain texts; the others are messages
_INDEX: Final = re.compile(r"[0-9]{1,6}")
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")  # of 64 bits, which JSON holds as text
_NESTED: Final = frozenset((  # the parts of dotted names
    "gen_ai", "llm", "input", "output", "request", "response", "usage", "conversation", "operation", "tool", "call",
    "openinference", "span",
))  # fmt: skip


def nested(value: Json) -> Json:
    """A value whose objects may have dotted keys, such as `message.role`, with nested objects in their place."""
    if is_list(value):
        return [nested(each) for each in value]
    if not is_record(value):
        return value
    tree: dict[str, object] = {}
    for key, each in value.items():
        if each is not None:
            put(tree, key.split("."), nested(each))
    return tree


def attributes_of(value: object) -> dict[str, object]:
    """The attributes under their dotted names, from a list of keys and values or from nested objects."""
    if is_list(value):
        pairs = [(each.get("key"), plain_value(each.get("value"))) for each in records_at(value, "attributes")]
        return _once((key, one) for key, one in pairs if isinstance(key, str))
    return _once(_dotted("", value)) if is_record(value) else {}


def _once(pairs: Iterable[tuple[str, Json]]) -> dict[str, object]:
    """The pairs by their keys. Raises ShapeError for a key that occurs twice: one value would hide the other."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ShapeError(f"the attribute `{key[:60]}` occurs twice")
        found[key] = value
    return found


def _dotted(prefix: str, value: Record) -> Iterator[tuple[str, Json]]:
    for key, one in value.items():
        if is_record(one) and key in _NESTED:
            yield from _dotted(f"{prefix}{key}.", one)
        else:
            yield f"{prefix}{key}", one


def plain_value(value: object) -> Json:
    """The plain value of a typed OTLP value. Raises ShapeError."""
    if not is_record(value):
        return value
    if sum(each is not None for each in value.values()) > 1:
        raise ShapeError(f"an attribute has several values: {shown(value)}")
    if is_record(value.get("arrayValue")):
        return [plain_value(each) for each in list_at(value["arrayValue"].get("values") or [], "values")]
    if is_record(value.get("kvlistValue")):
        pairs = records_at(value["kvlistValue"].get("values"), "values")
        return _once((word(each.get("key")), plain_value(each.get("value"))) for each in pairs)
    kind, plain = next(
        (pair for pair in value.items() if pair[0].endswith("Value") and pair[1] is not None), ("", None)
    )
    return int(plain) if kind == "intValue" and isinstance(plain, str) and _INTEGER.fullmatch(plain) else plain


def from_numbered_keys(attributes: Record, prefix: str) -> list[object]:
    """The list that is flattened to keys such as `llm.input_messages.0.message.role`."""
    tree: dict[str, object] = {}
    for key, value in attributes.items():
        path = key.removeprefix(prefix).split(".")
        describes = prefix[:-1] in TEXTS and not _INDEX.fullmatch(path[0])  # such as `gen_ai.prompt.name`
        if key.startswith(prefix) and not describes:
            put(tree, path, value)
    return list_at(_ordered(tree) if tree else [], prefix.removesuffix("."))


def put(tree: dict[str, object], path: list[str], value: object) -> None:
    """Set the value at a path of nested records. Raises ShapeError."""
    if len(path) > 32:
        raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` is nested too deeply")
    for name in path[:-1]:
        inner = tree.setdefault(name, {})
        if not is_record(inner):
            raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` has a value and parts")
        tree = inner
    if path[-1] in tree:
        raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` has a value and parts")
    tree[path[-1]] = value


def _ordered(tree: object) -> object:
    """The tree with a list in place of every object whose keys are all numbers."""
    if not is_record(tree):
        return tree
    if tree and all(_INDEX.fullmatch(key) for key in tree):
        if len(tree) != 1 + max(map(int, tree)):
            raise ShapeError(f"of a list with {1 + max(map(int, tree))} attributes {len(tree)} are there")
        return [_ordered(tree[key]) for key in sorted(tree, key=int)]
    return {key: _ordered(value) for key, value in tree.items()}


_MARKS: Final = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("traceloop.span.kind", "tool"),
)
_SDK_NAME: Final = "ai.toolCall.name"
_NAMES: Final = ("gen_ai.tool.name", "tool.name", _SDK_NAME, "traceloop.entity.name")
_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
_RESULTS: Final = ("gen_ai.tool.call.result", "output.value", "ai.toolCall.result", "traceloop.entity.output")


class ToolExecution(msgspec.Struct, frozen=True):
    """One execution of a tool: where it is recorded, its name, the id of its call (which may be empty), and its result,
    None if none was recorded."""

    where: str
    name: str
    call_id: str
    result: str | None


def execution_in(span: Record, attributes: Record, where: str) -> ToolExecution | None:
    """The execution that a span records; None for a span of another kind."""
    if _SDK_NAME not in attributes and all(attributes.get(key) != mark for key, mark in _MARKS):
        return None
    result = first_of(attributes, _RESULTS)
    result = object_in(span.get("status")).get("message") if result is None else result
    text = result if isinstance(result, str) or result is None else as_json(result)
    return ToolExecution(where, word(first_of(attributes, _NAMES)), word(first_of(attributes, _IDS)), text or None)


def with_results(
    conversations: Sequence[Conversation], executions: Iterable[ToolExecution]
) -> tuple[list[Conversation], list[ToolExecution]]:
    """The conversations with the results that their messages lack, and the executions that no message calls.

    An execution belongs to the call with its id; one without an id, or next to calls without any, to the first call of
    its name to which no other belongs.
    """
    calls = {key: call for each in conversations for _, call, key in _calls(each)}  # a repeated call once
    # By the name, and whether they have an id: those to which no execution belongs, in order.
    free: dict[tuple[str, bool], dict[str, int]] = {}
    for at, (own, call) in enumerate(calls.items()):
        free.setdefault((call.name, bool(call.id)), {})[own] = at
    results: dict[str, ToolExecution] = {}
    uncalled: list[ToolExecution] = []
    for execution in sorted(executions, key=lambda each: each.call_id not in calls):
        key = execution.call_id if execution.call_id in calls else _free(execution, free)
        if key is None:
            uncalled.append(execution)
        else:
            results.setdefault(key, execution)
            free[calls[key].name, bool(calls[key].id)].pop(key, None)
    return [_completed(each, results) for each in conversations], uncalled


def _free(execution: ToolExecution, free: Mapping[tuple[str, bool], Mapping[str, int]]) -> str | None:
    kinds = (False,) if execution.call_id else (False, True)
    firsts = [next(iter(calls.items())) for kind in kinds if (calls := free.get((execution.name, kind)))]
    return min(firsts, key=lambda first: first[1])[0] if firsts else None


def _calls(conversation: Conversation) -> Iterator[tuple[int, ToolCall, str]]:
    """Yield each call with the position of its message and its key: the id, or else what is called, and how often."""
    seen: Counter[str] = Counter()
    for at, message in enumerate(conversation.messages):
        for call in message.tool_calls:
            call_text = f"{call.name} {as_json(call.arguments)}"
            seen[call_text] += 1
            yield at, call, call.id or f"{seen[call_text]} {call_text}"


def _completed(conversation: Conversation, results: Mapping[str, ToolExecution]) -> Conversation:
    """The conversation with a message after each call whose result only a span holds."""
    messages = conversation.messages
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    found = list(messages)
    for at, call, key in reversed([*_calls(conversation)]):
        end = next((i for i in range(at + 1, len(messages)) if messages[i].role != "tool"), len(messages))
        unnamed = (each for each in messages[at + 1 : end] if not each.tool_call_id)
        has_result = call.id in answered or any(each.name in (None, call.name) for each in unnamed)
        text = results[key].result if key in results else None
        if text is not None and not has_result:
            found.insert(end, Message("tool", (Part(text=text),), call.name, tool_call_id=call.id or None))
    return msgspec.structs.replace(conversation, messages=tuple(found))


_DOCUMENTS: Final = "retrieval.documents"
_PAGES: Final = ("page_content", "pageContent")
_DOCUMENT_TEXTS: Final = ("text", "content", "passage", "chunk", "body")
_DOCUMENT_MARKS: Final = frozenset((
    *_PAGES, "score", "similarity", "distance", "relevance_score", "source", "metadata", "document_id", "doc_id", "url",
))  # fmt: skip
_EMPTY: Final = Part()
_COMPARED: Final = 100  # characters of a retrieved paragraph that are looked for in a prompt
_TELLING: Final = 20  # characters of one that is not a heading
_ASKING: Final = ("?", "？", "؟")  # ends of a question, which may be the user's own


SpanKey = tuple[str, str]  # of a span: the ids of its trace and its own


class TracedCall(msgspec.Struct, frozen=True):
    """A call of a model: its span, when it was (0 if unknown), and its messages."""

    key: SpanKey
    at: int
    conversation: Conversation


class Retrieval(msgspec.Struct, frozen=True):
    """Retrieved texts: the trace, when they were retrieved (0 if unknown), and the message that holds them."""

    trace: str
    at: int
    message: Message


def retrieved_in(attributes: Record) -> Message | None:
    """The texts that a span of OpenInference retrieved; None for a span of another kind, or without any text."""
    if attributes.get("openinference.span.kind") != "RETRIEVER":
        return None
    listed = attributes.get(_DOCUMENTS) or from_numbered_keys(attributes, f"{_DOCUMENTS}.")
    texts = [each for each in listed if is_list(listed) and (not is_record(each) or document_in(each).get("content"))]
    return retrieval_message(texts or attributes.get("output.value"))


def are_documents(value: object) -> bool:
    """Whether a value is a list of documents, also as the only list in an object or as JSON text: objects with a text
    and something about it, or as LangChain and LlamaIndex write them."""
    value = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") else value
    lists = [each for each in value.values() if is_list(each)] if is_record(value) else [value]
    documents = lists[0] if len(lists) == 1 else None
    return is_list(documents) and bool(documents) and all(map(_is_document, documents))


def _is_document(value: object) -> bool:
    if not is_record(value) or "role" in value:
        return False
    inner = document_in(value)
    has_text = is_text(first_of(inner, (*_PAGES, *_DOCUMENT_TEXTS)))
    return has_text and (inner is not value or not _DOCUMENT_MARKS.isdisjoint(value))


def retrieval_message(value: object) -> Message | None:
    """The result of a retriever as a message of a tool: its passages, or else all of it; None for an empty one."""
    try:
        return _passages_in(value)
    except ShapeError:
        return next(passages(as_json(value)), None)


def has_passages(value: object) -> bool:
    """Whether a value is a text, or a list of texts or of objects with one, also in an object or as JSON text."""
    try:
        return _passages_in(value) is not None
    except ShapeError:
        return False


def _passages_in(value: object) -> Message | None:
    """The passages of a value as a message of a tool; None for an empty one. Raises ShapeError for any other value."""
    decoded = parsed(value) if isinstance(value, str) else None
    value = value if decoded is None else decoded
    lists = [each for each in value.values() if is_list(each)] if is_record(value) else []
    inner = lists if len(lists) == 1 else []
    for each in (*(each for each in inner if any(map(is_record, each))), value, *inner) if value else ():
        with suppress(ShapeError):
            return next(passages(each), None)
    if value:
        raise ShapeError("the value has no passages")
    return None


def with_passages(
    conversations: Iterable[Conversation], calls: Iterable[TracedCall], retrievals: Sequence[Retrieval]
) -> Iterator[Conversation]:
    """Yield the conversations with the texts that were retrieved for their calls, unless the model was shown some of
    them: each is before the answer of the first call of its trace that followed it."""
    if not retrievals:
        yield from conversations
        return
    by_digest: dict[bytes, list[TracedCall]] = {}
    for call in calls:
        by_digest.setdefault(prefix_digests(call.conversation.messages)[-1], []).append(call)
    for each in conversations:
        begun = (call for digest in prefix_digests(each.messages) for call in by_digest.get(digest, ()))
        yield _with_passages(each, sorted(begun, key=lambda call: call.at), retrievals)


def _with_passages(
    conversation: Conversation, begun: Sequence[TracedCall], retrievals: Sequence[Retrieval]
) -> Conversation:
    places: dict[tuple[int, str], Message] = {}  # one for retrievers inside each other that found the same
    shown = " ".join(_plain(each.shown) for each in conversation.messages if each.role != "assistant")
    for each in retrievals:
        call = next((call for call in begun if call.key[0] == each.trace and _follows(call, each)), None)
        if call is not None and not _shows(shown, each.message):
            asked = call.conversation.messages
            places.setdefault((len(asked) - (asked[-1].role == "assistant"), each.message.text), each.message)
    found = list(conversation.messages)
    for before, (at, text) in enumerate(sorted(places, key=lambda place: place[0])):
        found.insert(at + before, places[at, text])
    return msgspec.structs.replace(conversation, messages=tuple(found)) if places else conversation


def _follows(call: TracedCall, retrieval: Retrieval) -> bool:
    return not retrieval.at or not call.at or max(call.at, retrieval.at) == call.at


def prefix_digests(messages: Sequence[Message]) -> list[bytes]:
    """A digest of what the first message says, of what the first two say, and so on."""
    digest, digests = b"", []
    for message in messages:
        content = msgspec.json.encode(content_of(message), order="deterministic")
        digest = blake2b(digest + content, digest_size=16).digest()
        digests.append(digest)
    return digests


def content_of(message: Message) -> tuple[object, ...]:
    """What a message says, which a later call repeats; its time or the reason of its end it may not, and an empty text
    or the spaces in a call's arguments not in the same way."""
    parts = [part for part in message.parts if part != _EMPTY]
    calls = [(call.id, call.name, call.arguments, call.arguments is None and call.raw) for call in message.tool_calls]
    return message.role, parts, calls, message.refusal, message.metadata.get("error")


def _shows(asked: str, retrieved: Message) -> bool:
    """Whether what the assistant was asked has one of the retrieved texts; of short ones whole words."""
    paragraphs = [*filter(None, map(_plain, retrieved.text.split("\n\n")))]
    telling = [each for each in paragraphs if not each.endswith(_ASKING)]
    if long := [each for each in telling if len(each) >= _TELLING]:
        return any(each[:_COMPARED] in asked for each in long)
    return any(f" {each} " in f" {asked} " for each in telling)


def _plain(text: str) -> str:
    return " ".join(text.split())
