"""Scalars: the values of plain ones by the core schema of YAML 1.2 (`yes` is text, `1e3` a number, `0o17` fifteen), and
exact spans inside them, from the characters of a loaded string to offsets in the file.

A text is decoded a second time, with offsets, and the result is compared with the loaded value: only when both agree
are the offsets used.
"""

import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

from rulewright.diagnostics import Span
from rulewright.load.load_errors import MAX_DIGITS
from rulewright.load.nodes import Plain, Scalar

# A plain scalar that starts with another character is text; the empty scalar is null.
STARTS = frozenset("0123456789+-.~nNtTfF") | {""}

_WORDS: dict[str, Plain] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBERS = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")


def value_of(text: str) -> Plain:
    """Return the value of a plain scalar; raises OverflowError for a finite number out of range or too long."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBERS:
        return text
    if _INT.match(text):
        return number(text)
    if _FLOAT.match(text):
        return number(text)
    if _BASED.match(text):
        if len(text) > MAX_DIGITS:
            raise OverflowError(text)
        return int(text[2:], 8 if text[1] == "o" else 16)
    return text


def number(text: str) -> int | float:
    """Return the number of a decimal text: an int without point and exponent, else a float; raises OverflowError."""
    if len(text) > MAX_DIGITS:
        raise OverflowError(text)
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise OverflowError(text)
    return value


_BREAK = r"(?:\r\n|\r|\n)"
_FOLD = re.compile(rf"[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*")
_ESCAPED_BREAK = re.compile(rf"\\{_BREAK}[ \t]*(?:{_BREAK}[ \t]*)*")
_ANY_BREAK = re.compile(_BREAK)
_BLANK_LINES = re.compile(rf"(?:[ \t]*{_BREAK})*(?:[ \t]*\Z)?")
_RUN = re.compile(r"[ \t\n]+|[^ \t\n]+")
_BLANKS = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?")
_YAML_ESCAPES = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_JSON_ESCAPES = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
# Characters that need no decoding, for each style of text with escapes.
_RUNS = {'"': re.compile(r"[^ \t\r\n\\]+"), "j": re.compile(r"[^\\]+")}
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

    def add_blanks(self, gap: re.Match[str], end: int, length: int) -> None:
        """Append as many characters of a gap, if any, which end at an offset."""
        if length > 0:
            self.add(gap.string[end - length : end], end - length, end)

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
        content, end = _content_of_block(scalar)
    else:
        content, end = (start + 1, end - 1) if style else (start, end)
    trace = _Offsets(content)
    if style in ('"', "j"):
        _decode(trace, text, content, end, style)
    elif style == "|":
        _align_lines(trace, scalar.value, text, content, end)
    else:
        _align(trace, scalar.value, text, content, end, style)
    return trace if trace.text == scalar.value else None


def _content_of_block(scalar: Scalar) -> tuple[int, int]:
    """The offsets of the lines of a block, and of the empty lines after them. Chomping only decides how many of these
    count."""
    text = scalar.source.text
    blank = _BLANK_LINES.match(text, scalar.end)
    end = blank.end() if blank else scalar.end
    header = _HEADER.match(text, scalar.start, end)
    first_break = _ANY_BREAK.match(text, header.end(), end) if header else None
    return (scalar.start if first_break is None or first_break.end() == end else first_break.end()), end


def _align_lines(trace: _Offsets, value: str, text: str, at: int, end: int) -> None:
    """Align a literal block: its lines are those of the file without their indentation. Stops where one is missing."""
    lines, breaks = value.split("\n"), [*_ANY_BREAK.finditer(text, at, end)]
    for number, line in enumerate(lines):
        line_end = breaks[number].start() if number < len(breaks) else end
        if not text.endswith(line, at, line_end):
            return
        if line:
            trace.add(line, line_end - len(line), line_end)
        if number < min(len(breaks), len(lines) - 1):
            at = breaks[number].end()
            trace.add("\n", line_end, at)


def _align(trace: _Offsets, value: str, text: str, at: int, end: int, style: str) -> None:
    """Align a text without escapes: its words are those of the file, and only the spaces between them differ, by
    indentation, folding and chomping. Stops where one is missing."""
    for run in _RUN.finditer(value):
        piece, gap = run.group(), _BLANKS.match(text, at, end)
        assert gap is not None
        at = gap.end() if piece[0] in " \t\n" or run.start() == 0 else at
        if piece[0] in " \t\n":
            _align_blanks(trace, piece, gap, ends_block=run.end() == len(value) and style == ">")
            continue
        for part in re.split("(')", piece) if style == "'" else [piece]:
            written = "''" if part == "'" and style == "'" else part
            if not text.startswith(written, at, end):
                return
            trace.add(part, at, at + len(written))
            at += len(written)


def _align_blanks(trace: _Offsets, piece: str, gap: re.Match[str], *, ends_block: bool) -> None:
    """Align the spaces between two words: the line breaks are the last ones in the file, at the end of a block the
    first; other spaces end where the next break or word begins."""
    breaks, (first, *parts) = list(_ANY_BREAK.finditer(gap.string, *gap.span())), piece.split("\n")
    ends = [*(each.start() for each in breaks), gap.end()]
    folds = bool(breaks) and not parts and not ends_block
    trace.add_blanks(gap, ends[0], len(first) - folds)
    if folds:
        trace.add(" ", *breaks[0].span())
    skipped = 0 if ends_block else max(len(breaks) - len(parts), 0)
    for part, each, end in zip(parts, breaks[skipped:], ends[skipped + 1 :], strict=False):
        trace.add("\n", *each.span())
        trace.add_blanks(gap, end, len(part))


def _decode(trace: _Offsets, text: str, at: int, end: int, style: str) -> None:
    """Decode text in double quotes: fold line breaks into spaces, empty lines into line breaks, and decode escapes."""
    while at < end:
        char = text[at]
        if char in " \t\r\n" and style != "j" and (fold := _FOLD.match(text, at, end)):
            _fold(trace, text, fold)
            at = fold.end()
        elif char == "\\":
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
