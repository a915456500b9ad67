"""Functions on strings: the standard ones, RE2 `matches`, and CEL's strings, encoders and regex extensions. Indexes
count code points."""

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

# Whitespace as Unicode defines it; `str.isspace` differs.
WHITESPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_ESCAPES: Final = str.maketrans(
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
    """Whether `text` starts with `part`."""
    _texts("startsWith", text, part)
    return bool(text.startswith(part))


def ends_with(text: Value, part: Value) -> bool:
    """Whether `text` ends with `part`."""
    _texts("endsWith", text, part)
    return bool(text.endswith(part))


@lru_cache(maxsize=512)
def compile_pattern(source: str) -> Value:
    """Compile an RE2 pattern. Raises EvaluationError `invalid_argument` with RE2's reason."""
    try:
        return compile_re2(source)
    except ValueError as why:
        raise EvaluationError(f"invalid regular expression: {why}", "invalid_argument") from None


def _search(compiled: Value, text: str) -> Value:
    try:
        return compiled.search(text)
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def matches(text: Value, source: Value) -> bool:
    """Whether the RE2 pattern occurs in `text`."""
    _texts("matches", text, source)
    compiled = compile_pattern(source)
    try:
        return compiled.search(text.encode()) is not None  # bytes: no offsets to convert to characters
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def char_at(text: Value, index: Value) -> str:
    """Return the code point at `index`; empty at the end of the string."""
    _texts("charAt", text)
    _ints("charAt", index)
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return str(text[index : index + 1])


def index_of(text: Value, part: Value, start: Value = 0) -> int:
    """Return the first index of `part` at or after `start`, or -1."""
    _texts("indexOf", text, part)
    _ints("indexOf", start)
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return int(text.find(part, start))


def last_index_of(text: Value, part: Value, *last: Any) -> int:
    """Return the last index of `part` at or before `last`, or -1."""
    _texts("lastIndexOf", text, part)
    _ints("lastIndexOf", *last)
    if not last:
        return int(text.rfind(part))
    if not 0 <= last[0] <= len(text):
        raise _out_of_range(last[0])
    return int(text.rfind(part, 0, last[0] + len(part)))


def join(parts: Value, separator: Value = "") -> str:
    """Join the strings of a list with `separator`."""
    if not isinstance(parts, (list, tuple)):
        raise no_overload("join", parts)
    _texts("join", separator, *parts)
    check_text(sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0))
    return str(separator.join(parts))


def quote(text: Value) -> str:
    """Return the string in double quotes, with control characters, quotes and backslashes escaped."""
    _texts("strings.quote", text)
    return f'"{str(text).translate(_ESCAPES)}"'


def replace(text: Value, old: Value, new: Value, limit: Value = -1) -> str:
    """Replace `old` by `new`, at most `limit` times (negative: everywhere)."""
    _texts("replace", text, old, new)
    _ints("replace", limit)
    times = text.count(old) if limit < 0 else min(text.count(old), limit)
    check_text(len(text) + times * (len(new) - len(old)))
    return str(text.replace(old, new, times))


def split(text: Value, separator: Value, limit: Value = -1) -> list[str]:
    """Split by `separator` into at most `limit` parts (negative: all); an empty separator gives the code points."""
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
    """Return the code points from `start` up to `end`, or to the end of the string."""
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
    """Remove leading and trailing whitespace, as Unicode defines it."""
    _texts("trim", text)
    return str(text.strip(WHITESPACE))


def upper_ascii(text: Value) -> str:
    """Return the string with a-z in upper case."""
    _texts("upperAscii", text)
    return str(text.translate(_UPPER))


def lower_ascii(text: Value) -> str:
    """Return the string with A-Z in lower case."""
    _texts("lowerAscii", text)
    return str(text.translate(_LOWER))


def encode_base64(data: object) -> str:
    """Encode bytes as base64, with padding."""
    if data.__class__ is not bytes:
        raise no_overload("base64.encode", data)
    check_text(2 * len(data))
    return base64.b64encode(data).decode()


def decode_base64(text: Value) -> bytes:
    """Decode base64, with or without padding; line ends are ignored."""
    _texts("base64.decode", text)
    text = text.replace("\r", "").replace("\n", "")
    try:
        return base64.b64decode(text if text.endswith("=") else text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError("invalid base64 data", "invalid_argument") from None


def _matches(compiled: Value, text: str) -> Iterator[Value]:
    """Yield every match, except an empty one adjacent to the match before."""
    end = -1
    for match in compiled.finditer(text):
        if match.end() > match.start() or match.start() != end:
            yield match
        end = match.end()


def regex_replace(text: Value, source: object, new: Value, limit: Value = -1) -> str:
    r"""Replace the matches of a pattern; `\1` in `new` is the first group."""
    _texts("regex.replace", text, source, new)
    _ints("regex.replace", limit)
    if limit == 0:
        return str(text)
    compiled = compile_pattern(source)
    pieces = _pieces(new, compiled.groups)
    parts: list[str] = []
    length = end = 0
    for count, match in enumerate(_matches(compiled, text)):
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
        raise EvaluationError("a pattern to extract with has one group at most", "invalid_argument")
    return compiled


def regex_extract(text: Value, source: Value) -> Optional:
    """Return the first match, or its group if the pattern has one; `optional.none()` without a match."""
    _texts("regex.extract", text, source)
    compiled = _one_group(source)
    match = _search(compiled, text)
    value = match.group(compiled.groups) if match is not None else None
    return NONE if value is None else Optional(value)


def regex_extract_all(text: Value, source: Value) -> list[str]:
    """Return all matches, or their groups if the pattern has one."""
    _texts("regex.extractAll", text, source)
    compiled = _one_group(source)
    values = [match.group(compiled.groups) for match in _matches(compiled, text)]
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
