"""Tables: rows of a CSV, Parquet or Arrow file as records.

A row is a record of any format (`messages`), one exchange (`user`, `assistant`), or one message of the conversation
that it names (`conversation`, `role`, `content`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part
from rulewright_runtime.transcripts.readers.columns import OF_MESSAGES, TASK, Columns
from rulewright_runtime.transcripts.readers.message_rows import (
    differing,
    internal_of,
    refuse_confusion,
    refuse_disorder,
    refuse_unnamed,
)
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    list_at,
    name_of,
    parsed,
    shown,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, calls_in, messages, one_by_one, passages
from rulewright_runtime.transcripts.slack import is_event

SPOKEN: Final = ("system", "user", "passages", "assistant")
_OF_CONVERSATIONS: Final = ("conversation", "id", "expected", "model", "scenario_id")


def exchange(row: Record, fields: Mapping[str, str]) -> Conversation:
    """The conversation of a row with a question and its answer. Raises ShapeError."""
    if fields.get("user") == TASK[1] and row.get(TASK[0]) and TASK[0] not in fields.values():  # a task, its input
        task, given = (_text_at(row.get(name) or "", f"column `{name}`") for name in TASK)
        row = {**row, TASK[1]: f"{task}\n\n{given}".strip()}
    fields = _without_count(row, fields)
    calls = calls_in(row.get(fields.get("tool_calls", "")))
    if calls:
        list_at(calls, f"column `{fields['tool_calls']}`")
    if calls and row.get(fields["assistant"]) is None:
        row = {**row, fields["assistant"]: ""}
    found = [
        message
        for role in SPOKEN
        if role in fields and row.get(fields[role]) is not None and (role != "system" or row[fields[role]])
        for message in _column_messages(
            role, row[fields[role]], f"column `{fields[role]}`", calls if role == "assistant" else None
        )
    ]
    if not found:
        raise ShapeError("the row has no message")
    name = word(row.get(fields.get("id", fields.get("conversation", ""))))
    return _conversation(row, fields, (*SPOKEN, "tool_calls"), found, name)


def _without_count(row: Record, fields: Mapping[str, str]) -> Mapping[str, str]:
    """The fields of a row: a number under `tool_calls` only counts them."""
    is_count = type(parsed(word(row.get(fields.get("tool_calls", ""))))) in (int, float)
    return {field: name for field, name in fields.items() if field != "tool_calls"} if is_count else fields


def _column_messages(role: str, value: object, where: str, calls: object) -> list[Message]:
    if role == "passages":
        return [*passages(value)]
    return messages({"role": role, "content": _text_at(value, where), "tool_calls": calls}, where)


def _text_at(value: object, where: str) -> str:
    """A text, or a number as text. Raises ShapeError for other values."""
    text = word(value)
    if not text and value != "":
        raise ShapeError(f"{where} is {shown(value)}; expected text")
    return text


def joined(rows: Sequence[Record], fields: Mapping[str, str], columns: Columns) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations of rows with a message each, in the order of their first rows. Other columns are metadata
    of their messages, and of the conversation if its rows agree, except that the expected answer is that of the last
    row that has one; `columns` name speakers."""
    by_name: dict[str, dict[int, Record]] = {}
    column = _naming(rows, fields)
    if columns.is_one_conversation:
        columns.used.add("conversation")
        column = None
    bot = columns.bot_in(row.get(fields["role"]) for row in rows)
    for number, row in enumerate(rows):
        by_name.setdefault(name_of(column and row.get(column)), {})[number] = row
    for name, numbered in by_name.items():
        yield _of_rows(by_name, name, numbered, fields, columns, bot)


def _naming(rows: Sequence[Record], fields: Mapping[str, str]) -> str | None:
    """The column that names a row's conversation: an `id` only if it is not that of each message of a dialogue."""
    if "conversation" in fields or "id" not in fields:
        return fields.get("conversation", "")
    names, speakers = ({name_of(row.get(fields[field])) for row in rows} for field in ("id", "role"))
    return fields["id"] if len(names) < len(rows) or len(speakers) == 1 else ""


def _of_rows(
    names: Iterable[str],
    name: str,
    numbered: Mapping[int, Record],
    fields: Mapping[str, str],
    columns: Columns,
    bot: str,
) -> Conversation | ShapeError:
    """The conversation of these rows, or why it is refused. `bot` is the assistant in some rows of the file."""
    first, rows = next(iter(numbered)), [*numbered.values()]
    found: list[list[Message]] = []
    notes = internal_of(rows)
    for at, (number, row) in enumerate(numbered.items()):
        try:
            found.append(_message(row, fields, columns, is_note=at in notes))
        except ShapeError as error:
            return error.at(number)
    try:
        refuse_unnamed(names, name)
        columns.refuse_agent((row.get(fields["role"]) for row in rows), bot)
        refuse_disorder((row.get(fields.get("timestamp", "")) for row in rows), rows)
        certain = bool(name) or columns.is_one_conversation
        refuse_confusion(rows, [each[-1].role for each in found], fields.values(), certain=certain)
    except ShapeError as error:
        return error.at(first)
    of_messages = differing(rows) - {fields.get("model"), fields.get("scenario_id")}
    merged: JsonObject = {}
    for row in rows:
        merged |= {key: value for key, value in row.items() if key not in of_messages and merged.get(key) in (None, "")}
        if (expected := row.get(fields.get("expected", ""))) not in (None, ""):
            merged[fields["expected"]] = expected  # that of the last answer
    spoken = (*OF_MESSAGES, "passages")
    return replace(_conversation(merged, fields, spoken, [*chain.from_iterable(found)], name), record=first)


def _message(row: Record, fields: Mapping[str, str], columns: Columns, *, is_note: bool) -> list[Message]:
    fields = _without_count(row, fields)
    about = _about(row, fields)
    if is_event(row):
        return [Message("system", (Part(text=word(row.get(fields["content"]))),), word(row["subtype"]), metadata=about)]
    record = {key: row.get(fields[key]) for key in OF_MESSAGES if key in fields}
    role = "system" if is_note else columns.role_of(record["role"], f"row.{fields['role']}")
    retrieved = passages(row.get(fields.get("passages", "")))
    content = columns.text_of(record.get("content"), f"row.{fields['content']}")
    *before, message = messages({**record, "content": content, "role": role}, "row")
    return [*retrieved, *before, replace(message, metadata=message.metadata | about)]


def _about(row: Record, fields: Mapping[str, str]) -> JsonObject:
    """The columns of a row that are metadata of its message, with the model under its usual name."""
    read = {fields[field] for field in (*OF_MESSAGES, "passages", "conversation") if field in fields}
    about = {key: value for key, value in row.items() if key not in read and value not in (None, "")}
    model = word(row.get(fields.get("model", "")))
    return {**about, "model": model} if model else about


def _conversation(
    row: Record, fields: Mapping[str, str], spoken: Sequence[str], found: list[Message], name: str
) -> Conversation:
    """The conversation of these messages, which were read from the fields `spoken`; other columns are its metadata."""
    read = {fields[field] for field in (*spoken, *_OF_CONVERSATIONS) if field in fields}
    return Conversation(
        name,
        tuple(found),
        word(row.get(fields.get("scenario_id", ""))) or None,
        row.get(fields.get("expected", "")) or None,
        {key: value for key, value in row.items() if key not in read and value not in (None, "")},
        source="table",
        model=word(row.get(fields.get("model", ""))),
    )


def format_for(fields: Mapping[str, str], columns: Columns) -> Format:
    """The format of rows with these fields, and with the speakers that `columns` name."""
    if {"role", "content"} <= fields.keys():
        return Format("table", lambda _: True, lambda rows: joined(rows, fields, columns), joins=True, local_ids=True)
    return Format(
        "table", lambda _: True, one_by_one(lambda row: exchange(columns.with_shown(row), fields)), local_ids=True
    )
