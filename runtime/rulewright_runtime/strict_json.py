"""Strict JSON decoding: refuses objects with repeated keys, because keeping one of two values would hide the other."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar, overload

import msgspec

T = TypeVar("T")
Json: TypeAlias = Any  # a JSON value, whose type readers check
JsonObject: TypeAlias = dict[str, Json]
JsonMapping: TypeAlias = Mapping[str, Json]  # one that is only read
_ANYTHING: Final = msgspec.json.Decoder()
_BACKSLASH: Final = b"\\"
_ESCAPED_COLON: Final = b"\\u003"  # the beginning of `\u003a`
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_NUMBER: Final = re.compile(rb"[\[:,]\s*(NaN|-?Infinity)\s*[\]},]")  # as Python writes them
_TYPE_ERROR: Final = re.compile(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `([^`]*)`)?")
_KINDS: Final = {
    "str": "a text",
    "array": "a list",
    "object": "an object",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
}


class DoubledKeyError(msgspec.DecodeError):
    """An object holds the key `key` twice."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"duplicate key `{key}`")


UNDECODED: Final = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Decoder(Generic[T]):
    """A `msgspec.json.Decoder` that refuses repeated keys."""

    def __init__(
        self,
        type: type[T],
        *,
        colons: Callable[[list[T]], int] | None = None,
        others: Callable[[bytes], object] | None = None,
    ) -> None:
        """Decode values of `type`. Repeated keys are detected faster for a type that keeps all keys: `colons` counts
        the colons of values in JSON, as `colons_in` does. `others` is called with data that may hold other keys; it may
        raise one of msgspec's errors."""
        decoder = msgspec.json.Decoder(type)
        self._decode, self._decode_lines = decoder.decode, decoder.decode_lines
        self._colons, self._others = colons, others

    def decode(self, data: bytes | str) -> T:
        """The value in `data`. Raises DoubledKeyError for a repeated key, and msgspec's errors."""
        value: T = self._decode(data)
        if not (isinstance(data, bytes) and self._has_every_key([value], data)):
            self._check(data)
        return value

    def decode_lines(self, data: bytes) -> list[T]:
        """The values in JSON lines. Raises DoubledKeyError for a repeated key, and msgspec's errors."""
        values: list[T] = self._decode_lines(data)
        if not self._has_every_key(values, data):
            for line in filter(bytes.strip, data.split(b"\n")):
                self._check(line)
        return values

    def _check(self, data: bytes | str) -> None:
        """Check data that may have other keys, or one twice."""
        refuse_doubled_keys(data)
        if self._others is not None:
            self._others(data if isinstance(data, bytes) else data.encode())

    def _has_every_key(self, values: list[T], data: bytes) -> bool:
        """Whether the values hold every key of the data they were decoded from; False if unknown."""
        return self._colons is not None and not _is_colon_escaped(data) and data.count(b":") == self._colons(values)


def type_message(error: Exception, parents: tuple[str, ...] = ()) -> str | None:
    """Say which value has the wrong type; `parents` are the keys that lead to the decoded part. None for an error of
    another kind."""
    match = _TYPE_ERROR.search(str(error))
    if not isinstance(error, msgspec.ValidationError) or match is None:
        return None
    expected = [_KINDS.get(word.strip(), word.strip()) for word in match[1].split("|") if word.strip() != "null"]
    path = ".".join((*parents, (match[3] or "$").removeprefix("$").removeprefix(".")))
    where = f"`{path.removesuffix('.')}` " if path.strip(".") else ""
    return f"{where}must be {' or '.join(expected)}, not {_KINDS.get(match[2], match[2])}"


def why_not(error: Exception, data: bytes, what: str = "the line") -> str:
    """Why `what`, which `data` holds, can't be decoded, as one of UNDECODED says it."""
    if isinstance(error, RecursionError):
        return f"{what} is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"{what} is not UTF-8 text"
    if isinstance(error, DoubledKeyError):
        return f"{what} is refused: {error}"
    if isinstance(error, msgspec.ValidationError):
        large = "out of range" in str(error)
        return f"{what} is refused: a number is out of range" if large else f"{what} must be one JSON object"
    if data[:64].removeprefix(codecs.BOM_UTF8).lstrip()[:1] not in (b"{", b"["):
        expected = '`{"messages": [{"role": "user", "content": "Hi"}]}`'
        return f"{what} is not JSON; expected a chat such as {expected}"
    half = " or contains an unpaired surrogate" if "truncated" in str(error) and _SURROGATE.search(data) else ""
    number = _NO_NUMBER.search(_TEXT.sub(b"", data))
    python = f" (JSON has no `{number[1].decode()}`; write null)" if number else ""
    return f"{what} is not JSON: {str(error)[:200]}{half}{python}"


@overload
def decode(data: bytes | str) -> Any: ...
@overload
def decode(data: bytes | str, *, type: type[T]) -> T: ...
def decode(data: bytes | str, *, type: Any = object) -> Any:
    """The value in `data`. Raises DoubledKeyError for a repeated key, and msgspec's errors."""
    value = _ANYTHING.decode(data) if type is object else msgspec.json.decode(data, type=type)
    if not (isinstance(data, bytes) and type in (object, JsonObject) and _has_the_colons_of(value, data)):
        refuse_doubled_keys(data)
    return value


def indented(value: object) -> bytes:
    """The value as the JSON of a file that people read, with a line end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def refuse_doubled_keys(data: bytes | str) -> None:
    """Raise DoubledKeyError if an object in `data` holds a key twice, msgspec.DecodeError if it is not JSON."""
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if _has_the_colons_of(_ANYTHING.decode(raw), raw):
        return
    try:
        json.loads(data, object_pairs_hook=_once, parse_int=len, parse_float=len, strict=False)
    except json.JSONDecodeError as error:
        raise msgspec.DecodeError(f"JSON is malformed: {error}") from None


def refuse_lost_keys(data: bytes, encoded: bytes) -> None:
    """Raise DoubledKeyError if an object in `data` holds a key twice, given the encoded value of `data`, decoded to a
    type that keeps all keys."""
    if _is_colon_escaped(data) or data.count(b":") != encoded.count(b":"):
        refuse_doubled_keys(data)


def _once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        keys = [key for key, _ in pairs]
        raise DoubledKeyError(next(key for index, key in enumerate(keys) if key in keys[:index]))


def _has_the_colons_of(value: object, data: bytes) -> bool:
    """Whether the encoded value has as many colons as the data it was decoded from: then no key was lost. A colon
    inside a text is in both, unless it is escaped."""
    return not _is_colon_escaped(data) and data.count(b":") == colons_in(value)


def _is_colon_escaped(data: bytes) -> bool:
    return _BACKSLASH in data and _ESCAPED_COLON in data


def colons_in(value: object) -> int:
    """The number of colons of a value in JSON."""
    return msgspec.json.encode(value).count(b":")
