"""ShareGPT: `conversations` of items with the speaker in `from` and the text in `value`."""

from __future__ import annotations

from typing import Any, Final

from rulewright_runtime.transcripts.messages import Conversation, Message, Part
from rulewright_runtime.transcripts.readers.content import tool_call
from rulewright_runtime.transcripts.readers.openai import LISTS, NAMES, answer_beside, listed
from rulewright_runtime.transcripts.readers.payloads import talk
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    optional,
    parsed,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import EXPECTED, Format, messages, one_by_one, role_at, said


def _listed(record: Record) -> str | None:
    return next((key for key in LISTS if is_list(record.get(key)) and _has_speakers(record[key])), None)


def _has_speakers(values: list[Any]) -> bool:
    return bool(values) and is_record(values[0]) and "from" in values[0] and "value" in values[0]


def _conversation(record: Record) -> Conversation:
    key = _listed(record) or "conversations"
    found = [each for index, item in enumerate(record[key]) for each in _messages(item, f"{key}[{index}]")]
    other = listed(record)
    if other is not None and said(talk(record[other], other)) != said(found):
        raise ShapeError(f"`{key}` and `{other}` hold different messages")
    found += answer_beside(record, found, key) if found else []
    system = record.get("system")
    if isinstance(system, str) and system:
        found.insert(0, Message("system", (Part(text=system),)))
    expected = first_of(record, EXPECTED)
    return Conversation(
        word(first_of(record, NAMES)),
        tuple(found),
        optional(record.get("scenario_id")),
        expected,
        rest(record, key, "system", "id", "model", "scenario_id"),
        source="sharegpt",
        model=word(record.get("model")),
    )


def _messages(value: object, where: str) -> list[Message]:
    item = record_at(value, where)
    if "value" not in item:
        raise ShapeError(f"{where} has no `value`")
    speaker, value = item.get("from"), item.get("value")
    for key in ("content", "text"):
        if item.get(key) not in (None, value):
            raise ShapeError(f"{where} has a `value` and another `{key}`")
    if speaker == "function_call":
        call = parsed(value) if isinstance(value, str) else value
        calls = call if is_list(call) else [call]
        tool_calls = tuple(tool_call(each, f"{where}.value") for each in calls)
        return [Message("assistant", tool_calls=tool_calls, metadata=rest(item, "from", "value"))]
    role = "tool" if speaker == "function_response" else role_at(speaker, where, "from")
    if is_list(value):
        return messages({**item, "role": role, "content": value}, where)
    text = text_at(value, f"{where}.value")
    return [Message(role, (Part(text=text),), metadata=rest(item, "from", "value"))]


FORMAT: Final = Format("sharegpt", lambda record: _listed(record) is not None, one_by_one(_conversation))
