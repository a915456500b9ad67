"""ShareGPT: `conversations` of items with the speaker in `from` and the text in `value`, read as OpenAI's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.openai import LISTS, NAMES, conversations
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    parsed,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, role_at


def _listed(record: Record) -> str | None:
    return next((key for key in LISTS if is_list(record.get(key)) and _has_speakers(record[key])), None)


def _has_speakers(values: list[Any]) -> bool:
    return bool(values) and is_record(values[0]) and "from" in values[0] and "value" in values[0]


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        key = _listed(record) or "conversations"
        try:
            said = [_message(item, f"{key}[{index}]") for index, item in enumerate(record[key])]
            for found in conversations({**record, "id": word(first_of(record, NAMES)) or None, key: said}):
                yield replace(found, source="sharegpt", metadata=rest(found.metadata, "system"))
        except ShapeError as wrong:
            yield wrong


def _message(value: object, where: str) -> JsonObject:
    """An item as a message of OpenAI."""
    item = record_at(value, where)
    if "value" not in item:
        raise ShapeError(f"{where} has no `value`")
    speaker, value = item.get("from"), item.get("value")
    for key in ("content", "text"):
        if item.get(key) not in (None, value):
            raise ShapeError(f"{where} has a `value` and another `{key}`")
    more = rest(item, "from", "value", "text")
    if speaker == "function_call":
        call = parsed(value) if isinstance(value, str) else value
        return {**more, "role": "assistant", "content": None, "tool_calls": call if is_list(call) else [call]}
    role = "tool" if speaker == "function_response" else role_at(speaker, where, "from")
    if item.get("role") is not None and role_at(item["role"], where) != role:
        raise ShapeError(f"{where} has a `from` and another `role`")
    return {**more, "role": role, "content": value if is_list(value) else text_at(value, f"{where}.value")}


FORMAT: Final = Format("sharegpt", lambda record: _listed(record) is not None, _read)
