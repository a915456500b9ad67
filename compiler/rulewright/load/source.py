"""A file's text and the conversion between offsets and lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from rulewright.diagnostics import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The text of one file, without its byte order mark.

    Offsets count code points from 0. Lines end at `\\n`, `\\r\\n` or `\\r` only: libyaml also breaks lines at NEL, LS
    and PS, which no editor does, so its own line numbers are never used.
    """

    path: str
    text: str
    bom: bool = False  # the file began with a byte order mark; a rewritten file keeps it
    _starts: list[int] = field(default_factory=list, init=False, repr=False)

    @property
    def starts(self) -> list[int]:
        """The offsets of line starts, ascending; the first is 0."""
        if not self._starts:
            text = self.text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in self.text else self.text
            self._starts.append(0)
            self._starts.extend(accumulate(map((1).__add__, map(len, text.split("\n")))))
            del self._starts[-1]
        return self._starts

    @property
    def newline(self) -> str:
        """The line break of the file, that of its first line."""
        first = _NEWLINE.search(self.text)
        return first.group() if first else "\n"

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of `offset`; offsets outside the text are clamped."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column; positions outside the text are clamped."""
        if line > len(self.starts):
            return len(self.text)
        return min(self.starts[max(line, 1) - 1] + max(column, 1) - 1, len(self.text))

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` up to but not including offset `end`."""
        line, column = self.position(start)
        end_line, end_column = self.position(max(start, end))
        return Span(self.path, line, column, end_line, end_column)

    def between(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def line_text(self, line: int) -> str:
        """Return the text of a 1-based line without its line break; empty for a line outside the text."""
        if not 1 <= line <= len(self.starts):
            return ""
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")
