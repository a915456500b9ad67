"""Functions on strings: the standard ones, RE2 `matches`, and CEL's strings, encoders and regex extensions. Indexes
count code points."""

from __future__ import annotations

import base64
import binascii
import operator
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import LIST, Table, check_list, check_text, typed
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


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}", "index_out_of_bounds")


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


def matches(text: str, source: str) -> bool:
    """Whether the RE2 pattern occurs in `text`."""
    compiled = compile_pattern(source)
    try:
        return compiled.search(text.encode()) is not None  # bytes: no offsets to convert to characters
    except UnicodeEncodeError:
        raise EvaluationError("a text with unpaired surrogates can't be matched", "invalid_argument") from None


def char_at(text: str, index: int) -> str:
    """Return the code point at `index`; empty at the end of the string."""
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """Return the first index of `part` at or after `start`, or -1."""
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text.find(part, start)


def last_index_of(text: str, part: str, last: int | None = None) -> int:
    """Return the last index of `part` at or before `last`, or -1."""
    if last is None:
        return text.rfind(part)
    if not 0 <= last <= len(text):
        raise _out_of_range(last)
    return text.rfind(part, 0, last + len(part))


def join(parts: list[Value], separator: str = "") -> str:
    """Join the strings of a list with `separator`."""
    if any(part.__class__ is not str for part in parts):
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
    """Return the code points from `start` up to `end`, or to the end of the string."""
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
    """Decode base64, with or without padding; line ends are ignored."""
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


def regex_replace(text: str, source: str, new: str, limit: int = -1) -> str:
    r"""Replace the matches of a pattern; `\1` in `new` is the first group."""
    if limit == 0:
        return text
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


def regex_extract(text: str, source: str) -> Optional:
    """Return the first match, or its group if the pattern has one; `optional.none()` without a match."""
    compiled = _one_group(source)
    match = _search(compiled, text)
    value = match.group(compiled.groups) if match is not None else None
    return NONE if value is None else Optional(value)


def regex_extract_all(text: str, source: str) -> list[str]:
    """Return all matches, or their groups if the pattern has one."""
    compiled = _one_group(source)
    values = [match.group(compiled.groups) for match in _matches(compiled, text)]
    return [value for value in values if value is not None]


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
    }
)
