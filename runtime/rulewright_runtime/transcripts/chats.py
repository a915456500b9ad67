"""The chats of one file: the format of each record is detected by its content, and a reader of `readers` reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import BinaryIO, Final, TypeGuard

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import open_expanded
from rulewright_runtime.strict_json import UNDECODED, Json
from rulewright_runtime.transcripts.containers import MAX_DOCUMENT, Row, as_record
from rulewright_runtime.transcripts.messages import SPEAKERS, Conversation, Transcript
from rulewright_runtime.transcripts.readers import LINES, format_of, has_turns, is_turns, not_json, unknown
from rulewright_runtime.transcripts.readers.columns import FIELDS, Columns, value_at
from rulewright_runtime.transcripts.readers.mapped_records import (
    answer_format,
    lines_format,
    mapped_format,
    speakers_in,
    text_format,
)
from rulewright_runtime.transcripts.readers.openai import FORMAT as OPENAI
from rulewright_runtime.transcripts.readers.openai import LISTS, SHAREGPT, listed
from rulewright_runtime.transcripts.readers.plain_text import SPEAKERS as TEXT_SPEAKERS
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    object_in,
    parsed,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import AGENT, BOTS, Format, bot_in, related
from rulewright_runtime.transcripts.readers.table_rows import format_for
from rulewright_runtime.transcripts.slack import is_slack, slack_message
from rulewright_runtime.transcripts.turn_lines import NO_TURNS, Loose, conversation_of, stem, transcript_of

_PAGES: Final = ("data", "conversations", "chats", "records")  # the keys of a page's records
_NEXT: Final = (
    "has_more", "hasMore", "next", "next_page", "nextPage", "next_cursor", "nextCursor", "next_page_token",
    "nextPageToken",
)  # fmt: skip
_BLOCK: Final = 2**20  # bytes that are searched at once for a bot
_OVERLAP: Final = 200  # bytes of a key and its value


class Chats:
    """The conversations among the records of one file."""

    def __init__(
        self,
        path: str,
        columns: Mapping[str, str],
        used: set[str],
        labels: set[str],
        size: int,
        file: str,
        *,
        tabular: bool,
        part: bool,
    ) -> None:
        """`path` is that of the `file` as it is shown; from Python, it is empty. `columns` maps fields to the
        columns of a table; those that a record has are added to `used`, and names in a text that may be speakers to
        `labels`. Records are joined only if `size` (bytes) is not too large. All rows of a `tabular` file have the same
        columns. A `part` is not the start of its file.
        """
        self._path = path
        self._columns = Columns(columns, used, labels, self._bot_in_texts)
        self._mapped = mapped_format(self._columns) if "messages" in columns else None
        self._size = size
        self._file = file
        self._tabular = tabular
        self._part = part
        self._table: Format | None = None
        self._pending: dict[str, tuple[Format, list[tuple[int, Record]]]] = {}
        self._broken: InputError | None = None
        self._last_name = ("", 0)  # given to a conversation without an id, and how many have it

    def read(self, rows: Iterable[Row]) -> Iterator[Transcript | InputError]:
        """Yield the conversations, or why a record is refused; those with joined records come last."""
        has_single = self._part  # a record of this file is a whole conversation
        empty = not self._part
        for number, row in self._unpaged(rows):
            is_first, empty = empty, False
            if isinstance(row, InputError):
                self._broken = self._broken or row
                yield row
                continue
            record = self._columns.with_paths(_decoded_lists(row))
            try:
                format = self._format(record)
            except ShapeError as wrong:
                unlisted = next((f"`{key}` is empty" for key in LISTS if key in record and record[key] is None), None)
                unlisted = unlisted or not_json(record)
                is_every_row = self._tabular and is_first and not unlisted and _is_flat(record)
                yield self._refused(unlisted or str(wrong), 1 if is_every_row else number)
                if is_every_row:
                    return
                continue
            if format is None:
                yield self._native(record, number)
            elif not format.joins:
                has_single = True
                person = self._agent_beside_a_bot(record)
                yield from [self._refused(person, number)] if person else self._named(format, [(number, record)])
            elif self._size > MAX_DOCUMENT:
                reason = f"the file has {self._size} bytes; at most {MAX_DOCUMENT} are joined to conversations"
                yield InputError(reason, self._path, number)
                if not has_single:  # the file is one session or one trace
                    return
            else:
                self._pending.setdefault(format.name, (format, []))[1].append((number, record))
        if empty:
            yield InputError("the file is empty: a transcript needs at least one turn", self._path, 1)
        yield from self._joined()

    def joins(self, line: bytes) -> bool:
        """Whether a record in the line may be a part of a conversation of several records."""
        try:
            row = as_record(msgspec.json.decode(line), self._path, 0)
        except UNDECODED:
            return False
        records = [each for _, each in self._unpaged([(0, row)]) if not isinstance(each, InputError)]
        return any(self._may_join(self._columns.with_paths(_decoded_lists(each))) for each in records)

    def _may_join(self, record: Record) -> bool:
        try:
            format = self._format(record)
        except ShapeError:
            return False
        return format is not None and format.joins

    def _unpaged(self, rows: Iterable[Row]) -> Iterator[Row]:
        mapped = self._columns.mapping.get("messages", "").partition("+")[0]
        return _unpaged(rows, self._path, mapped, is_whole=not self._part)

    def _joined(self) -> Iterator[Transcript | InputError]:
        for format, records in self._pending.values():
            if self._broken is not None:
                reason = f"a conversation of this file may lack its line {self._broken.line}, which was refused"
                yield InputError(reason, self._path, records[0][0])
            else:
                yield from self._named(format, records)

    def _format(self, row: Record) -> Format | None:
        """The format of a row; a column mapping takes precedence. Raises ShapeError for a table of unknown columns."""
        if self._mapped is not None:
            return self._mapped
        is_mapped = self._tabular and self._columns.mapping and _is_flat(row)
        found = (None if is_mapped else format_of(row)) or self._format_of_table(row)
        if found is LINES:
            return lines_format(self._columns, row) or found
        is_openai = found is not None and found.name == "openai"
        return (answer_format(self._columns, row) if is_openai else None) or found

    def _format_of_table(self, row: Record) -> Format | None:
        """The format of a row by its columns. Raises ShapeError if a table's columns hold no conversation."""
        if self._tabular and not isinstance(row.get("turns"), list):
            self._table = self._table or self._format_for(row)
            return self._table
        try:
            is_row = _is_flat(row) or self._columns.has_path(row)
            return self._format_for(row) if is_row and not is_turns(row) else None
        except ShapeError:
            if self._columns.mapping:
                raise
            return None

    def _format_for(self, row: Record) -> Format:
        """The format of a row by its columns, or of the only text in it that is a chat. Raises ShapeError."""
        try:
            return format_for(self._columns.of(list(row)), self._columns)
        except ShapeError:
            if not self._columns.mapping and any(map(_holds_records, row.values())):
                raise ShapeError(unknown(row)) from None
            if (found := text_format(self._columns, row)) is None:
                raise
            return found

    def _native(self, row: Record, number: int) -> Transcript | InputError:
        if not is_turns(row):
            return self._refused(unknown(row), number)
        try:
            loose = msgspec.convert(row, Loose)
        except msgspec.ValidationError as error:
            return self._refused(f"the record is refused: {error}", number)
        if loose.turns is msgspec.UNSET:
            return self._refused(NO_TURNS, number)
        found = conversation_of(loose, self._path, number, several=True)
        if isinstance(found, InputError) or loose.transcript_id is not None:
            return found
        return msgspec.structs.replace(found, id=self._numbered(found.id))

    def _numbered(self, name: str) -> str:
        """The name, with a number after its first use: a list may hold all its items on one line. The conversations of
        one name follow each other."""
        last, number = self._last_name
        self._last_name = name, (number if name == last else 0) + 1
        return name if name != last else f"{name}#{number + 1}"

    def _agent_beside_a_bot(self, record: Record) -> str:
        """Why a conversation is refused whose `agent` may be a person: others of the file have a bot. Else empty."""
        mapped = self._columns.mapping.get("messages", "")
        lists = [(mapped, "", speakers_in(self._columns, record))] if mapped else [*_speaking(record)]
        path, role, speakers = next((each for each in lists if any(map(_is_agent, each[2]))), ("", "", ()))
        if not path:
            return ""
        bot = bot_in(chain.from_iterable(each for _, _, each in lists)) or self._bot
        names = "" if mapped else f"messages={path}," + "role=from,content=value," * (role == "from")
        try:
            self._columns.refuse_agent(speakers, bot, names)
        except ShapeError as person:
            return str(person)
        return ""

    @cached_property
    def _bot(self) -> str:
        """The first speaker of a file's lists of messages who can only be the assistant; empty if there is none."""
        keys = (*FIELDS["role"], "from", self._columns.mapping.get("role", "role").rpartition(".")[2])
        names = ("|".join(map(re.escape, each)) for each in (keys, BOTS))
        return self._found(r'"(?:{})[\\"]+\s*:\s*[\\"]+({})[\\"]'.format(*names))  # also JSON within a text

    def _bot_in_texts(self) -> str:
        """The first such speaker at the beginning of a text, or of a line in one."""
        names = "|".join(set(TEXT_SPEAKERS["assistant"]) - {AGENT})
        return self._found(rf'(?:["\n]|\\n)[^a-z\n"\\]{{0,40}}({names})[*_ ]{{0,3}}:')

    def _found(self, pattern: str) -> str:
        try:
            about = os.stat(self._file)
            return _found_in(self._file, pattern, about.st_size, about.st_mtime_ns)
        except OSError:  # without a file, or the reader has reported it
            return ""

    def _refused(self, reason: str, number: int) -> InputError:
        """The refusal of a row, which may belong to a conversation of several rows."""
        refused = InputError(reason, self._path, number)
        self._broken = self._broken or refused
        return refused

    def _named(self, format: Format, records: list[tuple[int, Record]]) -> Iterator[Transcript | InputError]:
        """Yield the conversations in records, named by their ids, or else by the file and the line."""
        line = records[0][0]
        own_name = _own_name(self._path, records[0][1])
        unnamed = own_name if format.joins or not line else f"{own_name}:{line}"
        is_empty = True
        for item in _safely(format, [row for _, row in records]):
            is_empty = False
            numbered = self._numbered(unnamed)
            if isinstance(item, ShapeError):
                yield InputError(f"{item} (read as {format.name})", self._path, records[item.record][0])
                continue
            own = f"{own_name}:{item.id}" if item.id and format.local_ids else item.id
            name = own.strip() or numbered
            if not any(message.role in SPEAKERS for message in item.messages):
                reason = "the conversation has no message of a user or an assistant"
                yield InputError(reason, self._path, records[item.record][0])
            else:
                found = msgspec.structs.replace(item, id=name, messages=related(item.messages), record=0)
                yield transcript_of(found, self._path, records[item.record][0])
        if is_empty:
            yield InputError(f"the record contains no conversation (read as {format.name})", self._path, line)


def _unpaged(rows: Iterable[Row], path: str, mapped: str, *, is_whole: bool) -> Iterator[Row]:
    """Yield the rows; in place of a page of an API, which is of no format, the records that it lists. A page is refused
    where other conversations are next to them, and what follows the last page of a whole file. `mapped` is the path of
    the messages in records of any shape."""
    lists = partial(_lists_mapped, mapped) if mapped else _lists_chats
    incomplete = 0  # the line of the last page, if it is not the last one of its API
    for number, row in rows:
        key = None if isinstance(row, InputError) else _mapped_key(row, mapped) if mapped else _chats_key(row)
        if not isinstance(row, InputError) and (key is not None or isinstance(row.get("runs"), list)):
            incomplete = number if _has_more(row) else 0
        if key is None or isinstance(row, InputError):
            yield number, row
            continue
        beside = {name: value for name, value in row.items() if name != key}
        if format_of(beside) or any(map(lists, beside.values())):
            reason = f"the record also has conversations outside `{key}`; write each on a line of its own"
            yield number, InputError(reason, path, number)
        elif format_of(row):
            yield number, row
        else:
            yield from ((number, each) for each in row[key])
    if incomplete and is_whole:
        reason = "more records are on the next page of the API; write all pages to this file"
        yield incomplete, InputError(reason, path, incomplete)


def _has_more(page: Record) -> bool:
    """Whether a page of an API says that others follow."""
    about = [page, *(object_in(page.get(key)) for key in ("meta", "pages", "cursors", "pagination", "paging"))]
    numbers = (
        (first_of(each, ("page", "current_page")), first_of(each, ("totalPages", "total_pages"))) for each in about
    )
    is_early = any(isinstance(at, int) and isinstance(last, int) and at < last for at, last in numbers)
    return is_early or any(each.get(key) for each in about for key in _NEXT)


def _chats_key(row: Record) -> str | None:
    """The key under which a record lists conversations: that of a page, or any next to messages of its own."""
    page = next((key for key in _PAGES if _lists_chats(row.get(key))), None)
    if page is not None:
        return page
    own = listed(row)
    lists = (key for key, value in row.items() if key != own and isinstance(value, list) and any(map(_is_chat, value)))
    key = next(lists, None)
    return key if key is not None and format_of(row) in (OPENAI, SHAREGPT) else None


def _speaking(record: Record, before: str = "", depth: int = 4) -> Iterator[tuple[str, str, list[Json]]]:
    """Yield the path of each list of messages in a record, the key of their speakers, and these."""
    for key, value in record.items():
        first = value[0] if is_list(value) and value else None
        role = next((each for each in ("role", "from") if each in first), "") if isinstance(first, dict) else ""
        if role and is_list(value):
            yield before + key, role, [each.get(role) for each in value if isinstance(each, dict)]
        elif isinstance(value, dict) and depth:
            yield from _speaking(value, f"{before}{key}.", depth - 1)


@lru_cache(maxsize=16)
def _found_in(file: str, pattern: str, size: int, changed: int) -> str:
    """The group of a pattern, in any case, in a file of this `size`; read once for all pieces of a large file."""
    with open_expanded(file) as stream:
        found = next(filter(None, map(re.compile(pattern.encode(), re.IGNORECASE).search, _blocks(stream))), None)
    return found[1].decode() if found else ""


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a stream in blocks, each after the end of the one before it: a line may be larger than the memory."""
    before = b""
    while block := stream.read(_BLOCK):
        yield before + block
        before = block[-_OVERLAP:]


def _is_agent(speaker: object) -> bool:
    return word(speaker).strip().lower() == AGENT


def _own_name(path: str, record: Record) -> str:
    """The name of a file, with that of its folder for a day of a channel in an export of Slack."""
    channel = os.path.basename(os.path.dirname(path)) if is_slack(record) else ""
    return f"{channel}-{stem(path)}" if channel else stem(path)


def _is_chat(value: object) -> bool:
    """Whether it is a conversation of its own, and no message, answer or item of one."""
    return isinstance(value, dict) and (listed(value) is not None or has_turns(value) or SHAREGPT.recognises(value))


def _lists_chats(value: object) -> bool:
    """Whether it is a list of conversations; a list of messages, which may be in any order, is not one."""
    return _is_page(value) and format_of(value[0]) not in (None, LINES)


def _mapped_key(row: Record, path: str) -> str | None:
    """The key under which a record without messages under this path lists records with them."""
    is_one = value_at(row, path) is not None
    return None if is_one else next((key for key, value in row.items() if _lists_mapped(path, value)), None)


def _lists_mapped(path: str, value: object) -> bool:
    """Whether it is a list of records whose messages are under this path."""
    return _is_page(value) and any(value_at(each, path) is not None for each in value)


def _is_page(value: object) -> TypeGuard[list[Record]]:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _decoded_lists(row: Record) -> Record:
    """The record, with a list of messages in place of its JSON text, as which tables hold it, or with its speaker."""
    texts = {key: value for key in LISTS if isinstance(value := row.get(key), str) and value.lstrip()[:1] == "["}
    decoded = {key: parsed(text) for key, text in texts.items()}
    if decoded:
        return {**row, **{key: value for key, value in decoded.items() if isinstance(value, list)}}
    return slack_message(row)


def _safely(format: Format, records: list[Record]) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations that the format reads; a record that is nested too deeply is refused as a whole."""
    try:
        yield from format.read(records)
    except ShapeError as wrong:
        yield wrong
    except RecursionError:
        yield ShapeError("the record is nested too deeply")


def _holds_records(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, dict) for each in value))


def _is_flat(row: Record) -> bool:
    """Whether a record may be a row of a table: texts, numbers and lists of texts under names."""
    lists = [value for value in row.values() if isinstance(value, dict | list)]
    return all(isinstance(value, list) and all(isinstance(each, str) for each in value) for value in lists)
