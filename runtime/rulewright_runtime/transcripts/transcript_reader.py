"""Transcripts: conversations read from files, and what is refused about them, with its file and line.

The native forms are read here: one conversation a file, named `<model>__<scenario_id>.jsonl`, a turn a line; and
batches, a whole conversation `{transcript_id, scenario_id, model, turns}` a line. All others are told apart by their
content and read by `readers`. A refused conversation never stops the others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.input_files import open_regular, read_small
from rulewright_runtime.strict_json import Decoder, DoubledKeyError
from rulewright_runtime.transcripts.containers import (
    MAX_DOCUMENT,
    csv_rows,
    is_document,
    kind_of,
    numbered_lines,
    rows,
)
from rulewright_runtime.transcripts.messages import Conversation, Turn, messages_of, turns_of
from rulewright_runtime.transcripts.pieces import read_bytes, split
from rulewright_runtime.transcripts.readers import format_of, is_turns, unknown
from rulewright_runtime.transcripts.readers.shapes import ShapeError, named_results
from rulewright_runtime.transcripts.readers.tables import Columns, format_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from rulewright_runtime.transcripts.containers import Row
    from rulewright_runtime.transcripts.pieces import Piece
    from rulewright_runtime.transcripts.readers.shapes import Format, Record

MAX_LINE: Final = 2**20  # bytes; a single turn or conversation of more than a mebibyte is a mistake
ROLES: Final = ("user", "assistant")
UNKNOWN_MODEL: Final = "unknown"


class Transcript(msgspec.Struct, frozen=True):
    """One conversation as turns, and where it was read; `scenario_id` is empty where it was not played from a scenario.

    `recorded` is the conversation that the turns are a view of, None where only turns were recorded.
    """

    id: str
    scenario_id: str
    model: str
    turns: tuple[Turn, ...]
    path: str = ""
    line: int = 0
    recorded: Conversation | None = None

    @classmethod
    def of(cls, conversation: Conversation, path: str = "", line: int = 0) -> Transcript:
        """The turns of a conversation, which was read at `path` and `line`."""
        name, scenario = conversation.id, conversation.scenario_id or ""
        model, turns = conversation.model or UNKNOWN_MODEL, turns_of(conversation.messages)
        return cls(name, scenario, model, turns, path, line, conversation)

    @property
    def conversation(self) -> Conversation:
        """The conversation with all its messages: as it was recorded, else made of the turns."""
        if self.recorded is not None:
            return self.recorded
        return Conversation(
            self.id, messages_of(self.turns), self.scenario_id or None, source="turns", model=self.model
        )

    @property
    def harness(self) -> str:
        """Through what the model was reached, as its turns say: `llm/raw`, a product; empty where none says it."""
        return ", ".join(sorted({turn.harness for turn in self.turns if turn.harness}))


class _Loose(msgspec.Struct, omit_defaults=True):
    """A line of either form, with whatever types its author gave the values."""

    turn: Any = msgspec.UNSET
    role: Any = msgspec.UNSET
    content: Any = msgspec.UNSET
    branch_id: Any = None
    error: Any = None
    harness: Any = None
    transcript_id: Any = None
    scenario_id: Any = None
    model: Any = None
    turns: Any = msgspec.UNSET


_TURNS: Final[Decoder[Turn]] = Decoder(Turn)
_LOOSE: Final[Decoder[_Loose]] = Decoder(_Loose)
TABLES: Final = ("csv", "parquet", "arrow")
_NO_TURNS: Final = "a conversation needs the key `turns`, a list of turns"
SUFFIXES: Final = (".jsonl", ".ndjson", ".eval", ".csv", ".tsv", ".parquet", ".arrow")


class Reader:
    """Reads transcripts and refuses bad ones; ids are unique over everything that one reader has read."""

    def __init__(
        self,
        scenarios: Collection[str] | None = None,
        max_line: int = MAX_LINE,
        columns: Mapping[str, str] | None = None,
        *,
        unique: bool = True,
    ) -> None:
        """With `scenarios`, a transcript of any other scenario is refused; longer lines than `max_line` bytes are, and,
        where ids must be `unique`, transcripts whose id was read before.

        `columns` says which columns of a table hold what (`{"user": "question"}`). Raises RuntimeFailure for a field
        that no conversation has.
        """
        if max_line < 1:
            raise RuntimeFailure(f"the longest line can't have {max_line} bytes; expected at least 1")
        self._scenarios = scenarios
        self._max_line = max_line
        self._columns = Columns(columns)
        self._unique = unique
        self._seen: dict[str, str] = {}

    def read(self, paths: Iterable[str | os.PathLike[str]]) -> Iterator[Transcript | InputError]:
        """Every conversation, or the reason why it was refused, in the order of `paths` and of the lines in them.

        A folder stands for the files of chats below it, by their endings and sorted by path; beside others, `*.json`
        files of an unknown shape are not among them. Links are followed, to each folder once.
        """
        for path in paths:
            for file in _files(os.fspath(path)):
                if isinstance(file, InputError):
                    yield file
                else:
                    yield from self._file(file)

    def pieces(self, paths: Iterable[str | os.PathLike[str]]) -> Iterator[Piece | InputError]:
        """What `read` would read, as pieces for `read_piece`, or why a path was refused, in the same order."""
        for path in paths:
            for file in _files(os.fspath(path)):
                if isinstance(file, InputError):
                    yield file
                else:
                    yield from split(file, self._max_line)

    def read_piece(self, piece: Piece) -> Iterator[Transcript | InputError]:
        """Every conversation of a piece, or the reason why it was refused."""
        if piece.is_whole:
            yield from self._file(piece.path)
            return
        shown = printable(piece.path)
        try:
            stream = read_bytes(piece)
        except OSError as error:
            yield InputError(f"the file can't be read: {error.strerror}", shown)
            return
        if stream is None:
            yield InputError("the file became shorter while it was read", shown)
            return
        yield from self._careful(shown, numbered_lines(stream, shown, self._max_line, piece.line), of_batch=True)

    def _file(self, path: str) -> Iterator[Transcript | InputError]:
        shown = printable(path)
        try:
            data = read_small(path, self._max_line)
            quick = None if data is None else self._quick(shown, data)
            if quick is not None:
                yield quick
                return
            yield from self._other(path, shown)
        except OSError as error:
            yield InputError(f"the file can't be read: {error.strerror}", shown)

    def _other(self, path: str, shown: str) -> Iterator[Transcript | InputError]:
        """Whatever is not a small, well-formed file of turns. Raises OSError."""
        kind = kind_of(path)
        if kind == "json" and self._is_native(path, shown):
            with open_regular(path) as lines:
                yield from self._careful(shown, numbered_lines(lines, shown, self._max_line))
            return
        chats = Chats(shown, self._columns, os.path.getsize(path), tabular=kind in TABLES)
        for found in chats.read(_rows(kind, path, shown, self._max_line)):
            yield self._admit(found) if isinstance(found, Transcript) else found

    def _is_native(self, path: str, shown: str) -> bool:
        """Whether the lines are turns, or conversations with `turns`: the first record that is known decides."""
        if is_document(path, shown, self._max_line):
            return False
        decoded = False
        for _, row in rows(path, shown, self._max_line):
            if isinstance(row, InputError):
                continue
            if is_turns(row) or format_of(row) is not None:
                return is_turns(row)
            decoded = True
        return not decoded

    def _quick(self, path: str, data: bytes) -> Transcript | InputError | None:
        """The one conversation of a well-formed, small file; None sends the file to the careful way."""
        try:
            turns = _TURNS.decode_lines(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        name = _stem(path)
        model, _, scenario = name.partition("__")
        if not scenario or not turns or _broken_sequence(turns):
            return None
        return self._admit(Transcript(name, scenario, model, tuple(turns), path, 1))

    def _careful(
        self, path: str, lines: Iterator[tuple[int, bytes | InputError]], *, of_batch: bool = False
    ) -> Iterator[Transcript | InputError]:
        """Line by line. A file in which any line is a conversation is a batch, and its other lines are refused; the
        lines may be known to be those `of_batch` of several."""
        broken: list[InputError] = []
        turns: list[tuple[int, Turn]] = []
        records = _Batch(path, known=of_batch)
        for number, line in lines:
            loose = _loose(line, path, number)
            if isinstance(loose, InputError):
                if records.started:
                    yield from records.flush(self._admit, several=True)
                    yield loose
                else:
                    broken.append(loose)
            elif loose.turns is not msgspec.UNSET:
                stray = [*broken, *(InputError(_NO_TURNS, path, line) for line, _ in turns)]
                yield from sorted(stray, key=lambda error: error.line)
                yield from records.flush(self._admit, several=True)
                records.hold(loose, number, several=bool(stray) or records.started)
                broken, turns = [], []
            elif records.started:
                yield from records.flush(self._admit, several=True)
                yield InputError(_NO_TURNS, path, number)
            else:
                made = _turn(loose, path, number)
                if isinstance(made, InputError):
                    broken.append(made)
                else:
                    turns.append((number, made))
        if records.started:
            yield from records.flush(self._admit)
        else:
            yield self._single(path, turns, broken)

    def _single(self, path: str, turns: list[tuple[int, Turn]], broken: list[InputError]) -> Transcript | InputError:
        if broken:
            return broken[0]
        if not turns:
            return InputError("the file is empty: a transcript needs at least one turn", path, 1)
        model, _, scenario = _stem(path).partition("__")
        if not scenario:
            return InputError("the file's name must be `<model>__<scenario_id>.jsonl`", path, 1)
        wrong = _broken_sequence([turn for _, turn in turns])
        if wrong:
            index, reason = wrong
            return InputError(reason, path, turns[index][0])
        return self._admit(Transcript(_stem(path), scenario, model, tuple(turn for _, turn in turns), path, 1))

    def _admit(self, transcript: Transcript) -> Transcript | InputError:
        """The transcript, unless its scenario is unknown or its id was seen before."""
        named = transcript.scenario_id
        if self._scenarios is not None and named and named not in self._scenarios:
            return InputError(f"unknown scenario `{named}`", transcript.path, transcript.line)
        if not self._unique:
            return transcript
        return self.read_before(transcript.id, transcript.path, transcript.line) or transcript

    def read_before(self, name: str, path: str, line: int) -> InputError | None:
        """Why a transcript of that id is refused, where one was read before; else the id counts as read from now on."""
        if name in self._seen:
            return InputError(f"transcript `{name}` was already read from {self._seen[name]}", path, line)
        self._seen[name] = f"{path}:{line}"
        return None


def from_record(record: Mapping[str, Any]) -> Transcript:
    """The conversation in a record at hand as Python data, `{transcript_id, scenario_id, model, turns}` or one of any
    other format that files may have; without an id of its own it is called `chat`.

    Raises InputError for what a `Reader` refuses, and where the record holds several conversations.
    """
    name = record.get("transcript_id")
    if "turns" not in record and format_of(dict(record)) is not None:
        first, *others = Chats("chat", Columns(None), 0, tabular=False).read([(0, dict(record))])
        if others:
            raise InputError(f"the record holds {len(others) + 1} conversations; expected one", "chat")
        if isinstance(first, InputError):
            raise first
        return first
    made = _conversation(msgspec.convert(dict(record), _Loose), name if isinstance(name, str) else "", 0, several=False)
    if isinstance(made, InputError):
        raise made
    return made


class _Batch:
    """The records of a batch file. One is held back until it is known whether the file holds several."""

    def __init__(self, path: str, *, known: bool) -> None:
        self.started = known
        self._path = path
        self._several = known
        self._held: tuple[_Loose, int] | None = None

    def hold(self, record: _Loose, number: int, *, several: bool) -> None:
        self.started = True
        self._several = self._several or several
        self._held = (record, number)

    def flush(
        self, admit: Callable[[Transcript], Transcript | InputError], *, several: bool = False
    ) -> Iterator[Transcript | InputError]:
        if self._held is not None:
            self._several = self._several or several
            record, number = self._held
            self._held = None
            made = _conversation(record, self._path, number, several=self._several)
            yield admit(made) if isinstance(made, Transcript) else made


def _files(path: str) -> Iterator[str | InputError]:
    if not os.path.isdir(path):
        yield path
        return
    found: list[tuple[str, str | InputError]] = []
    documents: list[tuple[str, str]] = []
    unread: list[OSError] = []
    seen: set[str] = set()
    for folder, folders, names in os.walk(path, onerror=unread.append, followlinks=True):
        folders.sort()
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        for name in names:
            file = os.path.join(folder, name)
            if name.endswith(SUFFIXES):
                found.append((file, file))
            elif name.endswith(".json"):
                documents.append((file, file))
            elif name.endswith(".jsonl.part") and "__" in name:
                reason = "the conversation is not finished; continue it with `--resume`"
                found.append((file, InputError(reason, printable(file))))
    for error in unread:
        where = os.fspath(error.filename or path)
        found.append((where, InputError(f"the folder can't be read: {error.strerror}", printable(where))))
    found += [each for each in documents if not found or not _is_something_else(each[0])]
    if not found:
        yield InputError("the folder holds no file of chats, such as `*.jsonl`", printable(path))
    yield from (each for _, each in sorted(found, key=lambda pair: pair[0]))


def _is_something_else(path: str) -> bool:
    """Whether the file is whole JSON and no chat: a summary or a configuration beside chats."""
    try:
        _, first = next(rows(path, printable(path), MAX_LINE), (0, None))
    except OSError:
        return False
    return isinstance(first, dict) and not is_turns(first) and format_of(first) is None


def printable(path: str) -> str:
    """The path as text that can be written anywhere: bytes of a name that is not UTF-8 become `\\xff`."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _rows(kind: str, path: str, shown: str, limit: int) -> Iterator[Row]:
    """The records of a file of that kind."""
    if kind == "zip":
        from rulewright_runtime.transcripts.archives import eval_rows

        return eval_rows(path, shown)
    if kind in ("parquet", "arrow"):
        from rulewright_runtime.transcripts.columnar import columnar_rows

        return columnar_rows(path, shown, kind)
    return csv_rows(path, shown, limit) if kind == "csv" else rows(path, shown, limit)


class Chats:
    """The conversations among the records of one file."""

    def __init__(self, path: str, columns: Columns, size: int, *, tabular: bool) -> None:
        """`columns` says what the columns of a table hold; a file of `size` bytes may be too large to be joined. All
        rows of a `tabular` file have the same columns.
        """
        self._path = path
        self._columns = columns
        self._size = size
        self._tabular = tabular
        self._table: Format | None = None
        self._held: dict[str, tuple[Format, list[tuple[int, Record]]]] = {}
        self._broken: InputError | None = None

    def read(self, found: Iterable[Row]) -> Iterator[Transcript | InputError]:
        """The conversations, or why a record is refused; those whose records have to be joined come last."""
        empty = True
        for number, row in found:
            empty = False
            if isinstance(row, InputError):
                self._broken = self._broken or row
                yield row
                continue
            try:
                format = format_of(row) or self._format_of_table(row)
            except ShapeError as wrong:
                yield InputError(str(wrong), self._path, 1)
                return
            if format is None:
                yield self._native(row, number)
            elif not format.joins:
                yield from self._named(format, [(number, row)])
            elif self._size > MAX_DOCUMENT:
                reason = f"the file has {self._size} bytes; at most {MAX_DOCUMENT} are joined to conversations"
                yield InputError(reason, self._path, number)
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

    def _format_of_table(self, row: Record) -> Format | None:
        """The format of a row by its columns. Raises ShapeError where those of a table hold no conversation."""
        if self._tabular:
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
            loose = msgspec.convert(row, _Loose)
        except msgspec.ValidationError as error:
            return InputError(f"the record is refused: {error}", self._path, number)
        if loose.turns is msgspec.UNSET:
            return InputError(_NO_TURNS, self._path, number)
        return _conversation(loose, self._path, number, several=True)

    def _named(self, format: Format, records: list[tuple[int, Record]]) -> Iterator[Transcript | InputError]:
        """The conversations in records, by their own ids, else by the file and the line."""
        line = records[0][0]
        stem = _stem(self._path)
        unnamed = stem if format.joins or not line else f"{stem}:{line}"
        at = -1
        for at, made in enumerate(_safely(format, [row for _, row in records])):
            if isinstance(made, ShapeError):
                yield InputError(f"{made} (read as {format.name})", self._path, line)
                continue
            own = f"{stem}:{made.id}" if made.id and format.local_ids else made.id
            name = own.strip() or (unnamed if at == 0 else f"{unnamed}#{at + 1}")
            if not any(message.role in ROLES for message in made.messages):
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


def _is_flat(row: Record) -> bool:
    """Whether a record may be a row of a table: texts and numbers under names."""
    return not any(isinstance(value, dict | list) for value in row.values())


def _loose(line: bytes | InputError, path: str, number: int) -> _Loose | InputError:
    if isinstance(line, InputError):
        return line
    try:
        return _LOOSE.decode(line)
    except RecursionError:
        return InputError("the line is nested too deeply", path, number)
    except UnicodeDecodeError:
        return InputError("the line is not UTF-8 text", path, number)
    except msgspec.ValidationError:
        return InputError("a line must hold one JSON object", path, number)
    except DoubledKeyError as error:
        return InputError(f"the line is refused: {error}", path, number)
    except msgspec.DecodeError as error:
        return InputError(f"the line is not JSON: {str(error)[:200]}", path, number)


def _turn(loose: _Loose, path: str, number: int) -> Turn | InputError:
    """The turn in a line of a file, or in an item of a batch record."""
    if loose.turn is msgspec.UNSET:
        return InputError("the turn number is missing", path, number)
    if not isinstance(loose.turn, int) or isinstance(loose.turn, bool) or loose.turn < 0:
        return InputError(f"the turn number is {_shown(loose.turn)}; expected a whole number from 0 up", path, number)
    if loose.role not in ROLES:
        return InputError(f"the role is {_shown(loose.role)}; expected `user` or `assistant`", path, number)
    content = "" if loose.error is not None and loose.content in (None, msgspec.UNSET) else loose.content
    if not isinstance(content, str):
        return InputError(f"the content is {_shown(content)}; expected text", path, number)
    branch = loose.branch_id if isinstance(loose.branch_id, str) else None
    harness = loose.harness if isinstance(loose.harness, str) else None
    return Turn(loose.turn, loose.role, content, branch, loose.error, harness)


def _shown(value: Any) -> str:
    if value is msgspec.UNSET:
        return "missing"
    text = msgspec.json.encode(value).decode()
    return f"`{value if isinstance(value, str) and len(value) <= 40 else text[:40]}`"


def _conversation(record: _Loose, path: str, number: int, *, several: bool) -> Transcript | InputError:
    for key, value in (("scenario_id", record.scenario_id), ("model", record.model)):
        if not isinstance(value, str) or not value:
            return InputError(f"a conversation needs the key `{key}`, a text", path, number)
    if record.transcript_id is not None and (not isinstance(record.transcript_id, str) or not record.transcript_id):
        return InputError("the `transcript_id` must be a text", path, number)
    if not isinstance(record.turns, list) or not record.turns:
        return InputError("a conversation needs the key `turns`, a list of at least one turn", path, number)
    turns: list[Turn] = []
    for index, item in enumerate(record.turns):
        try:
            made = _turn(msgspec.convert(item, _Loose), path, number)
        except msgspec.ValidationError:
            made = InputError("a turn must be an object", path, number)
        if isinstance(made, InputError):
            return InputError(f"turns[{index}]: {made.reason}", path, number)
        turns.append(made)
    wrong = _broken_sequence(turns)
    if wrong:
        return InputError(f"turns[{wrong[0]}]: {wrong[1]}", path, number)
    name = record.transcript_id or (f"{_stem(path)}:{number}" if several else _stem(path))
    return Transcript(name, record.scenario_id, record.model, tuple(turns), path, number)


def _broken_sequence(turns: list[Turn]) -> tuple[int, str] | None:
    """The first turn whose role or number can't stand where it does, by index, and why."""
    before, heard = -1, ""  # the number before, and who has spoken under it
    for index, turn in enumerate(turns):
        number, role = turn.turn, turn.role
        if role not in ROLES:
            return index, f"the role is `{role}`; expected `user` or `assistant`"
        if number == before:
            if role in heard:
                return index, f"turn {number} of the {role} is repeated"
            heard += role
            continue
        if index == 0 and number not in (0, 1):
            return index, f"turn 1 is missing: the first turn has the number {number}"
        if index and number < before:
            return index, _repeated(turns[:index], turn) or f"turn {number} comes after turn {before}"
        if index and number > before + 1:
            return index, f"turn {before + 1} is missing"
        before, heard = number, role
    return None


def _repeated(earlier: list[Turn], turn: Turn) -> str | None:
    known = any(one.turn == turn.turn and one.role == turn.role for one in earlier)
    return f"turn {turn.turn} of the {turn.role} is repeated" if known else None
