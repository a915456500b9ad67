"""The transcript reader: reads conversations from files, and refuses bad ones with their file and line.

It reads the native formats: a conversation per file, named `<model>__<scenario_id>.jsonl`, with a turn per line; and
batches, with a conversation `{transcript_id, scenario_id, model, turns}` per line. All other formats are detected by
content and read by `readers`. A refused conversation never stops the others.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.english import some, ticked
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.files.input_files import expanded_size, open_expanded, read_small, unread_note
from rulewright_runtime.files.scratch_database import FirstValues
from rulewright_runtime.strict_json import UNDECODED, Decoder, Json, JsonObject, decode
from rulewright_runtime.transcripts import containers
from rulewright_runtime.transcripts.chat_files import MAX_LINE, chat_files, has_turns
from rulewright_runtime.transcripts.columnar import columnar_rows, rows_of
from rulewright_runtime.transcripts.completeness import ScenariosByMessages
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.pieces import Piece, read_bytes, split
from rulewright_runtime.transcripts.thoughts import without_thoughts
from rulewright_runtime.transcripts.turn_lines import (
    NO_TURNS,
    Batched,
    Loose,
    broken_sequence,
    colons_in_turns,
    conversation_of,
    loose_line,
    printable,
    refuse_foreign_content,
    stem,
    turn_of,
    well_formed,
)

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.chats import Chats
    from rulewright_runtime.transcripts.readers.plain_text import PlainText

_TURNS: Final[Decoder[Turn]] = Decoder(Turn, colons=colons_in_turns, others=refuse_foreign_content)
TABLES: Final = ("csv", "parquet", "arrow")
_NUMPY_KINDS: Final = tuple("biufOU")  # truth values, numbers, objects and texts
_HEAD: Final = 2**16  # bytes, in which a chat in plain text is recognised


class Reader:
    """Reads transcripts and refuses bad ones; ids are unique over everything that one reader reads."""

    def __init__(
        self,
        scenarios: Collection[str] | None = None,
        max_line: int = MAX_LINE,
        columns: Mapping[str, str] | None = None,
        *,
        unique: bool = True,
    ) -> None:
        """`scenarios` are the known scenarios, if unknown ones are refused. Lines longer than `max_line` bytes are
        refused, and, if ids must be `unique`, transcripts whose id was read before.

        `columns` maps fields to the columns of a table (`{"user": "question"}`), or to the keys of a record of any
        shape (`{"messages": "events", "role": "who"}`). Raises RuntimeFailure for an unknown field.
        """
        if max_line < 1:
            raise RuntimeFailure(f"the longest line can't have {max_line} bytes; expected at least 1")
        self._scenarios = scenarios
        self._max_line = max_line
        self._columns = columns or {}
        self.used_columns: set[str] = set()  # the fields of `columns` that a record had
        self.labels: set[str] = set()  # names in plain text that may be speakers, and were read as text
        if columns:
            self._chats("", 0)  # raises for an unknown field before anything is read
        self._unique = unique
        self.unread: Counter[str] = Counter()  # files of the folders, by the reason why they were not read
        self._locations = FirstValues[bytes, bytes]("BLOB", in_memory=20_000)

    def read(self, paths: Iterable[str | os.PathLike[str]]) -> Iterator[Transcript | InputError]:
        """Yield every conversation, or the reason why it is refused, in the order of `paths` and of their lines.

        A folder means the chat files below it, found by suffix and sorted by path; `*.json` files of an unknown
        format are skipped if the folder has other chat files. Files that are not read are counted in `unread`.
        Links are followed, to each folder once.
        """
        for file in self._files(paths):
            if isinstance(file, InputError):
                yield file
            else:
                yield from self._file(file)

    def pieces(self, paths: Iterable[str | os.PathLike[str]]) -> Iterator[Piece | InputError]:
        """Yield the content of `paths` as pieces for `read_piece`, or why a path is refused, in the order of `read`."""
        for file in self._files(paths):
            if isinstance(file, InputError):
                yield file
            else:
                yield from split(file, self._max_line, partial(self._chats, "", 0))

    def unused_columns(self) -> list[str]:
        """What `columns` names and no record so far had, as `FIELD=NAME`."""
        return [f"{field}={name}" for field, name in self._columns.items() if field not in self.used_columns]

    def notes(self) -> list[str]:
        """A line for the files of folders that are not read, one for the columns that no record had, and one for the
        names in plain text that may be speakers, if any."""
        return reading_notes(self.unread, self.unused_columns(), sorted(self.labels))

    def _files(self, paths: Iterable[str | os.PathLike[str]]) -> Iterator[str | InputError]:
        folders: set[str] = set()
        for path in paths:
            yield from chat_files(os.fspath(path), self.unread, self._is_text_chat, folders)

    def read_piece(self, piece: Piece) -> Iterator[Transcript | InputError]:
        """Yield every conversation of a piece, or the reason why it is refused."""
        if piece.is_whole:
            yield from (item for item in self._file(piece.path) if not 0 < item.line < piece.line)
            return
        shown = printable(piece.path)
        if piece.row_group is not None:
            chats = self._chats(shown, piece.file_size, piece.path, tabular=True, part=True)
            records_of_group = rows_of(piece.path, shown, piece.row_group, piece.line)
            yield from self._admit_all(chats.read(records_of_group))
            return
        try:
            stream = read_bytes(piece)
        except OSError as error:
            yield containers.unreadable(error, shown)
            return
        if stream is None:
            yield InputError("the file became shorter while it was read", shown)
            return
        lines = containers.numbered_lines(stream, shown, self._max_line, piece.line)
        if not piece.chats:
            yield from self._read_lines(shown, lines, of_batch=True)
            return
        chats = self._chats(shown, piece.file_size, piece.path, part=True)
        yield from self._admit_all(chats.read(containers.records(lines, shown)))

    def _file(self, path: str) -> Iterator[Transcript | InputError]:
        shown = printable(path)
        try:
            data = read_small(path, self._max_line)
            item = None if data is None else self._read_small(shown, data)
            if item is not None:
                yield item
                return
            yield from self._read_other(path, shown)
        except OSError as error:
            yield containers.unreadable(error, shown)

    def _read_other(self, path: str, shown: str) -> Iterator[Transcript | InputError]:
        """Read any file but a small, well-formed file of turns. Raises OSError."""
        kind = containers.kind_of(path)
        if kind == "text" or (kind == "json" and self._is_text_chat(path)):
            with open_expanded(path) as stream:
                lines = containers.until_unreadable(containers.numbered_lines(stream, shown, self._max_line), shown)
                yield from self._admit_all(self._chats(shown, 0).read(self._plain_text(shown).rows(lines)))
            return
        if kind == "json" and (refused := containers.refused_as_a_whole(path, shown)):
            yield refused
            return
        if kind == "json" and self._is_native(path, shown):
            with open_expanded(path) as stream:
                lines = containers.until_unreadable(containers.numbered_lines(stream, shown, self._max_line), shown)
                yield from self._read_lines(shown, lines)
            return
        size = expanded_size(path, containers.MAX_DOCUMENT + 1)
        chats = self._chats(shown, size, path, tabular=kind in TABLES)
        yield from self._admit_all(chats.read(_rows(kind, path, shown, self._max_line)))

    def _plain_text(self, shown: str) -> PlainText:
        from rulewright_runtime.transcripts.readers.plain_text import PlainText

        return PlainText(self._columns, shown, self.used_columns, self.labels)

    def _is_text_chat(self, path: str) -> bool:
        """Whether a file begins as a chat in plain text, whatever its name."""
        try:
            with open_expanded(path) as stream:
                head = stream.read(_HEAD)
        except OSError:
            return False
        is_record = head.lstrip()[:1] == b"{"
        encoding = "utf-16" if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"  # refused when it is read
        return not is_record and self._plain_text(path).is_chat(head.decode(encoding, "replace"))

    def _chats(self, shown: str, size: int, path: str = "", *, tabular: bool = False, part: bool = False) -> Chats:
        """The reader of chats of every format, imported only if needed. Raises RuntimeFailure for an unknown column."""
        from rulewright_runtime.transcripts.chats import Chats

        columns, used, labels = self._columns, self.used_columns, self.labels
        return Chats(shown, columns, used, labels, size, path, tabular=tabular, part=part)

    def _admit_all(self, chats: Iterable[Transcript | InputError]) -> Iterator[Transcript | InputError]:
        for item in chats:
            yield self._admit(item) if isinstance(item, Transcript) else item

    def _is_native(self, path: str, shown: str) -> bool:
        """Whether the lines are turns, or conversations with `turns`: the first record of a known format decides."""
        if containers.is_document(path, shown, self._max_line):
            return False
        decoded = False
        for _, row in containers.rows(path, shown, self._max_line):
            if isinstance(row, InputError):
                continue
            if (turns := has_turns(row)) is not None:
                return turns or ("__" in stem(path) and {"turn", "role"} <= row.keys())
            decoded = True
        return not decoded

    def _read_small(self, path: str, data: bytes) -> Transcript | InputError | None:
        """The single conversation of a small, well-formed file; None if the file must be read line by line."""
        try:
            turns = _TURNS.decode_lines(data)
        except UNDECODED:
            return None
        name = stem(path)
        model, _, scenario = name.partition("__")
        if not scenario or not turns or broken_sequence(turns):
            return None
        return self._admit(Transcript(name, scenario, model, tuple(turns), path, 1))

    def _read_lines(
        self, path: str, lines: Iterable[tuple[int, bytes | InputError]], *, of_batch: bool = False
    ) -> Iterator[Transcript | InputError]:
        """Read line by line. A file is a batch if any line is a conversation; its other lines are refused. `of_batch`
        says that the lines belong to a batch of several conversations."""
        broken: list[InputError] = []
        turns: list[tuple[int, Turn]] = []
        rest, is_batch = iter(lines), of_batch
        upcoming = next(rest, None)
        while upcoming is not None:
            (number, line), upcoming = upcoming, next(rest, None)
            loose = well_formed(line) or loose_line(line, path, number)
            if isinstance(loose, Batched) or (isinstance(loose, Loose) and loose.turns is not msgspec.UNSET):
                stray = [*broken, *(InputError(NO_TURNS, path, line) for line, _ in turns)]
                yield from sorted(stray, key=lambda error: error.line)
                several = is_batch or bool(stray) or upcoming is not None
                item = conversation_of(loose, path, number, several=several)
                yield self._admit(item) if isinstance(item, Transcript) else item
                is_batch, broken, turns = True, [], []
            elif is_batch:
                yield loose if isinstance(loose, InputError) else InputError(NO_TURNS, path, number)
            else:
                turn = loose if isinstance(loose, InputError) else turn_of(loose, path, number)
                if isinstance(turn, InputError):
                    broken.append(turn)
                else:
                    turns.append((number, turn))
        if is_batch:
            return
        if broken and not turns and "__" not in stem(path):  # lines of conversations, all of them broken
            yield from broken
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
        problem = broken_sequence([turn for _, turn in turns])
        if problem:
            index, reason = problem
            return InputError(reason, path, turns[index][0])
        return self._admit(Transcript(stem(path), scenario, model, tuple(turn for _, turn in turns), path, 1))

    def _admit(self, transcript: Transcript) -> Transcript | InputError:
        """The transcript, unless its scenario is unknown or its id was read before."""
        transcript = without_thoughts(transcript)
        if self._needs_scenario(transcript):
            found = self._by_messages.of(transcript)
            if len(found) > 1 or (not found and not transcript.scenario_id and self._by_messages.are_tests):
                tried = f"may be of the scenarios {ticked(found[:3])}" if found else "fits no scenario of the project"
                reason = f"the result {tried}; name that of each test in its metadata, as `scenario_id`"
                return InputError(reason, transcript.path, transcript.line)
            transcript = msgspec.structs.replace(transcript, scenario_id=found[0]) if found else transcript
        scenario = transcript.scenario_id
        if self._scenarios is not None and scenario and scenario not in self._scenarios:
            hint = "" if self._scenarios else "; the project has no scenarios, and a chat needs none"
            return InputError(f"unknown scenario `{scenario}`{hint}", transcript.path, transcript.line)
        if not self._unique:
            return transcript
        return self.register_id(transcript.id, transcript.path, transcript.line) or transcript

    def _needs_scenario(self, transcript: Transcript) -> bool:
        """Whether it is a result of promptfoo that names none of the scenarios, which may be its tests."""
        is_result = transcript.recorded is not None and transcript.recorded.source == "promptfoo"
        return is_result and self._scenarios is not None and transcript.scenario_id not in self._scenarios

    @cached_property
    def _by_messages(self) -> ScenariosByMessages:
        return ScenariosByMessages(self._scenarios if isinstance(self._scenarios, Mapping) else {})

    def register_id(self, name: str, path: str, line: int) -> InputError | None:
        """Register a transcript's id; returns why the transcript is refused if the id was registered before."""
        first = self._locations.add(*(text.encode("utf-8", "surrogatepass") for text in (name, f"{path}:{line}")))
        if first is None:
            return None
        place = first.decode("utf-8", "surrogatepass")
        cure = "scan two versions of a chat into two runs, or rename one with `rulewright convert --id-suffix`"
        return InputError(f"transcript `{name}` was already read from {place}; {cure}", path, line)


def reading_notes(unread: Mapping[str, int], unused: Sequence[str], labels: Sequence[str]) -> list[str]:
    """What a reader has to say: which files it did not read, which columns no record had, and which names in plain text
    may be speakers and were read as text."""
    named = [f"note: no record was read with {some([f'`{each}`' for each in unused])} of `--columns`"] if unused else []
    begun = [f"`{each}{':' if each[:1].isalpha() else '…'}`" for each in labels]  # a name, or a line with a time
    read = f"{some(begun)} at the beginning of lines was read as text"
    speaking = [f"note: {read}; name other speakers with `--columns user=NAME,assistant=NAME,system=NAME`"]
    return [*unread_note(unread), *named, *(speaking if labels else [])]


def from_record(record: Mapping[str, object]) -> Transcript:
    """The conversation in a record of Python data: `{transcript_id, scenario_id, model, turns}` or any other format
    of chat files; without an id it is called `chat`.

    Raises InputError for a record that a `Reader` refuses or that holds several conversations.
    """
    import json  # only callers in Python need it

    from rulewright_runtime.transcripts.readers import is_turns

    try:
        text = json.dumps(containers.finite(dict(record)), ensure_ascii=False, default=_as_json)
        given = decode(text.encode(), type=JsonObject)
    except RecursionError:
        raise InputError("the record is nested too deeply", "chat") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"the record is not JSON: {error}", "chat") from None
    name = given.get("transcript_id") if is_turns(given) else "chat"
    if name is None:
        name = given["transcript_id"] = "chat"
    chats = Reader()._chats(name if isinstance(name, str) else "chat", 0)
    first, *others = chats.read([(0, given)])
    if others:
        raise InputError(f"the record contains {len(others) + 1} conversations; expected one", "chat")
    if isinstance(first, InputError):
        raise first
    return without_thoughts(first)


def _as_json(value: Any) -> Json:
    """A value of NumPy as one of JSON. Raises TypeError for one of another kind."""
    if getattr(getattr(value, "dtype", None), "kind", None) in _NUMPY_KINDS:
        return containers.finite(value.tolist())
    raise TypeError(f"it contains a value of the type `{type(value).__name__}`")


def _rows(kind: str, path: str, shown: str, limit: int) -> Iterator[containers.Row]:
    """The records of a file of this kind."""
    if kind == "zip":
        from rulewright_runtime.transcripts.archives import eval_rows

        return eval_rows(path, shown)
    if kind in ("parquet", "arrow"):
        return columnar_rows(path, shown, kind)
    return containers.csv_rows(path, shown, limit) if kind == "csv" else containers.rows(path, shown, limit)
