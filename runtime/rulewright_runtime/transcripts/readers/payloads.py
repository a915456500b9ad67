"""Payloads: the messages in the input or the output of a call, as tracing tools record it.

They are in the shape of LangChain, OpenAI or Anthropic, under one of several keys, or one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Message, Part, Role, SaidTexts
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
    record_at,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import ROLE_WORDS, chat, ended, item_messages, messages

INPUT_KEYS: Final = ("input", "question", "query", "prompt", "text", "user_input")
ANSWER_KEYS: Final = ("output", "answer", "response")
OUTPUT_KEYS: Final = (*ANSWER_KEYS, "result", "text", "content")
_LISTS: Final = ("messages", "prompts", "generations", "choices")
_HISTORIES: Final = ("chat_history", "history")
_SAYING: Final = (*ANSWER_KEYS, "input", "question", "query", "user_input")  # what was said, and nothing else
_CALLS: Final = ("tool_use", "tool_call", "function_call")


def object_of(value: object) -> Record:
    """An object, also from JSON text, which a bulk export has in its columns; empty for any other value."""
    value = parsed(value) if isinstance(value, str) else value
    return object_in(value)


def run_messages(values: Record, names: Sequence[str], role: str, where: str) -> list[Message]:
    """The messages in the inputs or the outputs of a run, after the history that was handed in. Raises ShapeError, also
    where a text next to the messages is not among them."""
    key, found = _first(values, names, role, where)
    spoken = SaidTexts(each.text for each in found)
    for name in names if key in _LISTS else (*names, *ANSWER_KEYS):
        texts = _texts_of(values.get(name), role, where) if name in _SAYING and name != key else []
        if not all(map(spoken.repeat, texts)):
            raise ShapeError(f"{where}: `{name}` is not among the messages that were read from `{key}`")
    history = [
        each
        for name in _HISTORIES
        if role == "user" and values.get(name)
        for each in _listed(list_at(values[name], f"{where}.{name}"), role, f"{where}.{name}")
    ]
    if history and not found and any(values.get(name) for name in names):
        raise ShapeError(f"{where}: the question after the history is not a message")
    is_repeated = all(spoken.repeat(each.text) for each in history)
    return found if is_repeated else [*history, *found]


def _texts_of(value: Json, role: str, where: str) -> list[str]:
    """The texts in another value of a run; a value that holds no message says nothing."""
    if isinstance(value, str):
        return [value]
    found = _first({"": value}, ("",), role, where)[1] if is_list(value) or is_record(value) else []
    return [each.text for each in found]


def _first(values: Record, names: Sequence[str], role: str, where: str) -> tuple[str, list[Message]]:
    """The first key that holds messages or a text, and the messages."""
    for key in _LISTS:
        if is_list(values.get(key)) and values[key]:
            return key, _listed(values[key], role, f"{where}.{key}")
    for key in ("message", *names):
        value = values.get(key)
        if is_list(value) and all(is_record(each) for each in value) and value:
            return key, _listed(value, role, f"{where}.{key}")
        if is_record(value) and (_is_message(value) or is_text(value.get("content")) or is_text(value.get("text"))):
            return key, _message(value, role, f"{where}.{key}")
        if is_record(value) and _holds_messages(value):
            return key, _first(value, (), role, f"{where}.{key}")[1]
    if _is_message(values):
        return "content", _message(values, role, where)
    texts = [key for key, each in values.items() if isinstance(each, str)]
    named = next((name for name in names if values.get(name) is not None), None)
    key = named if named is not None and named in texts else texts[0] if len(texts) == 1 else ""
    spoken: Role = "assistant" if role == "assistant" else "user"
    return key, [Message(spoken, (Part(text=values[key]),))] if key in texts else []


def _holds_messages(value: Record) -> bool:
    return is_record(value.get("message")) or any(is_list(value.get(key)) and value[key] for key in _LISTS)


def _is_message(value: Record) -> bool:
    return any(key in value for key in ("lc", "role")) or ("type" in value and ("content" in value or "data" in value))


def talk(values: list[Json], where: str) -> tuple[Message, ...]:
    """The messages in a list, as OpenAI or as LangChain writes them. Raises ShapeError."""
    without_role = [each for each in values if not (is_record(each) and "role" in each)]
    if without_role and are_of_langchain(without_role):
        return tuple(_listed(values, "user", where))
    return chat(values, where)


def are_of_langchain(values: Sequence[object]) -> bool:
    return all(is_record(each) and is_of_langchain(each) for each in values)


def is_of_langchain(value: Record) -> bool:
    """Whether it is a message as LangChain writes it: its role under `type`."""
    is_role = word(value.get("type")).removesuffix("MessageChunk").lower() in ROLE_WORDS
    return "lc" in value or (is_role and ("content" in value or is_record(value.get("data"))))


def _listed(values: list[Json], role: str, where: str) -> list[Message]:
    """The messages in a list, or in the only list of a batch."""
    if len(values) == 1 and is_list(values[0]) and not _is_pair(values[0]):
        values, where = values[0], f"{where}[0]"
    return [each for index, value in enumerate(values) for each in _message(value, role, f"{where}[{index}]")]


def _is_pair(value: list[object]) -> bool:
    """Whether it is a message as a pair of role and text."""
    return len(value) == 2 and isinstance(value[0], str) and value[0].lower() in ROLE_WORDS


def _message(value: object, role: str, where: str) -> list[Message]:
    found = _unended(value, role, where)
    return ended(found, value) if is_record(value) else found


def _unended(value: object, role: str, where: str) -> list[Message]:
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
    more = object_of(fields.get("additional_kwargs"))
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
        "tool_calls": calls or None,
        "reasoning": more.get("reasoning_content"),
        "refusal": more.get("refusal"),
        "additional_kwargs": rest(more, "tool_calls", "reasoning_content", "refusal") or None,
        "response_metadata": fields.get("response_metadata") or None,
        "usage": fields.get("usage_metadata"),
    }
    contents = {"content": content} if "content" in fields or calls else {}
    return {**rest(plain), **contents, "role": role}
