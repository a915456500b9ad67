"""Rulewright's own chat format: a line for each conversation, with all its fields, as `convert` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError, rest
from rulewright_runtime.transcripts.readers.shapes import Format

CHAT: Final = "rulewright-chat"
VERSION: Final = 1


def to_line(conversation: Conversation) -> bytes:
    """The line of a conversation, from which `read` restores all its fields."""
    head = msgspec.json.encode({"format": CHAT, "version": VERSION})
    return head[:-1] + b"," + msgspec.json.encode(conversation)[1:] + b"\n"


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        if record.get("version") != VERSION:
            yield ShapeError(f"version {record.get('version')!r:.20} of `{CHAT}`; expected {VERSION}")
            continue
        if "record" in record:  # which `chats.py` reads as the place in the file
            yield ShapeError("object contains unknown field `record`")
            continue
        try:
            yield msgspec.convert(rest(record, "format", "version"), Conversation)
        except msgspec.ValidationError as error:
            yield ShapeError(str(error)[:1].lower() + str(error)[1:])


FORMAT: Final = Format("rulewright", lambda record: record.get("format") == CHAT, _read)
