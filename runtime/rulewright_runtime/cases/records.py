"""Records of JSON files, one at a time: JSON lines, arrays of any length, and objects that hold a list."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.strict_json import DoubledKeyError, refuse_doubled_keys

LIST_KEYS: Final = dict.fromkeys(("test_cases", "cases", "scenarios", "tests", "items", "results", "outputs"))
PLAN_KEYS: Final = ("batch_strategy", "batch_plan")  # what a file of the specification was made from
UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what decoding may raise
MAX_RECORD: Final = 64 * 2**20
_MOST_KEYS: Final = 1000
CASE_KEYS: Final = frozenset({"test_id", "expectations", "test_case", "engine_output"})
_TAG: Final = re.compile(r"\[([A-Za-z][\w-]*)\]")
_WORD: Final = re.compile(r"([A-Za-z][\w-]*)")
_CHUNK: Final = 1 << 18
_MARK: Final = b"\xef\xbb\xbf"  # the byte order mark that some editors write
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{},]', re.DOTALL)
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_OPENING, _CLOSING, _COMMA = frozenset(b"[{"), frozenset(b"]}"), ord(",")
_LINES: Final = frozenset({".jsonl", ".ndjson"})
SUFFIXES: Final = frozenset({".json", *_LINES})
_KINDS: Final = {"str": "a text", "array": "a list", "object": "an object", "int": "a number", "float": "a number"}
_COMPLAINT: Final = re.compile(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `([^`]*)`)?")


class Record(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one record and where it stands: a JSON path such as `$[3]`, or a line of a file of JSON lines.

    `start` is its offset in the file.
    """

    data: bytes
    path: str
    line: int
    start: int


@dataclass(frozen=True, slots=True)
class Holder:
    """What the object around a list of records says about all of them."""

    batch_id: str | None = None
    concern_id: str | None = None
    archetypes: tuple[str | None, ...] = ()  # by position

    def archetype(self, at: int) -> str | None:
        """The archetype of the record at this position, where it is said."""
        return self.archetypes[at] if at < len(self.archetypes) else None


def records_of(file: str) -> tuple[Holder, Iterator[Record | InputError]]:
    """The records of a file, lazily, and what is said about all of them. A file that can't be read is one InputError.

    Arrays, lists in an object and JSON lines take little memory however long they are; a single record is refused when
    it is longer than `MAX_RECORD`.
    """
    try:
        if os.path.splitext(file)[1].lower() in _LINES:
            return Holder(), _lines(file)
        with open_regular(file) as stream:
            pieces = Pieces(stream)
            if pieces.follows(b"["):
                return Holder(), elements_of(file)
            place, data = pieces.place, pieces.rest
        if len(data) < _CHUNK and LIST_KEYS.keys().isdisjoint(_keys(data) or LIST_KEYS):
            return Holder(), iter([Record(data, "$", 0, place)])
        outline = outline_of(file, LIST_KEYS, ("batch_id", "concern_id", *PLAN_KEYS))
        if outline is not None and outline.lists:
            return _holder(outline.values), _listed(file, outline)
        return Holder(), _whole(file)
    except DoubledKeyError as error:
        return Holder(), iter([InputError(malformed(error), file)])
    except OSError as error:
        return Holder(), iter([InputError(error.strerror or "can't be read", file)])


def _lines(file: str) -> Iterator[Record | InputError]:
    try:
        yield from _lines_of(open_regular(file), file)
    except OSError as error:
        yield InputError(error.strerror or "can't be read", file)


def _lines_of(opened: IO[bytes], file: str) -> Iterator[Record | InputError]:
    start, is_empty = 0, True
    with opened as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_RECORD + 1), b""), 1):
            if len(line) > MAX_RECORD:
                yield InputError(f"the line is longer than {MAX_RECORD} bytes", file, number)
                return
            if number == 1:
                start = len(line) - len(line.removeprefix(_MARK))
                line = line[start:]
            if line.strip():
                is_empty = False
                yield Record(line, "$", number, start)
            start += len(line)
    if is_empty:
        yield InputError("the file is empty", file)


def _listed(file: str, outline: Outline) -> Iterator[Record | InputError]:
    """The records of the first list of an object, behind a complaint about every other list of cases."""
    listed = next(key for key in LIST_KEYS if key in outline.lists)
    others = [key for key in outline.lists if key != listed and _holds_cases(file, outline.lists[key])]
    for key in (*others, *outline.unread):
        yield InputError(f"$.{key}: holds cases, but only those in `{listed}` are read; keep one list in a file", file)
    yield from elements_of(file, outline.lists[listed], f"$.{listed}")


def _holds_cases(file: str, start: int) -> bool:
    return any(isinstance(each, Record) and _is_case(each.data) for each in elements_of(file, start))


def _whole(file: str) -> Iterator[Record | InputError]:
    """The only record of a file, or JSON lines in a file that is not called so, else what is wrong with it."""
    with open_regular(file) as stream:
        read = stream.read(MAX_RECORD + 1)
    data = read.removeprefix(_MARK)
    if not data.strip():
        yield InputError("the file is empty", file)
    elif len(data) > MAX_RECORD:
        said = f"more than {MAX_RECORD} bytes that are neither a list, an object that holds one, nor JSON lines"
        yield from _lines(file) if _begins_lines(data) else [InputError(said, file)]
    else:
        try:
            msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            yield Record(data, "$", 0, len(read) - len(data))
        except msgspec.ValidationError:
            yield InputError("$: must be an array or an object of cases", file)
        except UNREADABLE as error:
            yield from _lines(file) if _begins_lines(data) else [InputError(malformed(error), file)]


def _begins_lines(data: bytes) -> bool:
    """Whether the first line is a record of its own, and others follow."""
    first, _, rest = data.partition(b"\n")
    return bool(rest.strip() and _keys(first))


def _items(data: bytes) -> list[msgspec.Raw]:
    return msgspec.json.decode(data, type=list[msgspec.Raw])


def _keys(data: bytes | msgspec.Raw) -> Collection[str]:
    """The keys of an object; none for what is no object."""
    try:
        return msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return ()


def _is_case(data: bytes | msgspec.Raw) -> bool:
    """Whether a list of such records is one of cases or outputs."""
    return not CASE_KEYS.isdisjoint(_keys(data))


def _holder(values: Mapping[str, bytes]) -> Holder:
    """What `values` of the object around a list say about all its records."""
    archetypes: tuple[str | None, ...] = ()
    for key in PLAN_KEYS:
        try:
            plan = msgspec.json.decode(values.get(key, b"{}"), type=_BatchPlan)
        except UNREADABLE:
            continue
        archetypes = archetypes or tuple(map(_archetype, plan.scenarios))
    return Holder(_text(values.get("batch_id")), _text(values.get("concern_id")), archetypes)


class _BatchPlan(msgspec.Struct):
    """What a file of the specification says of its cases: the scenario that each was made from, in their order."""

    scenarios: list[Any] = []


def _archetype(scenario: object) -> str | None:
    """The archetype of a scenario: its own key, a tag such as `[Safety_Signal]` in its text, or the text itself."""
    if isinstance(scenario, dict):
        name = scenario.get("archetype")
        return name if isinstance(name, str) and name else None
    if not isinstance(scenario, str):
        return None
    found = _TAG.search(scenario) or _WORD.fullmatch(scenario.strip())
    return found[1] if found else None


@dataclass(slots=True)
class Outline:
    """What an object holds, seen without keeping it: some of its values, where its lists begin, and other lists that
    hold cases."""

    values: dict[str, bytes] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def outline_of(file: str, lists: Container[str], values: Container[str]) -> Outline | None:
    """The outline of the object in `file`: where `lists` begin, and the other `values`. None for what is malformed, no
    object, or holds too many or too long parts. DoubledKeyError where it holds a key twice."""
    outline = Outline()
    with open_regular(file) as stream:
        pieces = Pieces(stream)
        try:
            for _ in pieces.entries(b"{", b"}"):
                _pass_entry(pieces, outline, lists, values)
        except DoubledKeyError:
            raise
        except UNREADABLE:
            return None
        return outline if pieces.ended else None


def _pass_entry(pieces: Pieces, outline: Outline, lists: Container[str], values: Container[str]) -> None:
    key = msgspec.json.decode(pieces.value(), type=str)
    pieces.take(b":")
    if key in outline.keys:
        raise DoubledKeyError(key)
    outline.keys.add(key)
    if len(outline.keys) > _MOST_KEYS:
        raise msgspec.DecodeError("more keys than an object around a list has")
    if key in lists and pieces.follows(b"["):
        outline.lists[key] = pieces.place
        for _ in pieces.entries(b"[", b"]"):
            pieces.value()
        return
    value = pieces.value()
    refuse_doubled_keys(value)
    if key in values:
        outline.values[key] = value
    elif value[:1] == b"[" and any(map(_is_case, _items(value))):
        outline.unread.append(key)


class Pieces:
    """A file of JSON that is read from value to value. DecodeError where something else stands than was expected."""

    def __init__(self, stream: IO[bytes], start: int = 0) -> None:
        """Begin at `start`, behind a byte order mark."""
        stream.seek(start)
        self._stream = stream
        self._data = stream.read(_CHUNK)
        self._at = 0 if start else len(self._data) - len(self._data.removeprefix(_MARK))
        self._offset = start

    @property
    def place(self) -> int:
        """Where in the file the next value stands."""
        return self._offset + self._at

    @property
    def rest(self) -> bytes:
        """What is read and not passed over."""
        return self._data[self._at :]

    @property
    def ended(self) -> bool:
        """Whether nothing but blanks is left; they are passed over."""
        while True:
            self._at = _BLANKS.match(self._data, self._at).end()  # type: ignore[union-attr]  # it matches nothing as well
            if self._at < len(self._data):
                return False
            if not self._more():
                return True

    def follows(self, sign: bytes) -> bool:
        """Whether `sign` comes next, after blanks."""
        return not self.ended and self._data[self._at : self._at + 1] == sign

    def take(self, sign: bytes) -> None:
        """Pass over `sign`."""
        if not self.follows(sign):
            raise msgspec.DecodeError("unexpected")
        self._at += 1

    def value(self, *, broken: bool = False) -> bytes:
        """Pass over the next value, also a `broken` one, which ends where its brackets are balanced."""
        if self.ended:
            raise msgspec.DecodeError("truncated")
        while True:
            end = _end_of_value(self._data, self._at)
            if end == self._at:
                end = _balanced(self._data, self._at) if broken else None
            if end is not None:
                start, self._at = self._at, end
                return self._data[start:end]
            if len(self._data) - self._at > MAX_RECORD or not self._more():
                raise msgspec.DecodeError("malformed")

    def entries(self, opening: bytes, closing: bytes) -> Iterator[None]:
        """Pass over the list or object that comes next, but for its entries: whoever iterates passes over each."""
        self.take(opening)
        is_first = True
        while not self.follows(closing):
            if not is_first:
                self.take(b",")
            is_first = False
            yield
        self.take(closing)

    def _more(self) -> bool:
        kept = self.rest
        more = self._stream.read(max(_CHUNK, len(kept)))
        self._data, self._offset, self._at = kept + more, self._offset + self._at, 0
        return bool(more)


def _text(raw: bytes | None) -> str | None:
    if raw is None:
        return None
    try:
        return str(msgspec.json.decode(raw, type=str | int))
    except UNREADABLE:
        return None


def elements_of(file: str, start: int = 0, path: str = "$") -> Iterator[Record | InputError]:
    """The elements of the array that stands at `start` of `file`, split without reading it as a whole; `path` leads to
    it, and only what is `$` is the whole file. An element that can't be read ends where its brackets are balanced.
    Where commas are missing or too many, an error says so and the elements behind it follow."""
    count = 0
    with open_regular(file) as stream:
        pieces = Pieces(stream, start)
        pieces.take(b"[")
        while True:
            commas = 0
            while pieces.follows(b","):
                pieces.take(b",")
                commas += 1
            is_last = pieces.follows(b"]")
            if commas != (count > 0 and not is_last) and not pieces.ended:
                where = "behind the last element" if is_last else f"before `{path}[{count}]`"
                yield InputError(f"malformed JSON: {commas or 'no'} comma{'s' * (commas > 1)} {where}", file)
            if is_last:
                break
            place = pieces.place
            try:
                yield Record(pieces.value(broken=True).rstrip(), f"{path}[{count}]", 0, place)
            except msgspec.DecodeError:
                yield from _last(file, pieces.rest, f"{path}[{count}]", place, count)
                return
            count += 1
        pieces.take(b"]")
        if path == "$" and not pieces.ended:
            yield InputError("something follows the end of the array", file)


def _last(file: str, rest: bytes, path: str, start: int, count: int) -> Iterator[Record | InputError]:
    """What is left at the end of a file whose array is never closed."""
    if len(rest) > MAX_RECORD:
        yield InputError(f"{path}: is longer than {MAX_RECORD} bytes", file)
        return
    if rest.strip() and _end_of_value(rest + b",", 0):  # whole, and only the array's end is missing
        yield Record(rest.rstrip(), path, 0, start)
        count += 1
    yield InputError(f"the file ends inside the array, after {count} elements", file)


def _end_of_value(data: bytes, at: int) -> int | None:
    """Where the value at `at` ends, which is where the decoder finds "trailing characters"; `at` itself when it can't
    be read, None when it is not all there."""
    try:
        msgspec.json.decode(memoryview(data)[at:], type=msgspec.Raw)
    except UNREADABLE as error:
        complaint = str(error)
        found = _TRAILING.search(complaint)
        if found is not None:
            return at + int(found[1]) - 1
        return None if "truncated" in complaint else at
    return None  # it reaches the end of the piece, where a number might go on


def _balanced(data: bytes, at: int) -> int | None:
    """Where the element at `at`, which can't be read, ends: behind its last bracket, or before the comma or bracket
    that follows; None when that is not in sight."""
    depth = 0
    for token in _TOKEN.finditer(data, at):
        first = data[token.start()]
        if first in _OPENING:
            depth += 1
        elif first in _CLOSING:
            depth -= 1
            if depth <= 0:
                return token.end() if depth == 0 or token.start() == at else token.start()
        elif first == _COMMA and depth == 0:
            return token.start()
    return None


def malformed(error: Exception) -> str:
    """A parser's complaint in our words."""
    text = str(error)
    found = re.search(r"byte (\d+)", text)
    where = f" at byte {found.group(1)}" if found else ""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, DoubledKeyError):
        return text
    if "truncated" in text:
        return "the JSON ends too early"
    return f"malformed JSON{where}"


def worded(error: Exception, above: tuple[str, ...] = ()) -> str:
    """A decoder's complaint about a record in our words, with the path from the record down; `above` leads to it."""
    found = _COMPLAINT.search(str(error))
    if not isinstance(error, msgspec.ValidationError) or found is None:
        return malformed(error)
    wanted = [_KINDS.get(word.strip(), word.strip()) for word in found[1].split("|") if word.strip() != "null"]
    path = ".".join((*above, (found[3] or "$").removeprefix("$").removeprefix(".")))
    where = f"`{path.removesuffix('.')}` " if path.strip(".") else ""
    return f"{where}must be {' or '.join(wanted)}, not {_KINDS.get(found[2], found[2])}"


def placed(path: str, message: str) -> str:
    """A message about the record at `path`; the only record of a file or line needs no path."""
    return message if path == "$" else f"{path}: {message}"


def id_of(value: Any) -> str | None:
    """A name as text: a text that is not empty, or a whole number."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def json_files(folder: str) -> Iterator[str]:
    """The files of JSON and JSON lines below a folder, in no order, so that of very many none has to be kept. Links to
    folders are followed, and no folder is read twice.

    InputError for a folder that can't be read: what it holds would be left out unseen.
    """
    folders, links, seen = [folder], list[str](), set[str]()
    while folders or links:
        links.sort(reverse=True)
        below = folders.pop() if folders else links.pop()
        real = os.path.realpath(below)
        if real in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(below) as entries:
                for entry in entries:
                    if entry.is_dir():
                        (links if entry.is_symlink() else folders).append(entry.path)
                    elif os.path.splitext(entry.name)[1].lower() in SUFFIXES:
                        yield entry.path
        except OSError as error:
            raise InputError(error.strerror or "can't be read", below) from None
