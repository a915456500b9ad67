"""Records of files, read one at a time: JSON lines, arrays of any length, objects that hold a list, rows of CSV."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from typing import IO, Any, Final

import msgspec
from msgspec import Struct, field

from rulewright_runtime.english import plural, reason_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.files.json_scanner import BOM, CHUNK, MAX_RECORD, JsonScanner, end_of_value
from rulewright_runtime.strict_json import (
    UNDECODED,
    DoubledKeyError,
    Json,
    JsonObject,
    refuse_doubled_keys,
    type_message,
)
from rulewright_runtime.transcripts.containers import TABLES, csv_rows

LIST_KEYS: Final = dict.fromkeys(("test_cases", "cases", "scenarios", "tests", "items", "results", "outputs"))
PLAN_KEYS: Final = ("batch_strategy", "batch_plan")  # the generation plan in a batch file of the specification
_MAX_KEYS: Final = 1000  # of an object around a list
CASE_FOLDERS: Final = ("cases", "test_cases")  # of a project
OUTPUT_FOLDER: Final = "outputs"  # next to the cases, or in their folder
CASE_SETTINGS_FILE: Final = "safe.config.json"  # which may hold comments
CASE_KEYS: Final = frozenset({"test_id", "expectations", "test_case", "engine_output"})
_TAG: Final = re.compile(r"\[([A-Za-z][\w-]*)\]")
_WORD: Final = re.compile(r"([A-Za-z][\w-]*)")
_LINES: Final = frozenset({".jsonl", ".ndjson"})
SUFFIXES: Final = frozenset({".json", *_LINES, *TABLES})
COMPRESSED: Final = frozenset({".gz", ".zst", ".bz2", ".xz", ".lz4", ".br", ".zip"})  # of files that are not read


class Record(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one record and its location: a JSON path such as `$[3]`, and the line where it begins, 0 if the file
    is one record.

    `start` is its byte offset in the file, -1 for a row of CSV, whose bytes are not in the file.
    """

    data: bytes
    path: str
    line: int
    start: int


class BatchHeader(Struct, frozen=True):
    """The keys around a list of records that apply to all of them."""

    batch_id: str | None = None
    concern_id: str | None = None
    archetypes: tuple[str | None, ...] = ()  # by position

    def archetype(self, at: int) -> str | None:
        """Return the archetype of the record at this position, or None."""
        return self.archetypes[at] if at < len(self.archetypes) else None


def records_of(file: str) -> tuple[BatchHeader, Iterator[Record | InputError]]:
    """Return the header of a file and its records, lazily. A file that can't be read yields one InputError.

    Arrays, lists in an object and JSON lines take little memory however long they are; a single record is refused when
    it is longer than `MAX_RECORD`.
    """
    if os.path.splitext(file)[1].lower() in COMPRESSED:
        return BatchHeader(), iter([InputError("compressed cases and outputs are not read; expand the file", file)])
    try:
        if os.path.splitext(file)[1].lower() in _LINES:
            return BatchHeader(), _lines(file)
        if os.path.splitext(file)[1].lower() in TABLES:
            return BatchHeader(), _rows(file)
        with open_regular(file) as stream:
            scanner = JsonScanner(stream)
            if scanner.follows(b"["):
                return BatchHeader(), elements_of(file)
            start, data = scanner.offset, scanner.rest
        if len(data) < CHUNK and LIST_KEYS.keys().isdisjoint(_keys(data) or LIST_KEYS):
            return BatchHeader(), iter([Record(data, "$", 0, start)])
        outline = outline_of(file, LIST_KEYS, ("batch_id", "concern_id", *PLAN_KEYS))
        if outline is not None and outline.lists:
            return _header(outline.values), _list_records(file, outline)
        return BatchHeader(), _single_record(file)
    except DoubledKeyError as error:
        return BatchHeader(), iter([InputError(syntax_message(error), file)])
    except OSError as error:
        return BatchHeader(), iter([InputError(reason_of(error), file)])


def _lines(file: str) -> Iterator[Record | InputError]:
    try:
        yield from _lines_of(open_regular(file), file)
    except OSError as error:
        yield InputError(reason_of(error), file)


def _lines_of(opened: IO[bytes], file: str) -> Iterator[Record | InputError]:
    start, is_empty = 0, True
    with opened as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_RECORD + 1), b""), 1):
            if len(line) > MAX_RECORD:
                yield InputError(f"the line is longer than {MAX_RECORD} bytes", file, number)
                return
            if number == 1:
                start = len(line) - len(line.removeprefix(BOM))
                line = line[start:]
            if line.strip():
                is_empty = False
                yield Record(line, "$", number, start)
            start += len(line)
    if is_empty:
        yield InputError("the file is empty", file)


def _rows(file: str) -> Iterator[Record | InputError]:
    """Yield the rows of a table as objects: a dot in the name of a column separates nested keys."""
    is_empty = True
    try:
        for number, row in csv_rows(file, file, MAX_RECORD):
            is_empty = False
            yield row if isinstance(row, InputError) else _row_record(row, file, number)
    except OSError as error:
        yield InputError(reason_of(error), file)
        return
    if is_empty:
        yield InputError("the table has no rows", file)


def _row_record(row: JsonObject, file: str, number: int) -> Record | InputError:
    nested: JsonObject = {}
    for column, cell in row.items():
        *parents, key = column.split(".")
        target: Json = nested
        for name in parents:
            target = target.setdefault(name, {}) if isinstance(target, dict) else target
        if cell and (not isinstance(target, dict) or key in target):
            return InputError(f"the column `{column}` and another one contain the same key", file, number)
        if cell:
            target[key] = _cell_value(cell)
    return Record(msgspec.json.encode(nested), "$", number, -1)


def _cell_value(cell: str) -> Json:
    """The value of a list, an object or a text in JSON; any other cell is a text."""
    try:
        return msgspec.json.decode(cell, type=Json) if cell.startswith(("[", "{", '"')) else cell
    except UNDECODED:
        return cell


def _list_records(file: str, outline: Outline) -> Iterator[Record | InputError]:
    """Yield an error for every further list of cases in an object, then the records of the first list."""
    first = next(key for key in LIST_KEYS if key in outline.lists)
    others = [key for key in outline.lists if key != first and _holds_cases(file, outline.lists[key])]
    for key in (*others, *outline.unread):
        yield InputError(
            f"$.{key}: contains cases, but only those in `{first}` are read; keep one list in a file", file
        )
    yield from elements_of(file, outline.lists[first], f"$.{first}")


def _holds_cases(file: str, start: tuple[int, int]) -> bool:
    return any(isinstance(each, Record) and _is_case(each.data) for each in elements_of(file, start))


def _single_record(file: str) -> Iterator[Record | InputError]:
    """Yield the only record of a file, the JSON lines of a file with another suffix, or an InputError."""
    with open_regular(file) as stream:
        content = stream.read(MAX_RECORD + 1)
    data = content.removeprefix(BOM)
    if not data.strip():
        yield InputError("the file is empty", file)
    elif len(data) > MAX_RECORD:
        message = f"more than {MAX_RECORD} bytes that are neither a list, an object that contains one, nor JSON lines"
        yield from _lines(file) if _is_json_lines(data) else [InputError(message, file)]
    else:
        try:
            msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            yield Record(data, "$", 0, len(content) - len(data))
        except msgspec.ValidationError:
            yield InputError("$: must be an array or an object of cases", file)
        except UNDECODED as error:
            yield from _lines(file) if _is_json_lines(data) else [InputError(syntax_message(error), file)]


def _is_json_lines(data: bytes) -> bool:
    """Whether the first line is an object and more lines follow."""
    first, _, rest = data.partition(b"\n")
    return bool(rest.strip() and _keys(first))


def _keys(data: bytes | msgspec.Raw) -> Collection[str]:
    """Return the keys of an object; empty for any other data."""
    try:
        return msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except UNDECODED:
        return ()


def _is_case(data: bytes | msgspec.Raw) -> bool:
    """Whether a record has a key of cases or outputs."""
    return not CASE_KEYS.isdisjoint(_keys(data))


def _header(values: Mapping[str, bytes]) -> BatchHeader:
    """Read the header from the `values` of the object around a list."""
    archetypes: tuple[str | None, ...] = ()
    for key in PLAN_KEYS:
        try:
            plan = msgspec.json.decode(values.get(key, b"{}"), type=_BatchPlan)
        except UNDECODED:
            continue
        archetypes = archetypes or tuple(map(_archetype, plan.scenarios))
    return BatchHeader(_text(values.get("batch_id")), _text(values.get("concern_id")), archetypes)


class _BatchPlan(msgspec.Struct):
    """The generation plan in a batch file of the specification: the scenario of each case, in order."""

    scenarios: list[Any] = []


def _archetype(scenario: object) -> str | None:
    """Return the archetype of a scenario: its key, a tag such as `[Safety_Signal]` in its text, or the text itself."""
    if isinstance(scenario, dict):
        name = scenario.get("archetype")
        return name if isinstance(name, str) and name else None
    if not isinstance(scenario, str):
        return None
    match = _TAG.search(scenario) or _WORD.fullmatch(scenario.strip())
    return match[1] if match else None


class Outline(Struct):
    """The parts of an object that are needed without keeping it in memory: some of its values, the offset and line of
    each of its lists, the names of other lists that hold cases, and all keys."""

    values: dict[str, bytes] = field(default_factory=dict)
    lists: dict[str, tuple[int, int]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def outline_of(file: str, lists: Container[str], values: Container[str]) -> Outline | None:
    """Return the outline of the object in `file`: the offsets of `lists` and the other `values`. None for malformed
    JSON, for no object, and for too many keys or too long values. Raises DoubledKeyError for a duplicate key."""
    outline = Outline()
    with open_regular(file) as stream:
        scanner = JsonScanner(stream)
        try:
            for _ in scanner.entries(b"{", b"}"):
                _scan_entry(scanner, outline, lists, values)
        except DoubledKeyError:
            raise
        except UNDECODED:
            return None
        return outline if scanner.ended else None


def _scan_entry(scanner: JsonScanner, outline: Outline, lists: Container[str], values: Container[str]) -> None:
    key = msgspec.json.decode(scanner.value(), type=str)
    scanner.take(b":")
    if key in outline.keys:
        raise DoubledKeyError(key)
    outline.keys.add(key)
    if len(outline.keys) > _MAX_KEYS:
        raise msgspec.DecodeError("more keys than an object around a list has")
    if key in lists and scanner.follows(b"["):
        outline.lists[key] = scanner.offset, scanner.line
        for _ in scanner.entries(b"[", b"]"):
            scanner.value()
        return
    value = scanner.value()
    refuse_doubled_keys(value)
    if key in values:
        outline.values[key] = value
    elif value[:1] == b"[" and any(map(_is_case, msgspec.json.decode(value, type=list[msgspec.Raw]))):
        outline.unread.append(key)


def _text(raw: bytes | None) -> str | None:
    if raw is None:
        return None
    try:
        return str(msgspec.json.decode(raw, type=str | int))
    except UNDECODED:
        return None


def elements_of(file: str, start: tuple[int, int] = (0, 1), path: str = "$") -> Iterator[Record | InputError]:
    """Yield the elements of the array at `start`, an offset and a line of `file`, without reading it as a whole. `path`
    is its JSON path; `$` means that the array is the whole file. A malformed element ends where its brackets are
    balanced. Missing or extra commas yield an error, and the following elements are still read."""
    count = 0
    with open_regular(file) as stream:
        scanner = JsonScanner(stream, *start)
        scanner.take(b"[")
        while True:
            commas = 0
            while scanner.follows(b","):
                scanner.take(b",")
                commas += 1
            is_last = scanner.follows(b"]")
            if commas != (count > 0 and not is_last) and not scanner.ended:
                where = "after the last element" if is_last else f"before `{path}[{count}]`"
                yield InputError(f"malformed JSON: {commas or 'no'} comma{'s' * (commas > 1)} {where}", file)
            if is_last:
                break
            offset, line = scanner.offset, scanner.line
            try:
                yield Record(scanner.value(broken=True).rstrip(), f"{path}[{count}]", line, offset)
            except msgspec.DecodeError:
                yield from _unclosed_end(file, scanner.rest, f"{path}[{count}]", (offset, line), count)
                return
            count += 1
        scanner.take(b"]")
        if path == "$" and not scanner.ended:
            yield InputError("unexpected text after the end of the array", file)


def _unclosed_end(
    file: str, rest: bytes, path: str, start: tuple[int, int], count: int
) -> Iterator[Record | InputError]:
    """Yield the last element of an array that is never closed, if it is complete, and an error."""
    if len(rest) > MAX_RECORD:
        yield InputError(f"{path}: is longer than {MAX_RECORD} bytes", file)
        return
    if rest.strip() and end_of_value(rest + b",", 0):  # complete: only the end of the array is missing
        offset, line = start
        yield Record(rest.rstrip(), path, line, offset)
        count += 1
    yield InputError(f"the file ends inside the array, after {plural(count, 'element')}", file)


def syntax_message(error: Exception) -> str:
    """Return our message for an error of the JSON parser."""
    text = str(error)
    match = re.search(r"byte (\d+)", text)
    where = f" at byte {match.group(1)}" if match else ""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, DoubledKeyError):
        return text
    if "truncated" in text:
        return "the JSON ends too early"
    return f"malformed JSON{where}"


def decode_message(error: Exception, parents: tuple[str, ...] = ()) -> str:
    """Return our message for an error of decoding a record, with the path of the value; `parents` are the keys that
    lead to the decoded part."""
    wrong = type_message(error, parents)
    if wrong is None:
        return syntax_message(error)
    return wrong + ('; write it like `["fever", "cough"]`' if wrong.endswith("must be a list, not a text") else "")


def with_path(path: str, message: str) -> str:
    """Prefix a message with the path of its record; the only record of a file or line needs no path."""
    return message if path == "$" else f"{path}: {message}"


def id_of(value: Any) -> str | None:
    """Return an id as a string, from a non-empty string or an integer; None for any other value."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def json_files(folder: str, unread: Counter[str] | None = None) -> Iterator[str]:
    """Yield the files of JSON and JSON lines below a folder, unordered, so that very many need no memory; compressed
    ones, too, which are refused when they are read. Links to folders are followed, and no folder is read twice. Other
    files are added to `unread`, by kind, unless their names begin with a dot.

    Raises InputError for a folder that can't be read, whose cases would otherwise be missing without notice.
    """
    folders, links, seen = [folder], list[str](), set[str]()
    while folders or links:
        links.sort(reverse=True)
        current = folders.pop() if folders else links.pop()
        real = os.path.realpath(current)
        if real in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if entry.is_dir():
                        (links if entry.is_symlink() else folders).append(entry.path)
                    elif _suffix(entry.name) in SUFFIXES:
                        yield entry.path
                    elif unread is not None and not entry.name.startswith("."):
                        unread[f"`{ending}`" if (ending := _suffix(entry.name)) else "without a suffix"] += 1
        except OSError as error:
            raise InputError(reason_of(error), current) from None


def _suffix(name: str) -> str:
    """The suffix of a file's name, in lower case; of a compressed file that of the name before."""
    stem, suffix = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSED else suffix
