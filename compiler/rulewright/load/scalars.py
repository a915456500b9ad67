"""Exact spans inside scalars: maps the characters of a loaded string to offsets in the file.

Each style is decoded a second time, character by character with offsets, and the result is compared with the loaded
value: only when both agree are the offsets used.
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
# Characters that need no decoding, for each style of flow text.
_RUNS = {
    "": re.compile(r"[^ \t\r\n]+"),
    "'": re.compile(r"[^ \t\r\n']+"),
    '"': re.compile(r"[^ \t\r\n\\]+"),
    "j": re.compile(r"[^\\]+"),
}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_SURROGATE_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def place(scalar: Scalar, start: int, end: int) -> Span:
    """Return the span of the characters `start` to `end` (exclusive) of the scalar's loaded text.

    It is the span of the whole scalar where the offsets are not certain.
    """
    trace = _trace(scalar)
    if trace is None or not 0 <= start <= end <= trace.length:
        return scalar.span
    if start < end:
        return scalar.source.span(trace.span_of(start)[0], trace.span_of(end - 1)[1])
    offset = trace.span_of(start)[0] if start < trace.length else trace.ends[-1] if trace.ends else trace.content
    return scalar.source.span(offset, offset)


@dataclass(slots=True, eq=False)
class _Offsets:
    """A decoded text: its pieces, the offset of each in the text, and its start and end offset in the file.

    A piece of the same length in the file is unchanged there; any other piece is one character.
    """

    content: int  # the file offset of an empty text
    length: int = 0
    pieces: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole decoded text."""
        return "".join(self.pieces)

    def add(self, piece: str, start: int, end: int) -> None:
        """Append a piece with its offsets in the file."""
        self.pieces.append(piece)
        self.offsets.append(self.length)
        self.starts.append(start)
        self.ends.append(end)
        self.length += len(piece)

    def drop(self) -> None:
        """Remove the last piece."""
        self.length = self.offsets.pop()
        del self.pieces[-1], self.starts[-1], self.ends[-1]

    def span_of(self, index: int) -> tuple[int, int]:
        """Return the start and end offset in the file of the character at `index`."""
        number = bisect_right(self.offsets, index) - 1
        start, end = self.starts[number], self.ends[number]
        if len(self.pieces[number]) != end - start:
            return start, end
        start += index - self.offsets[number]
        return start, start + 1


@lru_cache(maxsize=128)
def _trace(scalar: Scalar) -> _Offsets | None:
    """Decode a scalar with offsets; None when the result differs from the loaded value."""
    text, start, end, style = scalar.source.text, scalar.start, scalar.end, scalar.style
    if not isinstance(scalar.value, str):
        trace = _Offsets(start)
        trace.add(text[start:end], start, end)
        return trace
    if style in ("|", ">"):
        block = _block(scalar, scalar.value)
        return block if block is not None and block.text == scalar.value else None
    quotes = 1 if style else 0
    trace = _Offsets(start + quotes)
    _flow(trace, text, start + quotes, end - quotes, style)
    return trace if trace.text == scalar.value else None


def _flow(trace: _Offsets, text: str, at: int, end: int, style: str) -> None:
    """Decode plain and quoted text: fold line breaks into spaces, empty lines into line breaks, and decode escapes."""
    while at < end:
        char = text[at]
        if char in " \t\r\n" and style != "j" and (fold := _FOLD.match(text, at, end)):
            _fold(trace, text, fold)
            at = fold.end()
        elif char == "'" and style == "'":
            trace.add("'", at, at + 2)
            at += 2
        elif char == "\\" and style in ('"', "j"):
            at = _escape(trace, text, at, end, style)
        else:
            run = _RUNS[style].match(text, at, end)
            after = run.end() if run else at + 1
            trace.add(text[at:after], at, after)
            at = after


def _fold(trace: _Offsets, text: str, fold: re.Match[str]) -> None:
    breaks = list(_ANY_BREAK.finditer(text, fold.start(), fold.end()))
    if len(breaks) == 1:
        trace.add(" ", *breaks[0].span())
    for each in breaks[1:]:
        trace.add("\n", *each.span())


def _escape(trace: _Offsets, text: str, at: int, end: int, style: str) -> int:
    """Decode one escape of a double-quoted text; return its end offset."""
    if style == '"' and (gap := _ESCAPED_BREAK.match(text, at, end)):
        for each in list(_ANY_BREAK.finditer(text, gap.start(), gap.end()))[1:]:
            trace.add("\n", *each.span())
        return gap.end()
    if style == "j" and (pair := _SURROGATE_PAIR.match(text, at, end)):
        high, low = int(pair.group(1), 16), int(pair.group(2), 16)
        trace.add(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), at, pair.end())
        return pair.end()
    letter = text[at + 1 : at + 2]
    if letter in _HEX_DIGITS:
        after = at + 2 + _HEX_DIGITS[letter]
        trace.add(chr(int(text[at + 2 : after], 16)), at, after)
        return after
    trace.add((_YAML_ESCAPES if style == '"' else _JSON_ESCAPES).get(letter, ""), at, at + 2)
    return at + 2


def _block(scalar: Scalar, value: str) -> _Offsets | None:
    """Decode a literal or folded block. Chomping only decides how many trailing line breaks count."""
    text = scalar.source.text
    blank = _BLANK_LINES.match(text, scalar.end)
    end = blank.end() if blank else scalar.end
    header = _HEADER.match(text, scalar.start, end)
    if header is None:
        return None
    first_break = _ANY_BREAK.match(text, header.end(), end)
    lines = _lines(text, first_break.end(), end) if first_break else []
    trace = _Offsets(lines[0][0] if lines else scalar.start)
    _block_lines(trace, text, lines, _indentation(text, lines, value), folds=scalar.style == ">")
    while trace.length > len(value) and trace.pieces[-1] == "\n":
        trace.drop()
    return trace


def _lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """The lines from `start` to `end` as offsets: start of the line, end of its text, end of its line break."""
    lines = []
    for trace in _ANY_BREAK.finditer(text, start, end):
        lines.append((start, trace.start(), trace.end()))
        start = trace.end()
    if start < end:
        lines.append((start, end, end))
    return lines


def _indentation(text: str, lines: list[tuple[int, int, int]], value: str) -> int:
    """The block's indentation: the leading spaces of its first non-empty line in the file, less those in the value."""
    for start, stop, _ in lines:
        line = text[start:stop]
        if line.strip(" "):
            inner = next((each for each in value.split("\n") if each.strip(" ")), "")
            return max(_leading_spaces(line) - _leading_spaces(inner), 0)
    longest = max((stop - start for start, stop, _ in lines), default=0)
    return longest - max(map(len, value.split("\n")))


def _leading_spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block_lines(
    trace: _Offsets, text: str, lines: list[tuple[int, int, int]], indentation: int, *, folds: bool
) -> None:
    """Decode the lines of a block: in a folded block a single break between unindented lines is a space."""
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
                trace.add(" ", *last)
        elif last is not None:
            trace.add("\n", *last)
        for each in empty:
            trace.add("\n", *each)
        trace.add(text[inner:stop], inner, stop)
        last, empty, was_indented = (stop, after), [], is_indented
    for each in ([last] if last is not None and last[1] > last[0] else []) + empty:
        trace.add("\n", *each)
