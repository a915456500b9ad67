"""Renders findings for people: the message, the location, the source line with a caret, and the help."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Guess, Severity, Span
from rulewright.load import load_file
from rulewright.load.nodes import Source
from rulewright_runtime.cells import cells, width
from rulewright_runtime.english import plural
from rulewright_runtime.terminal import WIDTH, paint, wrapped

_MIN_SOURCE_CELLS = 20  # cells of source in the narrowest terminal
_MAX_LINE_CELLS = 160  # in the widest: a pager would wrap a longer line
_CUT = "…"
_MEASURED_CODE_POINTS = 500  # on each side of a mark, more than a line of output holds
_FRAME = "frame"
_BOLD = "bold"


class _Mark(Struct, frozen=True):
    """An underlined span: the mistake with `^`, a note with `-` and its message."""

    span: Span
    words: str
    sign: str


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, Source] | None = None,
    *,
    colour: bool = False,
    width: int = WIDTH,
    default_help: Callable[[str], str | None] = lambda code: None,
) -> str:
    """Return every finding as a paragraph, separated by empty lines.

    Source lines come from `sources` by path, else from the files. The first finding of a code without help or fix gets
    the text of `default_help` for its code.
    """
    painter = _Painter(_read(diagnostics) if sources is None else sources, colour, width)
    first_without_help = {each.code: each for each in reversed(diagnostics) if not each.help and not each.fix}
    return "\n".join(
        painter.paragraph(
            replace(each, help=default_help(each.code)) if first_without_help.get(each.code) is each else each
        )
        for each in diagnostics
    )


def summary(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """Return one line with the number of findings by severity."""
    counts = [(sum(each.severity is s for each in diagnostics), s.value) for s in Severity]
    parts = [plural(count, word, "advice" if word == "advice" else None) for count, word in counts if count]
    checked = plural(files, "file")
    return f"{', '.join(parts)} in {checked}" if parts else f"no findings in {checked}"


def _read(diagnostics: Iterable[Diagnostic]) -> dict[str, Source]:
    paths = {span.path for each in diagnostics for span in (each.span, *(note.span for note in each.notes))}
    return {path: load_file(path).source for path in paths if os.path.isfile(path)}


class _Painter:
    """Draws findings, with or without colour."""

    def __init__(self, sources: Mapping[str, Source], colour: bool, width: int) -> None:
        self.sources = sources
        self.colour = colour
        self.width = width

    def paint(self, text: str, colour: str) -> str:
        """Return the text in a colour, or unchanged without colours."""
        return paint(text, colour) if self.colour else text

    def paragraph(self, finding: Diagnostic) -> str:
        """Return one finding as text that ends with a line break."""
        marks = [_Mark(finding.span, "", "^")]
        marks += [_Mark(note.span, note.message, "-") for note in finding.notes]
        gutter = len(str(max(mark.span.line for mark in marks)))
        lines = self.headline(finding)
        for path in dict.fromkeys(mark.span.path for mark in marks):
            file_marks = [mark for mark in marks if mark.span.path == path]
            lines += self.snippet(path, file_marks, gutter, finding.severity)
        if finding.help or finding.fix:
            lines.append(self.frame("", gutter))
        if finding.help:
            lines += self.aside("help", finding.help, gutter)
        if finding.fix and not isinstance(finding.help, Guess):  # which says the same
            safety = "" if finding.fix.safe else " (unsafe: look at the change)"
            lines += self.aside("fix", finding.fix.message + safety, gutter)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def headline(self, finding: Diagnostic) -> list[str]:
        """Return the wrapped lines of `error[code]: message`."""
        label = f"{finding.severity}[{finding.code}]"
        text = _visible(f"{label}: {finding.message}")
        first = wrapped(text, self.width)[0]
        rest = text[len(first) :].lstrip(" ")
        head = self.paint(label, finding.severity.value) + self.paint(first[len(label) :], _BOLD)
        return [head, *(self.paint(f"  {line}", _BOLD) for line in wrapped(rest, self.width - 2) if line)]

    def snippet(self, path: str, marks: list[_Mark], gutter: int, severity: Severity) -> list[str]:
        """Return the marked lines of one file with their underlines."""
        span = marks[0].span
        bar = self.frame("", gutter)
        lines = [f"{' ' * gutter}{self.paint('-->', _FRAME)} {_visible(path)}:{span.line}:{span.column}"]
        source = self.sources.get(path)
        if source is None or not source.text:
            return lines + [f"{bar} {mark.words}" for mark in marks if mark.words]
        lines.append(bar)
        by_line: dict[int, list[_Mark]] = {}
        for mark in marks:
            by_line.setdefault(mark.span.line, []).append(mark)
        last_shown = 0
        for number in sorted(by_line):
            if last_shown and number > last_shown + 1:
                lines.append(self.paint("...", _FRAME))
            line_marks = sorted(by_line[number], key=lambda m: (m.sign != "^", m.span))
            lines += self.marked_line(source.line_text(number), number, line_marks, gutter, severity)
            last_shown = number
        return lines

    def marked_line(self, text: str, number: int, marks: list[_Mark], gutter: int, severity: Severity) -> list[str]:
        """Return a source line in a window around its first mark, with an underline for each mark; marks outside the
        window, which are in order, follow in windows of their own."""
        room = max(min(self.width, _MAX_LINE_CELLS) - gutter - 3, _MIN_SOURCE_CELLS)
        window = _Excerpt(text, marks[0].span, room)
        own = [marks[0], *(mark for mark in marks[1:] if window.shows(mark.span))]
        lines = self.excerpt(window, number, own, gutter, severity)
        outside = deque(mark for mark in marks[1:] if not window.shows(mark.span))
        while outside:
            window, own = _Excerpt(text, outside[0].span, room), [outside.popleft()]
            while outside and window.shows(outside[0].span):
                own.append(outside.popleft())
            lines += [self.paint("...", _FRAME), *self.excerpt(window, number, own, gutter, severity)]
        return lines

    def excerpt(self, window: _Excerpt, number: int, marks: list[_Mark], gutter: int, severity: Severity) -> list[str]:
        """Return a part of a source line, with an underline for each mark in it."""
        lines = [f"{self.frame(str(number), gutter)} {window.shown}"]
        for mark in marks:
            colour = severity.value if mark.sign == "^" else _FRAME
            before, length = window.underline(mark.span)
            under = " " * before + self.paint(mark.sign * length, colour)
            if mark.words and before + length + 1 + width(mark.words) <= window.room:
                lines.append(f"{self.frame('', gutter)} {under} {self.paint(_visible(mark.words), colour)}")
                continue
            lines.append(f"{self.frame('', gutter)} {under}")
            words = wrapped(_visible(mark.words), window.room) if mark.words else ()
            lines += [f"{self.frame('', gutter)} {self.paint(w, colour)}" for w in words]
        return lines

    def aside(self, kind: str, text: str, gutter: int) -> list[str]:
        """Return the wrapped line `= help: ...` below the source."""
        lead = f"{' ' * gutter} {self.paint('=', _FRAME)} {self.paint(f'{kind}:', _BOLD)} "
        indent = gutter + 3 + len(kind) + 2
        lines = wrapped(_visible(text), max(self.width - indent, _MIN_SOURCE_CELLS))
        return [(lead if i == 0 else " " * indent) + line for i, line in enumerate(lines)]

    def frame(self, number: str, gutter: int) -> str:
        """Return the margin with a line number, or with spaces."""
        return self.paint(f"{number:>{gutter}} |", _FRAME)


class _Excerpt:
    """The visible part of a line, cut so that the target span is visible."""

    def __init__(self, text: str, target: Span, room: int) -> None:
        self.room = room
        # Of a very long line only the neighbourhood of the target is measured.
        self.skipped = max(target.column - 1 - _MEASURED_CODE_POINTS, 0) if len(text) > 2 * _MEASURED_CODE_POINTS else 0
        nearby = text[self.skipped : self.skipped + 2 * _MEASURED_CODE_POINTS]
        self.cells = cells(nearby)
        self.edges = [0]  # the start cell of each code point, then the end of the line
        for cell in self.cells:
            self.edges.append(self.edges[-1] + cell.width)
        self.start, self.stop = 0, len(self.cells)
        if self.edges[-1] > room:
            self.cut(target, room)
        lead = _CUT if self.start or self.skipped else ""
        trail = _CUT if self.stop < len(self.cells) or self.skipped + len(nearby) < len(text) else ""
        self.lead = len(lead)
        self.shown = lead + "".join(cell.shown for cell in self.cells[self.start : self.stop]) + trail

    def cut(self, target: Span, room: int) -> None:
        """Choose the visible code points: a third of the room is before the target."""
        column = min(target.column - 1 - self.skipped, len(self.cells))
        room -= 2 * len(_CUT)
        start = max(self.edges[column] - room // 3, 0)
        start = min(start, max(self.edges[-1] - room, 0))
        self.start = next(i for i, edge in enumerate(self.edges) if edge >= start)
        while 0 < self.start < len(self.cells) and self.cells[self.start].width == 0:
            self.start += 1
        end = self.edges[self.start] + room
        self.stop = max(i for i, edge in enumerate(self.edges) if edge <= end)

    def shows(self, span: Span) -> bool:
        """Whether a span of the line begins inside the window."""
        return self.start <= span.column - 1 - self.skipped <= self.stop

    def underline(self, span: Span) -> tuple[int, int]:
        """Return the underline's offset and length in cells: whole graphemes, at least one cell, within the window."""
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
    """Return text without characters that move the cursor or break the line."""
    return text if text.isascii() and text.isprintable() else "".join(cell.shown for cell in cells(text))
