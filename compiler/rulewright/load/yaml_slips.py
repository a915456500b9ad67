"""Mistakes that libyaml reports only lines later: unclosed quotes, a dash without a blank, wrong indentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from rulewright.diagnostics import Diagnostic
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.source import Source

_QUOTED_VALUE: Final = re.compile(r"[ ]*(?:- +)*(?:[\w.-]+: +)?(?=([\"']))")
_END: Final = re.compile(r"\s*(?:[,\]}:#]|$)", re.MULTILINE)
_CLOSED: Final = {'"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL), "'": re.compile(r"'(?:[^']|'')*'", re.DOTALL)}
_GLUED: Final = re.compile(r"([ ]*)(-[A-Za-z\"'{\[].*)")
_BULLET: Final = re.compile(r"([ ]*)((?:--|[*\u2013\u2014\u2022]) ?)(\S.*)")
_ITEM: Final = re.compile(r"[ ]*- ")
_KEY: Final = re.compile(r"([ ]*)((?:- +)?[\w.-]+):(?=\s|$)(.*)")
_ENTRY: Final = re.compile(r"[ ]*(?:- |[\w.-]+ *=|[\w.-]+\s*$)")
_BLOCK: Final = re.compile(r".*(?:^|\s)[|>][-+0-9]*\s*(?:#.*)?$")


class _Line(NamedTuple):
    """A non-empty line: its number, its indentation in spaces, and its text."""

    number: int
    indent: int
    text: str


def slip_above(source: Source, offset: int) -> Diagnostic | None:
    """Return the mistake above `offset` that explains a syntax error there, or None."""
    line, _ = source.position(offset)
    if slip := _open_quotes(source, _lines(source, line + 1)):  # the value may go on for millions of lines
        return slip
    lines = list(_lines(source, line + 1))
    return _glued_dash(source, lines) or _no_block(source, lines, line) or _odd_line(source, lines, line)


def _lines(source: Source, last: int) -> Iterator[_Line]:
    """The non-empty lines up to `last`, without those of block scalars."""
    block: int | None = None
    for number in range(1, min(last, len(source.starts)) + 1):
        text = source.line_text(number)
        indent = len(text) - len(text.lstrip(" "))
        if block is not None and (not text.strip() or indent > block):
            continue
        block = indent if _BLOCK.match(text) else None
        if text.strip() and not text.lstrip().startswith("#"):
            yield _Line(number, indent, text)


def _open_quotes(source: Source, lines: Iterable[_Line]) -> Diagnostic | None:
    """Report a quoted value whose closing quote is missing, so that it ends at the next quote."""
    closed_at = 0
    for line in lines:
        match = _QUOTED_VALUE.match(line.text)
        start = source.starts[line.number - 1] + (match.end() if match else 0)
        if match is None or start < closed_at:
            continue
        closed = _CLOSED[match[1]].match(source.text, start)
        closed_at = closed.end() if closed else start
        multiline = closed is None or "\n" in closed.group()
        if multiline and (closed is None or not _END.match(source.text, closed.end())):
            span = source.span(start, start + 1)
            help = "close them, or use a block (`|`)"
            return mistake("yaml-syntax", span, "the quotes are never closed", help=help)
    return None


def _glued_dash(source: Source, lines: list[_Line]) -> Diagnostic | None:
    """Report an item without a blank after its dash, next to items or below a key."""
    for above, line in pairwise(lines):
        bullet = _BULLET.match(line.text)
        if bullet and (_ITEM.match(above.text) or above.text.rstrip().endswith(":")):
            start = source.starts[line.number - 1] + len(bullet[1])
            help = f"write `- {shorten(bullet[3].strip())}`"
            span = source.span(start, start + len(bullet[2].rstrip()))
            return mistake("yaml-syntax", span, "an item of a list begins with `- `", help=help)
        glued = _GLUED.match(line.text)
        if glued and (above.text.startswith(f"{glued[1]}- ") or above.text.rstrip().endswith(":")):
            start = source.starts[line.number - 1] + len(glued[1])
            help = f"write `- {shorten(glued[2][1:].strip())}`"
            return mistake("yaml-syntax", source.span(start, start + 1), "a blank is missing behind `-`", help=help)
    return None


def _no_block(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """Report a multi-line text with a colon whose key lacks the block indicator `|`."""
    current = next((each for each in lines if each.number == line), None)
    before = [each for each in lines if each.number < line]
    if current is None or _ITEM.match(current.text):
        return None
    indent = current.indent if current is not None else 0
    header = next((each for each in reversed(before) if each.indent < indent or _KEY.match(each.text)), None)
    between = [each for each in before if header is not None and each.number > header.number]
    match = _KEY.match(header.text) if header is not None and _is_header(header) else None
    if match is None or header is None or not between or any(_ENTRY.match(each.text) for each in between):
        return None
    start = source.starts[header.number - 1] + match.start(2)
    span = source.span(start, start + len(match[2]))
    return mistake("yaml-syntax", span, "this text needs a block", help=f"write `{match[2]}: |` above it")


def _odd_line(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """Report the key whose indentation differs from all neighbours."""
    index = next((number for number, each in enumerate(lines) if each.number >= line), len(lines))
    before = lines[:index]
    if not before or not (current := next((each for each in lines if each.number == line), None)):
        return None
    if (
        all(each.number == before[0].number or each.indent == 0 for each in before)
        and before[0].indent > current.indent == 0
    ):
        return _indented_wrongly(source, before[0])
    neighbours = [each for each in [*before[-3:], current] if _KEY.match(each.text)]
    uneven = [each for each in neighbours if each.indent % 2]
    if len(uneven) == 1:
        return _indented_wrongly(source, uneven[0])
    for header, child in pairwise(lines[: index + 1]):
        level = [each for each in before if each.number > header.number and each.indent == child.indent]
        jumps = _is_header(header) and child.indent - header.indent > 2 and child.number <= line
        if jumps and current.indent < child.indent and current.indent > header.indent:
            return _indented_wrongly(source, child if len(level) == 1 else header)
    above = before[-1]
    aligned = any(each.indent == current.indent for each in before[-4:-1]) or _has_aligned_successor(source, current)
    if _KEY.match(above.text) and not _is_header(above) and current.indent > above.indent and aligned:
        return _indented_wrongly(source, current if _is_header(current) else above)
    return None


def _is_header(line: _Line) -> bool:
    match = _KEY.match(line.text)
    return match is not None and not match[3].partition("#")[0].strip()


def _has_aligned_successor(source: Source, line: _Line) -> bool:
    """Whether the next non-empty line is aligned with this one."""
    following = (source.line_text(number) for number in range(line.number + 1, len(source.starts) + 1))
    text = next((each for each in following if each.strip()), "")
    return len(text) - len(text.lstrip(" ")) == line.indent and _KEY.match(text) is not None


def _indented_wrongly(source: Source, line: _Line) -> Diagnostic | None:
    match = _KEY.match(line.text)
    if match is None:
        return None
    start = source.starts[line.number - 1] + match.start(2)
    message, help = f"`{match[2]}` is indented wrongly", "indent it like its sibling keys"
    return mistake("yaml-syntax", source.span(start, start + len(match[2])), message, help=help)
