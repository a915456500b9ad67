"""Records of any shape, with the names of their fields given: where the messages are, who says what in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from rulewright_runtime.english import ticked
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.openai import answer_beside
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_record,
    list_at,
    optional,
    parsed,
    record_at,
    rest,
    shown,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import ROLE_WORDS, Format, chat, record_by_record
from rulewright_runtime.transcripts.readers.table_rows import FIELDS

_OF_MESSAGES: Final = ("role", "content", "name", "timestamp")
_SPEAKERS: Final = ("system", "user", "assistant")  # fields that name roles


def mapped_format(mapping: Mapping[str, str]) -> Format:
    """The format of records whose messages stand under the name or path that `mapping` has for `messages`."""
    return Format("mapped", lambda _: True, record_by_record(partial(_conversations, mapping)))


def _conversations(mapping: Mapping[str, str], record: Record) -> Iterator[Conversation]:
    path = mapping["messages"]
    values = _at(record, path)
    if values is None:
        keys = ticked(key[:40] for key in [*record][:20])
        raise ShapeError(f"there is no `{path}` for `messages`; the keys are {keys}")
    values = list_at((parsed(values) or values) if isinstance(values, str) else values, path)
    asked = chat([_message(mapping, each, f"{path}[{index}]") for index, each in enumerate(values)], path)
    about = rest(record, path if path in record else path.partition(".")[0])
    name, conversation, model, scenario, expected = (
        _at(record, mapping.get(field, field)) for field in ("id", "conversation", "model", "scenario_id", "expected")
    )
    yield Conversation(
        word(name) or word(conversation),
        (*asked, *answer_beside(about, asked, path)),
        optional(scenario),
        expected,
        about,
        source="mapped",
        model=word(model),
    )


def _message(mapping: Mapping[str, str], value: Json, where: str) -> JsonObject:
    """An item as a message of OpenAI. Raises ShapeError for a speaker without a role."""
    item = record_at(value, where)
    paths = {
        field: mapping.get(field) or next(filter(item.__contains__, FIELDS[field]), field) for field in _OF_MESSAGES
    }
    found = {field: each for field, path in paths.items() if (each := _at(item, path)) is not None}
    speaker = word(found.get("role"))
    named = (role for role in _SPEAKERS if speaker in mapping.get(role, "").split("|"))
    role = next(named, speaker) if speaker else ""
    if role.lower() not in ROLE_WORDS:
        raise ShapeError(
            f"{where}.{paths['role']} is {shown(speaker)}; expected a role, or a speaker that "
            f"`--columns user={speaker or 'NAME'}` or `assistant={speaker or 'NAME'}` names"
        )
    return {**rest(item, *paths.values()), **found, "role": role}


def _at(record: Record, path: str) -> Json:
    """The value under a key, or under keys that a path joins by dots; None if there is none."""
    if path in record:
        return record[path]
    first, dot, more = path.partition(".")
    inner = record.get(first)
    return _at(inner, more) if dot and is_record(inner) else None
