"""Texts: the standard functions, RE2 `matches`, and CEL's strings, encoders and regex extensions. Positions count code
points."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table, check_list, check_text
from rulewright_runtime.regex import compile_re2
from rulewright_runtime.values import NONE, Optional, Value, no_overload

# What Unicode calls white space, which `str.isspace` is not quite.
_BLANKS: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_QUOTED: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _texts(function: str, *values: object) -> None:
    for value in values:
        if value.__class__ is not str:
            raise no_overload(function, *values)


def _ints(function: str, *values: object) -> None:
    for value in values:
        if value.__class__ is not int:
            raise no_overload(function, *values)


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}", "index_out_of_bounds")


def contains(text: Value, part: Value) -> bool:
    """Whether `part` occurs in `text`."""
    _texts("contains", text, part)
    return part in text


def starts_with(text: Value, part: Value) -> bool:
    """Whether `text` begins with `part`."""
    _texts("startsWith", text, part)
    return bool(text.startswith(part))


def ends_with(text: Value, part: Value) -> bool:
    """Whether `text` ends with `part`."""
    _texts("endsWith", text, part)
    return bool(text.endswith(part))


@lru_cache(maxsize=512)
def pattern(source: str) -> Value:
    """The compiled RE2 pattern; EvaluationError `invalid_argument` with RE2's reason."""
    try:
        return compile_re2(source)
    except ValueError as why:
        raise EvaluationError(f"invalid regular expression: {why}", "invalid_argument") from None


def _search(compiled: Value, text: str) -> Value:
    try:
        return compiled.search(text)
    except UnicodeEncodeError:
        raise EvaluationError("a text that is not Unicode can't be matched", "invalid_argument") from None


def matches(text: Value, source: Value) -> bool:
    """Whether the RE2 pattern occurs somewhere in `text`."""
    _texts("matches", text, source)
    compiled = pattern(source)
    try:
        return compiled.search(text.encode()) is not None  # of bytes, whose offsets need not be counted in characters
    except UnicodeEncodeError:
        raise EvaluationError("a text that is not Unicode can't be matched", "invalid_argument") from None


def char_at(text: Value, index: Value) -> str:
    """The code point at `index`; empty at the very end."""
    _texts("charAt", text)
    _ints("charAt", index)
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return str(text[index : index + 1])


def index_of(text: Value, part: Value, start: Value = 0) -> int:
    """Where `part` first occurs from `start` on, or -1."""
    _texts("indexOf", text, part)
    _ints("indexOf", start)
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return int(text.find(part, start))


def last_index_of(text: Value, part: Value, *last: Any) -> int:
    """Where `part` last occurs, beginning at `last` or before, or -1."""
    _texts("lastIndexOf", text, part)
    _ints("lastIndexOf", *last)
    if not last:
        return int(text.rfind(part))
    if not 0 <= last[0] <= len(text):
        raise _out_of_range(last[0])
    return int(text.rfind(part, 0, last[0] + len(part)))


def join(parts: Value, separator: Value = "") -> str:
    """The texts of a list in one, `separator` between them."""
    if not isinstance(parts, (list, tuple)):
        raise no_overload("join", parts)
    _texts("join", separator, *parts)
    check_text(sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0))
    return str(separator.join(parts))


def quote(text: Value) -> str:
    """The text between double quotes, with its control characters, quotes and backslashes escaped."""
    _texts("strings.quote", text)
    return f'"{str(text).translate(_QUOTED)}"'


def replace(text: Value, old: Value, new: Value, limit: Value = -1) -> str:
    """`text` with `old` replaced by `new`, `limit` times at most (negative: everywhere)."""
    _texts("replace", text, old, new)
    _ints("replace", limit)
    times = text.count(old) if limit < 0 else min(text.count(old), limit)
    check_text(len(text) + times * (len(new) - len(old)))
    return str(text.replace(old, new, times))


def split(text: Value, separator: Value, limit: Value = -1) -> list[str]:
    """The parts between separators, `limit` parts at most (negative: all); an empty separator gives the code points."""
    _texts("split", text, separator)
    _ints("split", limit)
    if limit == 0:
        return []
    check_list(text.count(separator) + 1)
    if separator:
        return list(text.split(separator, limit - 1 if limit > 0 else -1))
    if not text:
        return [""]
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def substring(text: Value, start: Value, *end: Any) -> str:
    """The code points from `start` up to `end`, or to the end of the text."""
    _texts("substring", text)
    _ints("substring", start, *end)
    stop = end[0] if end else len(text)
    for index in (start, stop):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    if start > stop:
        raise EvaluationError(f"invalid substring range: start {start}, end {stop}", "index_out_of_bounds")
    return str(text[start:stop])


def trim(text: Value) -> str:
    """The text without the white space (as Unicode defines it) around it."""
    _texts("trim", text)
    return str(text.strip(_BLANKS))


def upper_ascii(text: Value) -> str:
    """The text with a-z in upper case."""
    _texts("upperAscii", text)
    return str(text.translate(_UPPER))


def lower_ascii(text: Value) -> str:
    """The text with A-Z in lower case."""
    _texts("lowerAscii", text)
    return str(text.translate(_LOWER))


def encode_base64(data: object) -> str:
    """Bytes in base64, with padding."""
    if data.__class__ is not bytes:
        raise no_overload("base64.encode", data)
    check_text(2 * len(data))
    return base64.b64encode(data).decode()


def decode_base64(text: Value) -> bytes:
    """The bytes of a base64 text, with or without its padding; line ends in it don't count."""
    _texts("base64.decode", text)
    text = text.replace("\r", "").replace("\n", "")
    try:
        return base64.b64decode(text if text.endswith("=") else text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError("invalid base64 data", "invalid_argument") from None


def _found(compiled: Value, text: str) -> Iterator[Value]:
    """Every match, but for an empty one that touches the match before it."""
    end = -1
    for found in compiled.finditer(text):
        if found.end() > found.start() or found.start() != end:
            yield found
        end = found.end()


def regex_replace(text: Value, source: object, new: Value, limit: Value = -1) -> str:
    r"""`text` with what the pattern matches replaced; `\1` in `new` is the first group."""
    _texts("regex.replace", text, source, new)
    _ints("regex.replace", limit)
    if limit == 0:
        return str(text)
    compiled = pattern(source)
    pieces = _pieces(new, compiled.groups)
    parts: list[str] = []
    length = end = 0
    for count, found in enumerate(_found(compiled, text)):
        if 0 < limit <= count:
            break
        instead = "".join([piece if piece.__class__ is str else found.group(piece) or "" for piece in pieces])
        parts += [text[end : found.start()], instead]
        length += len(parts[-1]) + len(parts[-2])
        check_text(length)
        end = found.end()
    check_text(length + len(text) - end)
    return "".join([*parts, text[end:]])


_REWRITE: Final = re.compile(r"\\(.?)", re.DOTALL)


def _pieces(new: str, groups: int) -> list[str | int]:
    """The texts and the groups that a replacement is made of."""
    pieces: list[str | int] = []
    end = 0
    for found in _REWRITE.finditer(new):
        pieces.append(new[end : found.start()])
        char, end = found[1], found.end()
        if char.isdecimal() and char.isascii() and int(char) <= groups:
            pieces.append(int(char))
        elif char == "\\":
            pieces.append(char)
        else:
            raise EvaluationError("invalid replacement: a backslash needs a group or a backslash", "invalid_argument")
    return [*pieces, new[end:]]


def _one_group(source: str) -> Value:
    compiled = pattern(source)
    if compiled.groups > 1:
        raise EvaluationError("a pattern to extract with has one group at most", "invalid_argument")
    return compiled


def regex_extract(text: Value, source: Value) -> Optional:
    """The first match, or its group where the pattern has one, or `optional.none()`."""
    _texts("regex.extract", text, source)
    compiled = _one_group(source)
    found = _search(compiled, text)
    value = found.group(compiled.groups) if found is not None else None
    return NONE if value is None else Optional(value)


def regex_extract_all(text: Value, source: Value) -> list[str]:
    """Every match, or its group where the pattern has one."""
    _texts("regex.extractAll", text, source)
    compiled = _one_group(source)
    values = [found.group(compiled.groups) for found in _found(compiled, text)]
    return [value for value in values if value is not None]


TABLE: Final[Table] = {
    "contains": (contains, 2, 2),
    "startsWith": (starts_with, 2, 2),
    "endsWith": (ends_with, 2, 2),
    "matches": (matches, 2, 2),
    "charAt": (char_at, 2, 2),
    "indexOf": (index_of, 2, 3),
    "lastIndexOf": (last_index_of, 2, 3),
    "join": (join, 1, 2),
    "strings.quote": (quote, 1, 1),
    "replace": (replace, 3, 4),
    "split": (split, 2, 3),
    "substring": (substring, 2, 3),
    "trim": (trim, 1, 1),
    "upperAscii": (upper_ascii, 1, 1),
    "lowerAscii": (lower_ascii, 1, 1),
    "base64.encode": (encode_base64, 1, 1),
    "base64.decode": (decode_base64, 1, 1),
    "regex.replace": (regex_replace, 3, 4),
    "regex.extract": (regex_extract, 2, 2),
    "regex.extractAll": (regex_extract_all, 2, 2),
}
