"""Findings for people: the message, the place, the line with a caret under the mistake, and how to fix it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from rulewright.diagnostics import Diagnostic, Severity, Span
from rulewright.load import load_file
from rulewright.load.source import Source
from rulewright.render.cells import cells, width_of
from rulewright_runtime.terminal import WIDTH, paint, wants_colour, width_for

__all__ = ["WIDTH", "render", "summary", "wants_colour", "width_for"]

_LEAST = 20  # cells of source that are shown however narrow the terminal is
_MOST = 160  # and however wide it is: nobody finds a caret in a line that a pager breaks
_CUT = "…"
_FAR = 5_000  # code points to each side of a place, more than a line of output holds
_FRAME = "frame"
_BOLD = "bold"


@dataclass(frozen=True, slots=True)
class _Mark:
    """Something underlined: the mistake itself with `^`, what explains it with `-` and words."""

    span: Span
    words: str
    sign: str


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source] | None = None,
    *,
    colour: bool = False,
    width: int = WIDTH,
    instead: Callable[[str], str | None] = lambda code: None,
) -> str:
    """Every finding as a paragraph, an empty line between two.

    Lines of source come from `sources` by path, or from the files themselves where a caller has only the findings. The
    first finding of a code that brings no help has what `instead` says of the code.
    """
    painter = _Painter(_read(diagnostics) if sources is None else sources, colour, width)
    helpless = {each.code: each for each in reversed(diagnostics) if not each.help and not each.fix}
    return "\n".join(
        painter.paragraph(replace(each, help=instead(each.code)) if helpless.get(each.code) is each else each)
        for each in diagnostics
    )


def summary(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """One line that counts the findings."""
    counts = [(sum(each.severity is s for each in diagnostics), s.value) for s in Severity]
    parts = [_plural(count, word) for count, word in counts if count]
    checked = _plural(files, "file")
    return f"{', '.join(parts)} in {checked}" if parts else f"no findings in {checked}"


def _read(diagnostics: Iterable[Diagnostic]) -> dict[str, Source]:
    paths = {span.path for each in diagnostics for span in (each.span, *(note.span for note in each.notes))}
    return {path: load_file(path).source for path in paths if os.path.isfile(path)}


def _plural(count: int, word: str) -> str:
    plain = word if count == 1 or word == "advice" else f"{word}s"
    return f"{count} {plain}"


class _Painter:
    """Draws findings, with or without colour."""

    def __init__(self, sources: Mapping[str, Source], colour: bool, width: int) -> None:
        self.sources = sources
        self.colour = colour
        self.width = width

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where colours are wanted."""
        return paint(text, colour) if self.colour else text

    def paragraph(self, finding: Diagnostic) -> str:
        """One finding, ending with a line break."""
        marks = [_Mark(finding.span, "", "^")]
        marks += [_Mark(note.span, note.message, "-") for note in finding.notes]
        gutter = len(str(max(mark.span.line for mark in marks)))
        lines = self.headline(finding)
        for path in dict.fromkeys(mark.span.path for mark in marks):
            here = [mark for mark in marks if mark.span.path == path]
            lines += self.snippet(path, here, gutter, finding.severity)
        if finding.help or finding.fix:
            lines.append(self.frame("", gutter))
        if finding.help:
            lines += self.aside("help", finding.help, gutter)
        if finding.fix:
            safety = "" if finding.fix.safe else " (unsafe: look at the change)"
            lines += self.aside("fix", finding.fix.message + safety, gutter)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def headline(self, finding: Diagnostic) -> list[str]:
        """`error[code]: message`, wrapped."""
        label = f"{finding.severity}[{finding.code}]"
        text = _visible(f"{label}: {finding.message}")
        first, *rest = wrap(text, self.width, subsequent_indent="  ", break_on_hyphens=False) or [label]
        head = self.paint(label, finding.severity.value) + self.paint(first[len(label) :], _BOLD)
        return [head, *(self.paint(line, _BOLD) for line in rest)]

    def snippet(self, path: str, marks: list[_Mark], gutter: int, severity: Severity) -> list[str]:
        """The lines of one file that hold marks, each with its underlines."""
        span = marks[0].span
        bar = self.frame("", gutter)
        lines = [f"{' ' * gutter}{self.paint('-->', _FRAME)} {_visible(path)}:{span.line}:{span.column}"]
        source = self.sources.get(path)
        if source is None or not source.text:
            return lines + [f"{bar} {mark.words}" for mark in marks if mark.words]
        lines.append(bar)
        shown = 0
        for number in sorted({mark.span.line for mark in marks}):
            if shown and number > shown + 1:
                lines.append(self.paint("...", _FRAME))
            here = sorted((m for m in marks if m.span.line == number), key=lambda m: (m.sign != "^", m.span))
            lines += self.marked_line(source.line_text(number), number, here, gutter, severity)
            shown = number
        return lines

    def marked_line(self, text: str, number: int, marks: list[_Mark], gutter: int, severity: Severity) -> list[str]:
        """A line of source in a window around its first mark, with one underline for each mark; marks that stand
        outside of the window have one of their own."""
        room = max(min(self.width, _MOST) - gutter - 3, _LEAST)
        window = _Window(text, marks[0].span, room)
        lines = [f"{self.frame(str(number), gutter)} {window.shown}"]
        far = [mark for mark in marks[1:] if not window.shows(mark.span)]
        for mark in (mark for mark in marks if mark not in far):
            colour = severity.value if mark.sign == "^" else _FRAME
            before, length = window.underline(mark.span)
            under = " " * before + self.paint(mark.sign * length, colour)
            if mark.words and before + length + 1 + width_of(mark.words) <= room:
                lines.append(f"{self.frame('', gutter)} {under} {self.paint(_visible(mark.words), colour)}")
                continue
            lines.append(f"{self.frame('', gutter)} {under}")
            lines += [f"{self.frame('', gutter)} {self.paint(w, colour)}" for w in wrap(_visible(mark.words), room)]
        if far:
            lines += [self.paint("...", _FRAME), *self.marked_line(text, number, far, gutter, severity)]
        return lines

    def aside(self, kind: str, text: str, gutter: int) -> list[str]:
        """A line `= help: ...` below the source, wrapped."""
        lead = f"{' ' * gutter} {self.paint('=', _FRAME)} {self.paint(f'{kind}:', _BOLD)} "
        indent = gutter + 3 + len(kind) + 2
        lines = wrap(_visible(text), max(self.width - indent, _LEAST), break_on_hyphens=False)
        return [(lead if i == 0 else " " * indent) + line for i, line in enumerate(lines)]

    def frame(self, number: str, gutter: int) -> str:
        """The margin with a line's number, or without one."""
        return self.paint(f"{number:>{gutter}} |", _FRAME)


class _Window:
    """The part of a line that is shown, cut so that the place it is about can be seen."""

    def __init__(self, text: str, about: Span, room: int) -> None:
        # Of an endless line only the neighbourhood is measured: nothing further off could be shown.
        self.skipped = max(about.column - 1 - _FAR, 0) if len(text) > 2 * _FAR else 0
        near = text[self.skipped : self.skipped + 2 * _FAR]
        self.cells = cells(near)
        self.edges = [0]  # the cell at which each code point starts, and where the line ends
        for cell in self.cells:
            self.edges.append(self.edges[-1] + cell.width)
        self.start, self.stop = 0, len(self.cells)
        if self.edges[-1] > room:
            self.cut(about, room)
        lead = _CUT if self.start or self.skipped else ""
        trail = _CUT if self.stop < len(self.cells) or self.skipped + len(near) < len(text) else ""
        self.lead = len(lead)
        self.shown = lead + "".join(cell.shown for cell in self.cells[self.start : self.stop]) + trail

    def cut(self, about: Span, room: int) -> None:
        """Choose the code points to show: from a third of the room before the place on."""
        column = min(about.column - 1 - self.skipped, len(self.cells))
        room -= 2 * len(_CUT)
        start = max(self.edges[column] - room // 3, 0)
        start = min(start, max(self.edges[-1] - room, 0))
        self.start = next(i for i, edge in enumerate(self.edges) if edge >= start)
        while 0 < self.start < len(self.cells) and self.cells[self.start].width == 0:
            self.start += 1
        end = self.edges[self.start] + room
        self.stop = max(i for i, edge in enumerate(self.edges) if edge <= end)

    def shows(self, span: Span) -> bool:
        """Whether a place on the line begins inside the window."""
        return self.start <= span.column - 1 - self.skipped <= self.stop

    def underline(self, span: Span) -> tuple[int, int]:
        """Cells before the underline, and its length: whole graphemes, at least one cell, inside the window."""
        last = len(self.cells)
        start = min(max(span.column - 1 - self.skipped, 0), last)
        end = last if span.end_line > span.line else min(max(span.end_column - 1 - self.skipped, 0), last)
        while 0 < start < last and self.cells[start].width == 0:
            start -= 1
        while end < last and end > start and self.cells[end].width == 0:
            end += 1
        start = min(max(start, self.start), self.stop)
        end = min(max(end, start), self.stop)
        before = self.edges[start] - self.edges[self.start] + self.lead
        length = self.edges[end] - self.edges[start]
        if length == 0 and start < self.stop:
            length = self.cells[start].width
        return before, max(length, 1)


def _visible(text: str) -> str:
    """Text of ours or of an author on one line, without anything that moves a cursor."""
    return text if text.isascii() and text.isprintable() else "".join(cell.shown for cell in cells(text))
