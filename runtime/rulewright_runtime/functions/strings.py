"""Functions on strings: the standard ones, RE2 `matches`, CEL's strings, encoders and regex extensions, and
`text.format(arguments)` with the clauses %s %d %f %e %b %o %x %X. Indexes count code points."""

from __future__ import annotations

import base64
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.conversions import to_string
from rulewright_runtime.functions.table import LIST, Table, check_list, check_text, typed
from rulewright_runtime.functions.times import format_timestamp
from rulewright_runtime.regex import compile_re2
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import (
    MAX_DEPTH,
    NANOS,
    NONE,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    cel_type_name,
    no_overload,
    too_large,
)

# Whitespace as Unicode defines it; `str.isspace` differs.
WHITESPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_ESCAPES: Final = str.maketrans(
    {char: f"\\{sign}" for char, sign in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"', strict=True)}
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}", "index_out_of_bounds")


@lru_cache(maxsize=512)
def compile_pattern(source: str) -> Value:
    """Compile an RE2 pattern. Raises EvaluationError `invalid_argument` with RE2's reason."""
    try:
        return compile_re2(source)
    except ValueError as why:
        raise EvaluationError(f"invalid regular expression: {why}", "invalid_argument") from None


def matches(text: str, source: str) -> bool:
    """Whether the RE2 pattern occurs in `text`. Raises EvaluationError."""
    compiled = compile_pattern(source)
    try:
        return compiled.search(text.encode()) is not None  # bytes: no offsets to convert to characters
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def char_at(text: str, index: int) -> str:
    """Return the code point at `index`; empty at the end of the string. Raises EvaluationError."""
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """Return the first index of `part` at or after `start`, or -1. Raises EvaluationError."""
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text.find(part, start)


def last_index_of(text: str, part: str, last: int | None = None) -> int:
    """Return the last index of `part` at or before `last`, or -1. Raises EvaluationError."""
    if last is None:
        return text.rfind(part)
    if not 0 <= last <= len(text):
        raise _out_of_range(last)
    return text.rfind(part, 0, last + len(part))


_TEXTS: Final = frozenset({str})


def join(parts: list[Value], separator: str = "") -> str:
    """Join the strings of a list with `separator`. Raises EvaluationError."""
    if not _TEXTS.issuperset(map(type, parts)):
        raise no_overload("join", parts, separator)
    check_text(sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0))
    return separator.join(parts)


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    """Replace `old` by `new`, at most `limit` times (negative: everywhere)."""
    times = text.count(old) if limit < 0 else min(text.count(old), limit)
    check_text(len(text) + times * (len(new) - len(old)))
    return text.replace(old, new, times)


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Split by `separator` into at most `limit` parts (negative: all); an empty separator gives the code points."""
    if limit == 0:
        return []
    check_list(text.count(separator) + 1)
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if not text:
        return [""]
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def substring(text: str, start: int, end: int | None = None) -> str:
    """Return the code points from `start` up to `end`, or to the end of the string. Raises EvaluationError."""
    stop = len(text) if end is None else end
    for index in (start, stop):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    if start > stop:
        raise EvaluationError(f"invalid substring range: start {start}, end {stop}", "index_out_of_bounds")
    return text[start:stop]


def encode_base64(data: bytes) -> str:
    """Encode bytes as base64, with padding."""
    check_text(2 * len(data))
    return base64.b64encode(data).decode()


def decode_base64(text: str) -> bytes:
    """Decode base64, with or without padding; line ends are ignored. Raises EvaluationError."""
    text = text.replace("\r", "").replace("\n", "")
    try:
        return base64.b64decode(text if text.endswith("=") else text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise EvaluationError("invalid base64 data", "invalid_argument") from None


def matches_in(compiled: Value, text: str) -> Iterator[Value]:
    """Yield every match, except an empty one adjacent to the match before. Raises EvaluationError."""
    end = -1
    try:
        for match in compiled.finditer(text):
            if match.end() > match.start() or match.start() != end:
                yield match
            end = match.end()
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def regex_replace(text: str, source: str, new: str, limit: int = -1) -> str:
    r"""Replace the matches of a pattern; `\1` in `new` is the first group."""
    if limit == 0:
        return text
    compiled = compile_pattern(source)
    pieces = _pieces(new, compiled.groups)
    parts: list[str] = []
    length = end = 0
    for count, match in enumerate(matches_in(compiled, text)):
        if 0 < limit <= count:
            break
        replacement = "".join([piece if piece.__class__ is str else match.group(piece) or "" for piece in pieces])
        parts += [text[end : match.start()], replacement]
        length += len(parts[-1]) + len(parts[-2])
        check_text(length)
        end = match.end()
    check_text(length + len(text) - end)
    return "".join([*parts, text[end:]])


_REWRITE: Final = re.compile(r"\\(.?)", re.DOTALL)


def _pieces(new: str, groups: int) -> list[str | int]:
    """Split a replacement into literal strings and group numbers."""
    pieces: list[str | int] = []
    end = 0
    for match in _REWRITE.finditer(new):
        pieces.append(new[end : match.start()])
        char, end = match[1], match.end()
        if char.isdecimal() and char.isascii() and int(char) <= groups:
            pieces.append(int(char))
        elif char == "\\":
            pieces.append(char)
        else:
            raise EvaluationError("invalid replacement: a backslash needs a group or a backslash", "invalid_argument")
    return [*pieces, new[end:]]


def _one_group(source: str) -> Value:
    compiled = compile_pattern(source)
    if compiled.groups > 1:
        raise EvaluationError(
            "a pattern to extract with has one group at most: write `(?:` for the others", "invalid_argument"
        )
    return compiled


def regex_extract(text: str, source: str) -> Optional:
    """Return the first match, or its group if the pattern has one; `optional.none()` without a match."""
    compiled = _one_group(source)
    match = next(matches_in(compiled, text), None)
    value = match.group(compiled.groups) if match is not None else None
    return NONE if value is None else Optional(value)


def regex_extract_all(text: str, source: str) -> list[str]:
    """Return all matches, or their groups if the pattern has one."""
    compiled = _one_group(source)
    values = [match.group(compiled.groups) for match in matches_in(compiled, text)]
    return [value for value in values if value is not None]


_MAX_PRECISION: Final = 1000
_INVALID: Final = re.compile("[\udc80-\udcff]+")  # surrogate escapes of bytes that are not UTF-8
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def format_text(template: str, arguments: list[Value]) -> str:
    """Replace each clause of `template` by the next argument. Raises EvaluationError for an unknown clause, and for an
    argument that is missing or of the wrong type."""
    parts: list[str] = []
    length = position = used = 0
    while True:
        percent = template.find("%", position)
        parts.append(template[position:] if percent < 0 else template[position:percent])
        length += len(parts[-1])
        check_text(length)
        if percent < 0:
            return "".join(parts)
        if template.startswith("%", percent + 1):
            parts.append("%")
            position = percent + 2
            continue
        precision, letter, position = _clause(template, percent + 1)
        if used >= len(arguments):
            raise EvaluationError(f"index {used} out of range", "invalid_argument")
        parts.append(_CLAUSES[letter](arguments[used], precision))
        length += len(parts[-1])
        used += 1


def _clause(template: str, position: int) -> tuple[int | None, str, int]:
    precision = None
    if template.startswith(".", position):
        end = position + 1
        while end < len(template) and template[end] in "0123456789":
            end += 1
        if end == position + 1 or end - position > 5 or int(template[position + 1 : end]) > _MAX_PRECISION:
            raise EvaluationError("a precision in a format is a whole number up to 1000", "invalid_argument")
        precision, position = int(template[position + 1 : end]), end
    if position >= len(template):
        raise EvaluationError("unexpected end of a format", "invalid_argument")
    letter = template[position]
    if letter not in _CLAUSES:
        raise EvaluationError(f"unknown formatting clause `{letter}`", "invalid_argument")
    return precision, letter, position + 1


def _refuse(clause: str, expected: str, value: object) -> EvaluationError:
    actual = cel_type_name(value)
    return EvaluationError(f"{clause} clause can only be used on {expected}, was given {actual}", "invalid_argument")


def _string(value: object, _: int | None) -> str:
    out: list[str] = []
    try:
        _write(value, out, [0], 0)
    except RecursionError:
        raise too_large() from None
    return "".join(out)


def _write(value: object, out: list[str], length: list[int], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise too_large()
    if isinstance(value, (list, tuple)):
        _write_all(value, "[", "]", out, length, depth)
    elif isinstance(value, Mapping):
        pairs = sorted(((_map_key(key), item) for key, item in value.items()), key=lambda pair: pair[0])
        _write_all(pairs, "{", "}", out, length, depth)
    else:
        out.append(_scalar(value))
        length[0] += len(out[-1])
        check_text(length[0])


def _write_all(items: Value, opening: str, closing: str, out: list[str], length: list[int], depth: int) -> None:
    out.append(opening)
    for number, item in enumerate(items):
        if number:
            out.append(", ")
        length[0] += 3
        check_text(length[0])
        if opening == "{":
            out.append(f"{item[0]}: ")
            item = item[1]
        _write(item, out, length, depth + 1)
    out.append(closing)


def _map_key(key: object) -> str:
    if isinstance(key, (str, bool, int)):
        return to_string(key if isinstance(key, (bool, UInt, str)) else int(key))
    raise _refuse("string", "maps with bool, int, uint and string keys", key)


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if value.__class__ is float:
        return _digits(value)
    if value.__class__ is Score:
        return _digits(leave(value))
    if value.__class__ is bytes:
        return _INVALID.sub("\ufffd", bytes(value).decode("utf-8", "surrogateescape"))
    if value.__class__ is TypeValue:
        return str(value.name)
    if value.__class__ is Timestamp:
        return format_timestamp(value, trim=True)
    if value.__class__ is Duration:
        seconds, nanos = divmod(abs(value.nanos), NANOS)
        return f"{'-' if value.nanos < 0 else ''}{_digits(seconds + nanos / NANOS)}s"
    if value.__class__ in (bool, int, UInt, str):
        return to_string(value)
    raise _refuse("string", "strings, bools, bytes, ints, doubles, maps, lists, types, durations and timestamps", value)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "" if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _digits(value: float) -> str:
    """Return the shortest decimal that parses to the same double, without an exponent."""
    return _special(value) or f"{Decimal(repr(value)).normalize():f}"


def _decimal(value: object, _: int | None) -> str:
    if value.__class__ is int or value.__class__ is UInt:
        return str(int(value))
    if value.__class__ is float:
        return _digits(value)
    raise _refuse("decimal", "numbers", value)


def _double(value: object, clause: str) -> float:
    if value.__class__ is str and value in _SPECIAL:
        return _SPECIAL[value]
    if value.__class__ in (int, UInt, float):
        return float(value)
    if value.__class__ is Score:
        return leave(value)
    raise _refuse(clause, "numbers", value)


def _float(clause: str, letter: str) -> Callable[[object, int | None], str]:
    def written(value: object, precision: int | None) -> str:
        number = _double(value, clause)
        return _special(number) or f"{number:.{6 if precision is None else precision}{letter}}"

    return written


def _whole(clause: str, expected: str, letter: str, *kinds: type) -> Callable[[object, int | None], str]:
    def written(value: Value, _: int | None) -> str:
        if value.__class__ in (int, UInt, *kinds):
            return format(value, letter)
        raise _refuse(clause, expected, value)

    return written


def _hex(value: Value, _: int | None) -> str:
    if value.__class__ is str:
        return value.encode("utf-8", "replace").hex()
    return bytes(value).hex() if value.__class__ is bytes else _HEX(value, _)


_HEX: Final = _whole("hex", "integers, bytes and strings", "x")
_CLAUSES: Final[Mapping[str, Callable[[object, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _float("fixed-point", "f"),
    "e": _float("scientific", "e"),
    "b": _whole("binary", "integers and bools", "b", bool),
    "o": _whole("octal", "integers", "o"),
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}


TABLE: Final[Table] = typed(
    {
        "contains": (operator.contains, str, str),
        "startsWith": (str.startswith, str, str),
        "endsWith": (str.endswith, str, str),
        "matches": (matches, str, str),
        "charAt": (char_at, str, int),
        "indexOf": (index_of, str, str, int),
        "lastIndexOf": (last_index_of, str, str, int),
        "join": (join, LIST, str),
        "strings.quote": (lambda text: f'"{text.translate(_ESCAPES)}"', str),
        "replace": (replace, str, str, str, int),
        "split": (split, str, str, int),
        "substring": (substring, str, int, int),
        "trim": (lambda text: text.strip(WHITESPACE), str),
        "upperAscii": (lambda text: text.translate(_UPPER), str),
        "lowerAscii": (lambda text: text.translate(_LOWER), str),
        "base64.encode": (encode_base64, bytes),
        "base64.decode": (decode_base64, str),
        "regex.replace": (regex_replace, str, str, str, int),
        "regex.extract": (regex_extract, str, str),
        "regex.extractAll": (regex_extract_all, str, str),
        "format": (format_text, str, LIST),
    }
)
