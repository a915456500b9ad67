"""Where the slip was made that libyaml stumbles over lines later: open quotes, a glued dash, an odd line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from rulewright.diagnostics import Diagnostic
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.source import Source

_QUOTED_VALUE: Final = re.compile(r"[ ]*(?:- +)*(?:[\w.-]+: +)?(?=([\"']))")
_END: Final = re.compile(r"\s*(?:[,\]}:#]|$)", re.MULTILINE)
_CLOSED: Final = {'"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL), "'": re.compile(r"'(?:[^']|'')*'", re.DOTALL)}
_GLUED: Final = re.compile(r"([ ]*)(-[A-Za-z\"'{\[](.*))")
_KEY: Final = re.compile(r"([ ]*)((?:- +)?[\w.-]+):(?=\s|$)(.*)")
_ENTRY: Final = re.compile(r"[ ]*(?:- |[\w.-]+ *=|[\w.-]+\s*$)")
_BLOCK: Final = re.compile(r".*(?:^|\s)[|>][-+0-9]*\s*(?:#.*)?$")


class _Line(NamedTuple):
    """A line that holds something: its number, how far it is indented, and its text."""

    number: int
    indent: int
    text: str


def slip_above(source: Source, offset: int) -> Diagnostic | None:
    """The slip that explains why a text can't be read at `offset`; None where there is none to be seen."""
    line, _ = source.position(offset)
    lines = list(_lines(source, line + 1))
    slip = _open_quotes(source, lines) or _glued_dash(source, lines) or _no_block(source, lines, line)
    return slip or _odd_line(source, lines, line)


def _lines(source: Source, last: int) -> Iterator[_Line]:
    """The lines up to the last one that hold something, those of blocks of text left out."""
    block: int | None = None
    for number in range(1, min(last, len(source.starts)) + 1):
        text = source.line_text(number)
        indent = len(text) - len(text.lstrip(" "))
        if block is not None and (not text.strip() or indent > block):
            continue
        block = indent if _BLOCK.match(text) else None
        if text.strip() and not text.lstrip().startswith("#"):
            yield _Line(number, indent, text)


def _open_quotes(source: Source, lines: list[_Line]) -> Diagnostic | None:
    """A value in quotes that ends where another one begins: its own end is missing."""
    behind = 0
    for line in lines:
        found = _QUOTED_VALUE.match(line.text)
        start = source.starts[line.number - 1] + (found.end() if found else 0)
        if found is None or start < behind:
            continue
        closed = _CLOSED[found[1]].match(source.text, start)
        behind = closed.end() if closed else start
        runs_on = closed is None or "\n" in closed.group()
        if runs_on and (closed is None or not _END.match(source.text, closed.end())):
            place = source.span(start, start + 1)
            help = "close them, or use a block (`|`)"
            return mistake("yaml-syntax", place, "the quotes are never closed", help=help)
    return None


def _glued_dash(source: Source, lines: list[_Line]) -> Diagnostic | None:
    """An item whose dash stands right before its text, beside items or below a key."""
    for above, line in pairwise(lines):
        glued = _GLUED.match(line.text)
        if glued and (above.text.startswith(f"{glued[1]}- ") or above.text.rstrip().endswith(":")):
            start = source.starts[line.number - 1] + len(glued[1])
            help = f"write `- {shorten(glued[2][1:].strip())}`"
            return mistake("yaml-syntax", source.span(start, start + 1), "a blank is missing behind `-`", help=help)
    return None


def _no_block(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """The key above a text of several lines with a colon in it: the sign that makes a block of the text is missing."""
    here = next((each for each in lines if each.number == line), None)
    before = [each for each in lines if each.number < line]
    indent = here.indent if here is not None else 0
    header = next((each for each in reversed(before) if each.indent < indent or _KEY.match(each.text)), None)
    between = [each for each in before if header is not None and each.number > header.number]
    found = _KEY.match(header.text) if header is not None and _is_header(header) else None
    if found is None or header is None or not between or any(_ENTRY.match(each.text) for each in between):
        return None
    start = source.starts[header.number - 1] + found.start(2)
    place = source.span(start, start + len(found[2]))
    return mistake("yaml-syntax", place, "this text needs a block", help=f"write `{found[2]}: |` above it")


def _odd_line(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """The key that is indented like none of those around it."""
    at = next((number for number, each in enumerate(lines) if each.number >= line), len(lines))
    before = lines[:at]
    if not before or not (here := next((each for each in lines if each.number == line), None)):
        return None
    if (
        all(each.number == before[0].number or each.indent == 0 for each in before)
        and before[0].indent > here.indent == 0
    ):
        return _indented_wrongly(source, before[0])
    around = [each for each in [*before[-3:], here] if _KEY.match(each.text)]
    uneven = [each for each in around if each.indent % 2]
    if len(uneven) == 1:
        return _indented_wrongly(source, uneven[0])
    for header, child in pairwise(lines[: at + 1]):
        level = [each for each in before if each.number > header.number and each.indent == child.indent]
        jumps = _is_header(header) and child.indent - header.indent > 2 and child.number <= line
        if jumps and here.indent < child.indent and here.indent > header.indent:
            return _indented_wrongly(source, child if len(level) == 1 else header)
    above = before[-1]
    beside = any(each.indent == here.indent for each in before[-4:-1]) or _goes_on(source, here)
    if _KEY.match(above.text) and not _is_header(above) and here.indent > above.indent and beside:
        return _indented_wrongly(source, above)
    return None


def _is_header(line: _Line) -> bool:
    found = _KEY.match(line.text)
    return found is not None and not found[3].partition("#")[0].strip()


def _goes_on(source: Source, line: _Line) -> bool:
    """Whether the next line that holds something stands beside this one."""
    following = (source.line_text(number) for number in range(line.number + 1, len(source.starts) + 1))
    text = next((each for each in following if each.strip()), "")
    return len(text) - len(text.lstrip(" ")) == line.indent and _KEY.match(text) is not None


def _indented_wrongly(source: Source, line: _Line) -> Diagnostic | None:
    found = _KEY.match(line.text)
    if found is None:
        return None
    start = source.starts[line.number - 1] + found.start(2)
    message, help = f"`{found[2]}` is indented wrongly", "indent it like the key that it belongs beside"
    return mistake("yaml-syntax", source.span(start, start + len(found[2])), message, help=help)
