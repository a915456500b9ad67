"""Transcripts: conversations read from files, and what is refused about them, with its file and line.

The native forms are read here: one conversation a file, named `<model>__<scenario_id>.jsonl`, a turn a line; and
batches, a whole conversation `{transcript_id, scenario_id, model, turns}` a line. All others are told apart by their
content and read by `readers`. A refused conversation never stops the others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.input_files import expanded_size, open_expanded, read_small
from rulewright_runtime.strict_json import Decoder, Json
from rulewright_runtime.transcripts.containers import (
    MAX_DOCUMENT,
    csv_rows,
    is_document,
    kind_of,
    numbered_lines,
    records,
    rows,
    unreadable,
    until_unreadable,
    without_compression,
)
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.parquet_chats import rows_of
from rulewright_runtime.transcripts.pieces import read_bytes, split
from rulewright_runtime.transcripts.seen_ids import SeenIds
from rulewright_runtime.transcripts.turn_lines import (
    NO_TURNS,
    Batched,
    Loose,
    broken_sequence,
    conversation_of,
    defaulted_in_turn,
    loose_line,
    printable,
    stem,
    turn_of,
    well_formed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from rulewright_runtime.transcripts.chats import Chats
    from rulewright_runtime.transcripts.containers import Row
    from rulewright_runtime.transcripts.pieces import Piece

MAX_LINE: Final = 2**20  # bytes; a single turn or conversation of more than a mebibyte is a mistake
_TURNS: Final[Decoder[Turn]] = Decoder(Turn, defaulted=defaulted_in_turn)
TABLES: Final = ("csv", "parquet", "arrow")
OF_A_RUN: Final = {"inputs.jsonl", "plan.json"}  # files of a folder that is a run and holds no chats
OF_A_HARNESS: Final = {"header.json", "run_plan.json"}  # files of a folder whose chats lie in a folder below
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
        self._columns = columns
        if columns:
            self._chats("", 0)  # refuses an unknown field before anything is read
        self._unique = unique
        self._seen = SeenIds()

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
        if piece.row_group is not None:
            chats = self._chats(shown, piece.file_size, tabular=True, part=True)
            found = rows_of(piece.path, shown, piece.row_group, piece.line)
            yield from self._admitted(chats.read(found))
            return
        try:
            stream = read_bytes(piece)
        except OSError as error:
            yield unreadable(error, shown)
            return
        if stream is None:
            yield InputError("the file became shorter while it was read", shown)
            return
        lines = numbered_lines(stream, shown, self._max_line, piece.line)
        if not piece.chats:
            yield from self._careful(shown, lines, of_batch=True)
            return
        chats = self._chats(shown, piece.file_size, part=piece.start > 0)
        yield from self._admitted(chats.read(records(lines, shown)))

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
            yield unreadable(error, shown)

    def _other(self, path: str, shown: str) -> Iterator[Transcript | InputError]:
        """Whatever is not a small, well-formed file of turns. Raises OSError."""
        kind = kind_of(path)
        if kind == "json" and self._is_native(path, shown):
            with open_expanded(path) as lines:
                numbered = numbered_lines(lines, shown, self._max_line)
                yield from self._careful(shown, until_unreadable(numbered, shown))
            return
        chats = self._chats(shown, expanded_size(path, MAX_DOCUMENT + 1), tabular=kind in TABLES)
        yield from self._admitted(chats.read(_rows(kind, path, shown, self._max_line)))

    def _chats(self, shown: str, size: int, *, tabular: bool = False, part: bool = False) -> Chats:
        return _chats(shown, self._columns, size, tabular=tabular, part=part)

    def _admitted(self, chats: Iterable[Transcript | InputError]) -> Iterator[Transcript | InputError]:
        for found in chats:
            yield self._admit(found) if isinstance(found, Transcript) else found

    def _is_native(self, path: str, shown: str) -> bool:
        """Whether the lines are turns, or conversations with `turns`: the first record that is known decides."""
        if is_document(path, shown, self._max_line):
            return False
        decoded = False
        for _, row in rows(path, shown, self._max_line):
            if isinstance(row, InputError):
                continue
            if (turns := _has_turns(row)) is not None:
                return turns
            decoded = True
        return not decoded

    def _quick(self, path: str, data: bytes) -> Transcript | InputError | None:
        """The one conversation of a well-formed, small file; None sends the file to the careful way."""
        try:
            turns = _TURNS.decode_lines(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        name = stem(path)
        model, _, scenario = name.partition("__")
        if not scenario or not turns or broken_sequence(turns):
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
            loose = well_formed(line) or loose_line(line, path, number)
            if isinstance(loose, InputError):
                if records.started:
                    yield from records.flush(self._admit, several=True)
                    yield loose
                else:
                    broken.append(loose)
            elif isinstance(loose, Batched) or loose.turns is not msgspec.UNSET:
                stray = [*broken, *(InputError(NO_TURNS, path, line) for line, _ in turns)]
                yield from sorted(stray, key=lambda error: error.line)
                yield from records.flush(self._admit, several=True)
                records.hold(loose, number, several=bool(stray) or records.started)
                broken, turns = [], []
            elif records.started:
                yield from records.flush(self._admit, several=True)
                yield InputError(NO_TURNS, path, number)
            else:
                made = turn_of(loose, path, number)
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
        model, _, scenario = stem(path).partition("__")
        if not scenario:
            return InputError("the file's name must be `<model>__<scenario_id>.jsonl`", path, 1)
        wrong = broken_sequence([turn for _, turn in turns])
        if wrong:
            index, reason = wrong
            return InputError(reason, path, turns[index][0])
        return self._admit(Transcript(stem(path), scenario, model, tuple(turn for _, turn in turns), path, 1))

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
        before = self._seen.before(name, f"{path}:{line}")
        return None if before is None else InputError(f"transcript `{name}` was already read from {before}", path, line)


def from_record(record: Mapping[str, object]) -> Transcript:
    """The conversation in a record at hand as Python data, `{transcript_id, scenario_id, model, turns}` or one of any
    other format that files may have; without an id of its own it is called `chat`.

    Raises InputError for what a `Reader` refuses, and where the record holds several conversations.
    """
    from rulewright_runtime.transcripts.readers import format_of, has_turns, is_turns, unknown

    name = record.get("transcript_id")
    if not has_turns(record) and format_of(dict(record)) is not None:
        first, *others = _chats("chat", None, 0).read([(0, dict(record))])
        if others:
            raise InputError(f"the record holds {len(others) + 1} conversations; expected one", "chat")
        if isinstance(first, InputError):
            raise first
        return first
    if not is_turns(dict(record)):
        raise InputError(unknown(dict(record)), "chat")
    made = conversation_of(
        msgspec.convert(dict(record), Loose), name if isinstance(name, str) else "chat", 0, several=False
    )
    if isinstance(made, InputError):
        raise made
    return made


class _Batch:
    """The records of a batch file. One is held back until it is known whether the file holds several."""

    def __init__(self, path: str, *, known: bool) -> None:
        self.started = known
        self._path = path
        self._several = known
        self._held: tuple[Loose | Batched, int] | None = None

    def hold(self, record: Loose | Batched, number: int, *, several: bool) -> None:
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
            made = conversation_of(record, self._path, number, several=self._several)
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
        if set(names) >= OF_A_RUN:
            folders.clear()
            continue
        if set(names) >= OF_A_HARNESS:
            continue
        for name in names:
            file = os.path.join(folder, name)
            if without_compression(name).endswith(SUFFIXES):
                found.append((file, file))
            elif without_compression(name).endswith(".json"):
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
    return isinstance(first, dict) and _has_turns(first) is None


def _has_turns(record: Json) -> bool | None:
    """Whether a record is of turns, or of another format; None for one of no known format."""
    from rulewright_runtime.transcripts.readers import format_of, is_turns

    return True if is_turns(record) else None if format_of(record) is None else False


def _chats(
    shown: str, columns: Mapping[str, str] | None, size: int, *, tabular: bool = False, part: bool = False
) -> Chats:
    """What reads chats of every format, of no use to files of turns. Raises RuntimeFailure for an unknown field in what
    is told of the columns."""
    from rulewright_runtime.transcripts.chats import Chats
    from rulewright_runtime.transcripts.readers.tables import Columns

    return Chats(shown, Columns(columns), size, tabular=tabular, part=part)


def _rows(kind: str, path: str, shown: str, limit: int) -> Iterator[Row]:
    """The records of a file of that kind."""
    if kind == "zip":
        from rulewright_runtime.transcripts.archives import eval_rows

        return eval_rows(path, shown)
    if kind in ("parquet", "arrow"):
        from rulewright_runtime.transcripts.columnar import columnar_rows

        return columnar_rows(path, shown, kind)
    return csv_rows(path, shown, limit) if kind == "csv" else rows(path, shown, limit)
