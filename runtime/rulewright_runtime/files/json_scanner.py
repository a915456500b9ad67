"""Values of a JSON file, scanned one by one, so that a file of any length takes little memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final

import msgspec

from rulewright_runtime.strict_json import UNDECODED

MAX_RECORD: Final = 64 * 2**20  # bytes
CHUNK: Final = 1 << 18  # bytes
BOM: Final = b"\xef\xbb\xbf"  # the byte order mark that some editors write
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[][{},]', re.DOTALL)
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_OPENING, _CLOSING, _COMMA = frozenset(b"[{"), frozenset(b"]}"), ord(",")


class JsonScanner:
    """Scans a JSON file value by value. Raises DecodeError for unexpected input."""

    def __init__(self, stream: IO[bytes], start: int = 0, line: int = 1) -> None:
        """Start at the byte `start`, in this line; a byte order mark at 0 is skipped."""
        if start:
            stream.seek(start)
        self._stream = stream
        self._data = stream.read(CHUNK)
        self._at = 0 if start else len(self._data) - len(self._data.removeprefix(BOM))
        self._chunk_offset = start
        self._line = line  # at `_counted`
        self._counted = 0

    @property
    def line(self) -> int:
        """The line of the next value."""
        self._line += self._data.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    @property
    def offset(self) -> int:
        """The byte offset of the next value in the file."""
        return self._chunk_offset + self._at

    @property
    def rest(self) -> bytes:
        """The bytes that are read but not yet scanned."""
        return self._data[self._at :]

    @property
    def ended(self) -> bool:
        """Skip whitespace; whether the end of the file is reached."""
        while True:
            self._at = _BLANKS.match(self._data, self._at).end()  # type: ignore[union-attr]  # it matches the empty text
            if self._at < len(self._data):
                return False
            if not self._more():
                return True

    def follows(self, sign: bytes) -> bool:
        """Skip whitespace; whether `sign` comes next."""
        return not self.ended and self._data[self._at : self._at + 1] == sign

    def take(self, sign: bytes) -> None:
        """Skip `sign`. Raises DecodeError."""
        if not self.follows(sign):
            raise msgspec.DecodeError("unexpected")
        self._at += 1

    def value(self, *, broken: bool = False) -> bytes:
        """Return the next value and skip it. With `broken` a malformed value ends where its brackets are balanced.
        Raises DecodeError."""
        if self.ended:
            raise msgspec.DecodeError("truncated")
        while True:
            end = end_of_value(self._data, self._at)
            if end == self._at:
                end = _balanced_end(self._data, self._at) if broken else None
            if end is not None:
                start, self._at = self._at, end
                return self._data[start:end]
            if len(self._data) - self._at > MAX_RECORD or not self._more():
                raise msgspec.DecodeError("malformed")

    def entries(self, opening: bytes, closing: bytes) -> Iterator[None]:
        """Scan the next list or object. Yields before each entry, which the caller has to scan."""
        self.take(opening)
        is_first = True
        while not self.follows(closing):
            if not is_first:
                self.take(b",")
            is_first = False
            yield
        self.take(closing)

    def values(self) -> Iterator[tuple[int, bytes]]:
        """Yield each item of a list, or else each value at the top level, with its line; also broken ones."""
        is_list = self.follows(b"[")
        if is_list:
            self.take(b"[")
        while True:
            while self.follows(b","):
                self.take(b",")
            if is_list and self.follows(b"]"):
                self.take(b"]")
                break
            if self.ended:
                yield from [(self.line, b"[")] * is_list  # the list never ends
                return
            line = self.line
            try:
                yield line, self.value(broken=True).rstrip()
            except msgspec.DecodeError:  # the last one; it is broken, or only the end of the list is missing
                last, self._at = self.rest.rstrip(), len(self._data)
                yield line, last
                is_list = is_list and bool(end_of_value(last + b",", 0))
        if not self.ended:
            yield self.line, self.rest

    def _more(self) -> bool:
        rest, self._line = self.rest, self.line
        more = self._stream.read(max(CHUNK, len(rest)))
        self._data, self._chunk_offset, self._at, self._counted = rest + more, self._chunk_offset + self._at, 0, 0
        return bool(more)


def end_of_value(data: bytes, at: int) -> int | None:
    """Return the end of the value at `at`, where the decoder reports "trailing characters"; `at` itself for malformed
    JSON, None for an incomplete value."""
    try:
        msgspec.json.decode(memoryview(data)[at:], type=msgspec.Raw)
    except UNDECODED as error:
        message = str(error)
        match = _TRAILING.search(message)
        if match is not None:
            return at + int(match[1]) - 1
        return None if "truncated" in message else at
    return None  # it reaches the end of the chunk, where a number might continue


def _balanced_end(data: bytes, at: int) -> int | None:
    """Return the end of the malformed element at `at`: after its last bracket, or before the next comma or bracket.
    None when the chunk ends before."""
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
