"""Tables: rows of a CSV, Parquet or Arrow file as records, and the mapping of their columns to fields.

A row is a record of any format (`messages`), one exchange (`user`, `assistant`), or one message of the conversation
that it names (`conversation`, `role`, `content`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rulewright_runtime.english import either
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.transcripts.messages import Conversation, Message
from rulewright_runtime.transcripts.readers.openai import CONVERSATION_KEYS
from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError, is_text, shown, word
from rulewright_runtime.transcripts.readers.shapes import Format, attempt, messages, passages, refuse_disorder

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "messages": (),  # of a record that is no row: see `mapped_records`
    "conversation": CONVERSATION_KEYS,
    "id": ("id", "example_id", "custom_id"),
    "role": ("role", "speaker", "sender", "author"),
    "content": ("content", "message", "text", "utterance"),
    "system": ("system", "system_prompt", "instructions"),
    "user": ("user", "question", "prompt", "input", "query", "human", "instruction", "user_input"),
    "passages": ("contexts", "retrieved_contexts", "retrieval_context", "context"),
    "assistant": ("assistant", "answer", "response", "output", "completion", "reply", "bot"),
    "expected": ("expected", "expected_output", "ideal", "ground_truth", "reference", "target"),
    "model": ("model", "model_name"),
    "scenario_id": ("scenario_id",),
    "name": ("name",),
    "timestamp": ("timestamp", "created_at", "createdat", "time", "date"),
}
_TASK: Final = ("instruction", "input")  # of a data set of instructions
SPOKEN: Final = ("system", "user", "passages", "assistant")


class Columns:
    """The mapping of fields to the columns of a table: given explicitly, or else by the usual names."""

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        """`mapping` maps fields (`user`, `content`) to column names. Raises RuntimeFailure for an unknown field."""
        for field in mapping or ():
            if field not in FIELDS:
                raise RuntimeFailure(f"unknown field `{field}` in a column mapping; expected {_one_of(FIELDS)}")
        self.mapping = dict(mapping or {})

    def of(self, names: Sequence[str]) -> dict[str, str]:
        """Map fields to the columns of these names. Raises ShapeError if they hold no conversation."""
        for field, name in self.mapping.items():
            if name not in names:
                raise ShapeError(f"there is no column `{name}` for `{field}`; the columns are {_one_of(names, 'and')}")
        taken = set(self.mapping.values())
        fields = dict(self.mapping)
        for field, usual in FIELDS.items():
            left = [name for name in names if name not in taken]
            matches = [name for each in usual for name in left if name.strip().lower() == each]
            match = next(iter(matches), None)
            if field not in fields and match is not None:
                if field == "assistant" and len(matches) > 1:
                    raise ShapeError(
                        f"the columns {_one_of(matches, 'and')} may all hold the answer; say which one with"
                        f" `--columns assistant={match}`"
                    )
                fields[field] = match
                taken.add(match)
        is_exchange = "assistant" in fields and ("user" in fields or "assistant" in self.mapping)
        if not (is_exchange or {"role", "content"} <= fields.keys()):
            raise ShapeError(
                f"unknown shape: a table with the columns {_one_of(names, 'and')}; expected `user` and `assistant`, or "
                "`role` and `content` (name yours with `--columns user=NAME,assistant=NAME`)"
            )
        return fields


def _one_of(names: Mapping[str, object] | Sequence[str], last: str = "or") -> str:
    shown = [f"`{name[:40]}`" for name in list(names)[:20]]
    return either(shown, last) if shown else "none"


def exchange(row: Record, fields: Mapping[str, str]) -> Conversation:
    """The conversation of a row with a question and its answer. Raises ShapeError."""
    task, given = (word(row.get(name)) for name in _TASK)
    if fields.get("user") == _TASK[1] and task and not {_TASK[0]} & set(fields.values()):  # a task with its input
        row = {**row, _TASK[1]: f"{task}\n\n{given}".strip()}
    found = [
        message
        for role in SPOKEN
        if role in fields and row.get(fields[role]) is not None and (role != "system" or row[fields[role]])
        for message in _column_messages(role, row[fields[role]], f"column `{fields[role]}`")
    ]
    if not found:
        raise ShapeError("the row has no message")
    return _conversation(row, fields, found, word(row.get(fields.get("id", fields.get("conversation", "")))))


def _column_messages(role: str, value: object, where: str) -> list[Message]:
    if role == "passages":
        return [*passages(value)]
    text = value if is_text(value) else word(value)
    if not text and value != "":
        raise ShapeError(f"{where} is {shown(value)}; expected text")
    return messages({"role": role, "content": text}, where)


def joined(rows: Sequence[Record], fields: Mapping[str, str]) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations of rows with a message each, in the order of their first rows. Other fields are taken
    from the first row of a conversation that has them."""
    by_name: dict[str, list[Message]] = {}
    times: dict[str, list[object]] = {}
    merged: dict[str, Record] = {}
    for number, row in enumerate(rows, 1):
        name = word(row.get(fields.get("conversation", fields.get("id", ""))))
        merged[name] = {**row, **{key: value for key, value in merged.get(name, {}).items() if value not in (None, "")}}
        try:
            times.setdefault(name, []).append(row.get(fields.get("timestamp", "")))
            by_name.setdefault(name, []).extend(_message(row, fields, f"row {number}"))
        except ShapeError as wrong:
            yield wrong
            return
    for name, found in by_name.items():
        try:
            refuse_disorder(times[name])
        except ShapeError as wrong:
            yield wrong
        else:
            yield _conversation(merged[name], fields, found, name)


def _message(row: Record, fields: Mapping[str, str], where: str) -> list[Message]:
    record = {key: row.get(fields[key]) for key in ("role", "content", "name", "timestamp") if key in fields}
    return messages({"content": None, **record}, where)


def _conversation(row: Record, fields: Mapping[str, str], found: list[Message], name: str) -> Conversation:
    read = set(fields.values())
    return Conversation(
        name,
        tuple(found),
        word(row.get(fields.get("scenario_id", ""))) or None,
        row.get(fields.get("expected", "")) or None,
        {key: value for key, value in row.items() if key not in read and value not in (None, "")},
        source="table",
        model=word(row.get(fields.get("model", ""))),
    )


def format_for(fields: Mapping[str, str]) -> Format:
    """The format of rows with these fields."""
    if {"role", "content"} <= fields.keys():
        return Format("table", lambda _: True, lambda rows: joined(rows, fields), joins=True, local_ids=True)
    return Format("table", lambda _: True, lambda rows: _exchanges(rows, fields), local_ids=True)


def _exchanges(rows: Sequence[Record], fields: Mapping[str, str]) -> Iterator[Conversation | ShapeError]:
    for row in rows:
        yield attempt(exchange, row, fields)
