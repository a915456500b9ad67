"""Containers: the records of JSON lines, a JSON document or a CSV file, each with its line number."""

from __future__ import annotations

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, time
from decimal import Decimal
from io import BufferedReader
from itertools import chain
from typing import BinaryIO, Final, cast
from uuid import UUID

from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import ENDINGS, is_compressed, open_expanded
from rulewright_runtime.files.json_scanner import BOM, MAX_RECORD, JsonScanner
from rulewright_runtime.strict_json import UNDECODED, Json, JsonObject, decode, why_not

Row = tuple[int, JsonObject | InputError]

MAX_DOCUMENT: Final = 64 * 2**20  # bytes that are read as a whole: a session, a member of an archive
UTF_16: Final = "UTF-16 text; save it as UTF-8"
_NOT_UTF_8: Final = "is not UTF-8 text; save the file as UTF-8"
_SIGNATURES: Final = (  # the first bytes of a file, its container, and what it is called where lines are expected
    (b"PK\x03\x04", "zip", "a zip archive"),
    (b"PAR1", "parquet", "a Parquet file"),
    (b"ARROW1", "arrow", "an Arrow file"),
    (b"\xff\xff\xff\xff", "arrow", "an Arrow file"),
    (b"\xff\xfe", "json", UTF_16),
    (b"\xfe\xff", "json", UTF_16),
)
_HEAD: Final = 4096  # the bytes that say what a file contains, after white space
_JSON: Final = re.compile(rb"\s*(\{|\[(?![\w\x80-\xff]))")  # a list of chats, not the time of a message
_SEPARATOR: Final = re.compile('"?sep=."?', re.IGNORECASE)  # a note for spreadsheets
TABLES: Final = (".csv", ".tsv")
TEXTS: Final = (".txt", ".log", ".md", ".markdown", ".vtt", ".srt")
_OF_JSON: Final = ("", ".json", ".jsonl", ".ndjson", ".part")
_OPENS_LINES: Final = (b"{", b"[", b",", b":")  # the end of a document's line that continues on the next


def numbered_lines(stream: BinaryIO, path: str, limit: int, first: int = 1) -> Iterator[tuple[int, bytes | InputError]]:
    """Yield the lines that are not blank, numbered from `first`; one that is too long is skipped and refused."""
    number = first - 1
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            yield number, too_long(rest_of_line(stream, line, limit), limit, path, number)
            continue
        if number == 1:
            line = line.removeprefix(BOM)
        if b"\0" in line:
            kind = next((kind for mark, _, kind in _SIGNATURES if line.startswith(mark)), "a binary file")
            yield number, InputError(f"this is {kind}" + ", not JSON lines" * (kind != UTF_16), path, number)
            if number == 1 and line.lstrip()[:1] not in (b"{", b"["):
                return
            continue
        if line.strip():
            yield number, line
        else:
            number += blank_lines(stream).count(b"\n")


def blank_lines(stream: BinaryIO) -> bytes:
    """The blank lines that follow in the stream's buffer, which are skipped at once: a file may hold millions."""
    ahead = stream.peek() if isinstance(stream, BufferedReader) else b""
    return stream.read(ahead.rfind(b"\n", 0, len(ahead) - len(ahead.lstrip())) + 1)


def rest_of_line(stream: BinaryIO, start: bytes, limit: int) -> int:
    """Skip the rest of a line after its `start`, `limit` bytes at a time; returns the size of the whole line."""
    size = len(start)
    while more := stream.readline(limit):
        size += len(more)
        if more.endswith(b"\n"):
            break
    return size


class LongLineError(InputError):
    """A line is longer than the limit."""


def too_long(size: int, limit: int, path: str, number: int) -> InputError:
    """Why a line of more than `limit` bytes is refused."""
    return LongLineError(f"the line has {size} bytes; at most {limit} are read", path, number)


def unreadable(error: OSError, path: str) -> InputError:
    """Why a file, or the rest of it, is refused."""
    return InputError(f"the file can't be read: {reason_of(error)}", path)


def until_unreadable(
    lines: Iterable[tuple[int, bytes | InputError]], path: str
) -> Iterator[tuple[int, bytes | InputError]]:
    """Yield the lines, and an InputError after the last readable one if reading fails."""
    try:
        yield from lines
    except OSError as error:
        yield 0, unreadable(error, path)


def kind_of(path: str) -> str:
    """The container of a file, by its first bytes and its name: `zip`, `parquet`, `arrow`, `csv`, `text` or `json`."""
    with open_expanded(path) as stream:
        head = stream.read(8)
        head += b"" if len(head.removeprefix(BOM).strip()) > 1 else stream.read(_HEAD)  # `_JSON` needs two bytes
    if not is_compressed(path):  # a compressed file is a text; anything else is refused at its first line
        for mark, kind, _ in _SIGNATURES:
            if head.startswith(mark):
                return kind
    suffix = suffix_of(path)
    if _JSON.match(head.removeprefix(BOM)):
        return "json"
    return "csv" if suffix in TABLES else "text" if suffix in TEXTS else "json"


def refused_as_a_whole(path: str, shown: str) -> InputError | None:
    """Why a file that neither its name nor its first character says to be JSON is refused, in place of each of its
    lines; None for any other file. Raises OSError."""
    ending = suffix_of(path)
    if ending in _OF_JSON:
        return None
    with open_expanded(path) as stream:
        lines = numbered_lines(stream, shown, MAX_RECORD)
        number, first = next(lines, (0, b"{"))
    if isinstance(first, InputError) or first.lstrip()[:1] in (b"{", b"["):
        return None
    expected = "expected JSON lines, JSON, a table, or a text whose lines begin with a speaker"
    cure = "; write each message of an email as `user: TEXT` or `assistant: TEXT` in a `.txt` file"
    expected += cure * (ending in (".eml", ".mbox", ".msg"))
    return InputError(f"`{ending}` is not read; {expected}", shown, number)


def suffix_of(path: str) -> str:
    """The suffix of a file's name without that of a compression, in lower case."""
    return os.path.splitext(without_compression(path))[1].lower()


def without_compression(path: str) -> str:
    """The path without the suffix of a compression."""
    return next((path[: -len(ending)] for ending in ENDINGS if path.lower().endswith(ending)), path)


def rows(path: str, shown: str, limit: int) -> Iterator[Row]:
    """Yield the records of JSON lines or a JSON document, or why one is refused. Raises OSError."""
    if is_document(path, shown, limit):
        yield from _document(path, shown)
        return
    with open_expanded(path) as stream:
        yield from records(numbered_lines(stream, shown, limit), shown)


def records(lines: Iterable[tuple[int, bytes | InputError]], shown: str) -> Iterator[Row]:
    """Yield the records in numbered lines of JSON, or why one is refused."""
    for number, line in lines:
        value = line if isinstance(line, InputError) else decoded(line, shown, number)
        yield number, as_record(value, shown, number)


def as_record(value: object, shown: str, number: int, what: str = "the line") -> dict[str, object] | InputError:
    """A decoded value, which an error calls `what`, as a record; a list of messages becomes a conversation."""
    if isinstance(value, dict | InputError):
        return value
    if is_messages(value):
        return {"messages": value}
    return InputError(f"{what} must be one JSON object", shown, number)


def is_messages(value: object) -> bool:
    """Whether it is a list of messages, which is one conversation."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    has_role = "role" in value[0] or value[0].get("type") in ("human", "ai")  # of LangChain
    return has_role and not {"turn", "turns"} & value[0].keys()


def decoded(data: bytes, shown: str, number: int, what: str = "the line") -> Json:
    """The JSON value in `data`, which an error calls `what`, or why it is refused."""
    try:
        return decode(data)
    except UNDECODED as error:
        return InputError(why_not(error, data, what), shown, number)


def finite(value: object) -> Json:
    """A value of Python as one of JSON: null for NaN and infinite numbers, which stand for no number in tables, and
    dates, times, decimal numbers and the like as texts."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, date | time):
        return None if (text := value.isoformat()) == "NaT" else text
    if isinstance(value, Decimal | UUID):
        return None if (text := str(value)) == "NaN" else text
    return None if isinstance(value, float) and not math.isfinite(value) else cast("Json", value)


def is_document(path: str, shown: str, limit: int) -> bool:
    """Whether the file is one JSON document over several lines, or a list on its only line."""
    with open_expanded(path) as stream:
        lines = numbered_lines(stream, shown, limit)
        _, first = next(lines, (0, b""))
        if isinstance(first, InputError):
            return isinstance(first, LongLineError) and suffix_of(path) == ".json"
        start = first.lstrip()[:1]
        if start == b"[" and next(lines, None) is None:
            return True
        return start in (b"{", b"[") and first.rstrip().endswith(_OPENS_LINES)


def _document(path: str, shown: str) -> Iterator[Row]:
    """Yield the records of a document: the items of a list, or consecutive objects."""
    item = 0
    with open_expanded(path) as stream:
        scanner = JsonScanner(stream)
        is_list = scanner.follows(b"[")
        for item, (number, value) in enumerate(scanner.values(), 1):
            what = f"item {item}"
            record = decoded(value, shown, number, what)
            if item == 1 and is_list and is_messages([record]):
                break
            large = InputError(f"{what} has more than {MAX_RECORD} bytes", shown, number)
            yield number, large if len(value) > MAX_RECORD else as_record(record, shown, number, what)
        else:
            if not item:
                yield 1, InputError("the document contains no records", shown, 1)
            return
    yield 1, as_record(_whole(path, shown), shown, 1)


def _whole(path: str, shown: str) -> Json:
    """The value of a document, or why it is refused."""
    with open_expanded(path) as stream:
        data = stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        return InputError(f"the conversation has more than {MAX_DOCUMENT} bytes", shown, 1)
    return decoded(data.removeprefix(BOM), shown, 1, "the document")


def csv_rows(path: str, shown: str, limit: int) -> Iterator[Row]:
    """Yield the rows of a CSV or TSV file as records. Raises OSError."""
    with open_expanded(path) as stream:
        csv.field_size_limit(max(limit, csv.field_size_limit()))
        undecoded: list[int] = []
        lines = _texts(stream, shown, limit, undecoded)
        try:
            header = next(lines, "")
            if undecoded:
                raise InputError(f"the header {_NOT_UTF_8}", shown, 1)
            delimiter = "\t" if suffix_of(path) == ".tsv" else delimiter_of(header)
            reader = csv.DictReader(chain([header], lines), delimiter=delimiter, strict=True, restkey="")
            names = Counter(reader.fieldnames or ())
        except csv.Error as error:
            is_old = "\r" in header.rstrip("\r\n")
            reason = "the lines end with CR alone; save the file with other line ends" if is_old else error
            yield 1, InputError(f"the header is not CSV: {reason}", shown, 1)
            return
        except InputError as refused:
            yield refused.line, refused
            return
        if _SEPARATOR.fullmatch(header.strip()):
            yield 1, InputError(f"the first line is not a header: remove `{header.strip()}`", shown, 1)
        elif repeated := [name for name, count in names.items() if count > 1]:
            yield 1, InputError(f"the header names the column `{repeated[0][:40]}` twice", shown, 1)
        else:
            yield from _csv_records(reader, shown, undecoded)


def delimiter_of(header: str) -> str:
    """The separator in the first line of a table: a comma, else a semicolon, as many spreadsheets write, or a tab."""
    bare = re.sub('"[^"]*"?', "", header)
    return next((each for each in ",;\t" if each in bare), ",")


def _csv_records(reader: csv.DictReader[str], shown: str, undecoded: list[int]) -> Iterator[Row]:
    """Yield the records; `undecoded` holds the lines of a row that are not UTF-8, as soon as it is read."""
    while True:
        start = reader.reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            undecoded.clear()
            yield start, InputError(f"the row is not CSV: {error}", shown, start)
            continue
        except InputError as refused:
            yield refused.line, refused
            return
        if row is None:
            return
        if undecoded:
            yield undecoded[0], InputError(f"the row {_NOT_UTF_8}", shown, undecoded[0])
            undecoded.clear()
        else:
            yield reader.line_num, _named(row, shown, reader.line_num)


def _named(row: JsonObject, shown: str, number: int) -> JsonObject | InputError:
    if "" in row and isinstance(row[""], list):
        return InputError(
            f"the row has {len(row) - 1 + len(row[''])} fields; the header names {len(row) - 1}", shown, number
        )
    return {key: value for key, value in row.items() if key}


def _texts(stream: BinaryIO, shown: str, limit: int, undecoded: list[int]) -> Iterator[str]:
    """Yield the lines as text; the numbers of those that are not UTF-8 are added to `undecoded`. Raises InputError,
    which ends the table: rows after a line that is not read are ambiguous."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if number == 1 and b"\0" in line:
            raise InputError(f"this is a binary file or {UTF_16}", shown, number)
        if len(line) > limit:
            raise InputError(f"the line has more than {limit} bytes; at most {limit} are read", shown, number)
        encoding = "utf-8-sig" if number == 1 else "utf-8"
        try:
            yield line.decode(encoding)
        except UnicodeDecodeError:
            undecoded.append(number)
            yield line.decode(encoding, "replace")  # its quotation marks are read, so that the next row is found
