"""The chats of one file: each record is told apart by its content and read by a format of `readers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.containers import MAX_DOCUMENT
from rulewright_runtime.transcripts.messages import TURN_ROLES, Conversation, Transcript
from rulewright_runtime.transcripts.readers import FORMATS, format_of, is_turns, unknown
from rulewright_runtime.transcripts.readers.shapes import ShapeError, named_results
from rulewright_runtime.transcripts.readers.tables import Columns, format_for
from rulewright_runtime.transcripts.turn_lines import NO_TURNS, Loose, conversation_of, stem

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.containers import Row
    from rulewright_runtime.transcripts.readers.shapes import Format, Record


class Chats:
    """The conversations among the records of one file."""

    def __init__(self, path: str, columns: Columns, size: int, *, tabular: bool, part: bool = False) -> None:
        """`columns` says what the columns of a table hold; a file of `size` bytes may be too large to be joined. All
        rows of a `tabular` file have the same columns. A `part` is not the beginning of its file.
        """
        self._path = path
        self._columns = columns
        self._size = size
        self._tabular = tabular
        self._part = part
        self._table: Format | None = None
        self._held: dict[str, tuple[Format, list[tuple[int, Record]]]] = {}
        self._broken: InputError | None = None

    def read(self, found: Iterable[Row]) -> Iterator[Transcript | InputError]:
        """The conversations, or why a record is refused; those whose records have to be joined come last."""
        began = self._part  # records of this file are conversations of their own
        empty = not self._part
        for number, row in found:
            empty = False
            if isinstance(row, InputError):
                self._broken = self._broken or row
                yield row
                continue
            try:
                format = self._format(row)
            except ShapeError as wrong:
                yield InputError(str(wrong), self._path, 1)
                return
            if format is None:
                yield self._native(row, number)
            elif not format.joins:
                began = True
                yield from self._named(format, [(number, row)])
            elif self._size > MAX_DOCUMENT:
                reason = f"the file has {self._size} bytes; at most {MAX_DOCUMENT} are joined to conversations"
                yield InputError(reason, self._path, number)
                if not began:  # it is one session, or one trace
                    return
            else:
                self._held.setdefault(format.name, (format, []))[1].append((number, row))
        if empty:
            yield InputError("the file is empty: a transcript needs at least one turn", self._path, 1)
        yield from self._joined()

    def _joined(self) -> Iterator[Transcript | InputError]:
        for format, records in self._held.values():
            if self._broken is not None:
                reason = f"a conversation of this file may lack its line {self._broken.line}, which was refused"
                yield InputError(reason, self._path, records[0][0])
            else:
                yield from self._named(format, records)

    def _format(self, row: Record) -> Format | None:
        """The format of a row; columns that were named come first. Raises ShapeError for a table without any."""
        named = self._tabular and self._columns.told and _is_flat(row)
        return (None if named else format_of(row)) or self._format_of_table(row)

    def _format_of_table(self, row: Record) -> Format | None:
        """The format of a row by its columns. Raises ShapeError where those of a table hold no conversation."""
        if self._tabular and not isinstance(row.get("turns"), list):
            self._table = self._table or format_for(self._columns.of(list(row)))
            return self._table
        try:
            return format_for(self._columns.of(list(row))) if _is_flat(row) and not is_turns(row) else None
        except ShapeError:
            return None

    def _native(self, row: Record, number: int) -> Transcript | InputError:
        if not is_turns(row):
            return InputError(unknown(row), self._path, number)
        try:
            loose = msgspec.convert(row, Loose)
        except msgspec.ValidationError as error:
            return InputError(f"the record is refused: {error}", self._path, number)
        if loose.turns is msgspec.UNSET:
            return InputError(NO_TURNS, self._path, number)
        return conversation_of(loose, self._path, number, several=True)

    def _named(self, format: Format, records: list[tuple[int, Record]]) -> Iterator[Transcript | InputError]:
        """The conversations in records, by their own ids, else by the file and the line."""
        line = records[0][0]
        own_name = stem(self._path)
        unnamed = own_name if format.joins or not line else f"{own_name}:{line}"
        at = -1
        for at, made in enumerate(_safely(format, [row for _, row in records])):
            if isinstance(made, ShapeError):
                yield InputError(f"{made} (read as {format.name})", self._path, line)
                continue
            own = f"{own_name}:{made.id}" if made.id and format.local_ids else made.id
            name = own.strip() or (unnamed if at == 0 else f"{unnamed}#{at + 1}")
            if not any(message.role in TURN_ROLES for message in made.messages):
                yield InputError("the conversation has no message of a user or an assistant", self._path, line)
            else:
                said = named_results(made.messages)
                yield Transcript.of(msgspec.structs.replace(made, id=name, messages=said), self._path, line)
        if at < 0:
            yield InputError(f"the record holds no conversation (read as {format.name})", self._path, line)


def _safely(format: Format, records: list[Record]) -> Iterator[Conversation | ShapeError]:
    """What the format reads; a record that is nested too deeply is refused as a whole."""
    try:
        yield from format.read(records)
    except ShapeError as wrong:
        yield wrong
    except RecursionError:
        yield ShapeError("the record is nested too deeply")
    except Exception as wrong:
        if format in FORMATS:
            raise
        yield ShapeError(f"the plug-in failed: {type(wrong).__name__}: {wrong}")


def _is_flat(row: Record) -> bool:
    """Whether a record may be a row of a table: texts, numbers and lists of texts under names."""
    lists = [value for value in row.values() if isinstance(value, dict | list)]
    return all(isinstance(value, list) and all(isinstance(each, str) for each in value) for value in lists)
