"""The chat formats of plug-ins, whose conversations are checked before they are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from msgspec.json import decode, encode
from msgspec.structs import replace

from rulewright_runtime.errors import OutageError
from rulewright_runtime.plugins import READERS, PlugIn, PlugInError, installed
from rulewright_runtime.processes.user_code import UserCode, failure_of
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError
from rulewright_runtime.transcripts.readers.shapes import Format


@cache
def plug_in_formats() -> tuple[Format, ...]:
    """The formats, tried after the built-in ones. Raises PlugInError if one can't be used."""
    return tuple(map(_guarded, installed(READERS)))


def _guarded(plug_in: PlugIn) -> Format:
    """The format with a reader that gives valid conversations or raises ShapeError."""
    format, called = plug_in.load(), plug_in.called
    if not isinstance(format, Format):
        raise PlugInError(f"the reader `{plug_in.name}` of {plug_in.about} is not a `Format`")

    def read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
        try:
            with UserCode(called):
                items = list(format.read(records))
            for item in items:
                if not 0 <= item.record < len(records):
                    raise ShapeError(f"the plug-in gives record {item.record} of {len(records)}, counted from 0")
                yield item if isinstance(item, ShapeError) else decode(encode(item), type=Conversation)
        except (ShapeError, OutageError):
            raise
        except Exception as why:
            raise ShapeError(f"the plug-in failed: {failure_of(why)}") from why

    def recognises(record: Record) -> bool:
        with UserCode(called):
            return format.recognises(record)

    return replace(format, recognises=recognises, read=read)
