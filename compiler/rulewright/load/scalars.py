"""Exact places inside scalars: where the characters of a loaded string stand in the file.

Each style is decoded a second time, character by character with places, and the result is held against what was
loaded: only when both agree is the place certain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

from rulewright.diagnostics import Span
from rulewright.load.nodes import Scalar

_BREAK = r"(?:\r\n|\r|\n)"
_FOLD = re.compile(rf"[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*")
_ESCAPED_BREAK = re.compile(rf"\\{_BREAK}[ \t]*(?:{_BREAK}[ \t]*)*")
_ANY_BREAK = re.compile(_BREAK)
_BLANK_LINES = re.compile(rf"(?:[ \t]*{_BREAK})*(?:[ \t]*\Z)?")
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?")
_YAML_ESCAPES = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_JSON_ESCAPES = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
# What stands for itself in each style of flow text.
_RUNS = {
    "": re.compile(r"[^ \t\r\n]+"),
    "'": re.compile(r"[^ \t\r\n']+"),
    '"': re.compile(r"[^ \t\r\n\\]+"),
    "j": re.compile(r"[^\\]+"),
}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_SURROGATE_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def place(scalar: Scalar, start: int, end: int) -> Span:
    """Where the characters `start` to `end` (exclusive) of the scalar's loaded text stand in its file.

    When that can't be certain, the whole scalar; the span then begins where the scalar does.
    """
    found = _trace(scalar)
    if found is None or not 0 <= start <= end <= found.length:
        return scalar.span
    if start < end:
        return scalar.source.span(found.where(start)[0], found.where(end - 1)[1])
    at = found.where(start)[0] if start < found.length else found.ends[-1] if found.ends else found.content
    return scalar.source.span(at, at)


@dataclass(slots=True, eq=False)
class _Trace:
    """A text as it is decoded: its pieces, where each begins in it, and where each starts and ends in the file.

    A piece that is as long in the file stands there character by character; any other is one character.
    """

    content: int  # where the text begins, for an empty one
    length: int = 0
    pieces: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def add(self, piece: str, start: int, end: int) -> None:
        """The next piece and what it comes from in the file."""
        self.pieces.append(piece)
        self.offsets.append(self.length)
        self.starts.append(start)
        self.ends.append(end)
        self.length += len(piece)

    def drop(self) -> None:
        """Forget the last piece."""
        self.length = self.offsets.pop()
        del self.pieces[-1], self.starts[-1], self.ends[-1]

    def where(self, index: int) -> tuple[int, int]:
        """Where the character at `index` starts and ends in the file."""
        number = bisect_right(self.offsets, index) - 1
        start, end = self.starts[number], self.ends[number]
        if len(self.pieces[number]) != end - start:
            return start, end
        start += index - self.offsets[number]
        return start, start + 1


@lru_cache(maxsize=128)
def _trace(scalar: Scalar) -> _Trace | None:
    """The places of every character of a scalar, None when the second decoding disagrees with the first."""
    text, start, end, style = scalar.source.text, scalar.start, scalar.end, scalar.style
    if not isinstance(scalar.value, str):
        found = _Trace(start)
        found.add(text[start:end], start, end)
        return found
    if style in ("|", ">"):
        block = _block(scalar, scalar.value)
        return block if block is not None and block.text == scalar.value else None
    quotes = 1 if style else 0
    found = _Trace(start + quotes)
    _flow(found, text, start + quotes, end - quotes, style)
    return found if found.text == scalar.value else None


def _flow(found: _Trace, text: str, at: int, end: int, style: str) -> None:
    """Plain and quoted text: line breaks fold into a space, empty lines into line breaks, escapes into characters."""
    while at < end:
        char = text[at]
        if char in " \t\r\n" and style != "j" and (fold := _FOLD.match(text, at, end)):
            _fold(found, text, fold)
            at = fold.end()
        elif char == "'" and style == "'":
            found.add("'", at, at + 2)
            at += 2
        elif char == "\\" and style in ('"', "j"):
            at = _escape(found, text, at, end, style)
        else:
            run = _RUNS[style].match(text, at, end)
            after = run.end() if run else at + 1
            found.add(text[at:after], at, after)
            at = after


def _fold(found: _Trace, text: str, fold: re.Match[str]) -> None:
    breaks = list(_ANY_BREAK.finditer(text, fold.start(), fold.end()))
    if len(breaks) == 1:
        found.add(" ", *breaks[0].span())
    for each in breaks[1:]:
        found.add("\n", *each.span())


def _escape(found: _Trace, text: str, at: int, end: int, style: str) -> int:
    """One escape of a double-quoted text; gives where it ends."""
    if style == '"' and (gap := _ESCAPED_BREAK.match(text, at, end)):
        for each in list(_ANY_BREAK.finditer(text, gap.start(), gap.end()))[1:]:
            found.add("\n", *each.span())
        return gap.end()
    if style == "j" and (pair := _SURROGATE_PAIR.match(text, at, end)):
        high, low = int(pair.group(1), 16), int(pair.group(2), 16)
        found.add(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), at, pair.end())
        return pair.end()
    letter = text[at + 1 : at + 2]
    if letter in _HEX_DIGITS:
        after = at + 2 + _HEX_DIGITS[letter]
        found.add(chr(int(text[at + 2 : after], 16)), at, after)
        return after
    found.add((_YAML_ESCAPES if style == '"' else _JSON_ESCAPES).get(letter, ""), at, at + 2)
    return at + 2


def _block(scalar: Scalar, value: str) -> _Trace | None:
    """A literal or folded block. Chomping only decides how many line breaks at the end count."""
    text = scalar.source.text
    blank = _BLANK_LINES.match(text, scalar.end)
    end = blank.end() if blank else scalar.end
    header = _HEADER.match(text, scalar.start, end)
    if header is None:
        return None
    first_break = _ANY_BREAK.match(text, header.end(), end)
    lines = _lines(text, first_break.end(), end) if first_break else []
    found = _Trace(lines[0][0] if lines else scalar.start)
    _block_lines(found, text, lines, _indentation(text, lines, value), folds=scalar.style == ">")
    while found.length > len(value) and found.pieces[-1] == "\n":
        found.drop()
    return found


def _lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Every line from `start` to `end`: where it starts, where its text ends, where its line break ends."""
    lines = []
    for found in _ANY_BREAK.finditer(text, start, end):
        lines.append((start, found.start(), found.end()))
        start = found.end()
    if start < end:
        lines.append((start, end, end))
    return lines


def _indentation(text: str, lines: list[tuple[int, int, int]], value: str) -> int:
    """How far the block is indented: what its first line with text has in the file and not in the value."""
    for start, stop, _ in lines:
        line = text[start:stop]
        if line.strip(" "):
            inner = next((each for each in value.split("\n") if each.strip(" ")), "")
            return max(_leading_spaces(line) - _leading_spaces(inner), 0)
    longest = max((stop - start for start, stop, _ in lines), default=0)
    return longest - max(map(len, value.split("\n")))


def _leading_spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block_lines(found: _Trace, text: str, lines: list[tuple[int, int, int]], indentation: int, *, folds: bool) -> None:
    """The lines of a block: between two lines of a folded block that start with text, one line break is a space."""
    last: tuple[int, int] | None = None  # the line break after the last line with text
    empty: list[tuple[int, int]] = []  # the line breaks of empty lines since then
    was_indented = False
    for start, stop, after in lines:
        inner = min(start + indentation, start + _leading_spaces(text[start:stop]))
        if inner == stop:
            if after > stop:
                empty.append((stop, after))
            continue
        is_indented = text[inner] in " \t"
        if last is not None and folds and not was_indented and not is_indented:
            if not empty:
                found.add(" ", *last)
        elif last is not None:
            found.add("\n", *last)
        for each in empty:
            found.add("\n", *each)
        found.add(text[inner:stop], inner, stop)
        last, empty, was_indented = (stop, after), [], is_indented
    for each in ([last] if last is not None and last[1] > last[0] else []) + empty:
        found.add("\n", *each)
