"""Spans as plain data: columns in code points and in UTF-16 units, and the path of the key there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rulewright.diagnostics import Span
from rulewright.load import Node, load_text, path_at
from rulewright.load.source import Source


@dataclass(frozen=True, slots=True)
class Keys:
    """Looks up the keys at spans of `sources`; every file is parsed once, on the first lookup."""

    sources: Mapping[str, Source]
    _roots: dict[str, Node | None] = field(default_factory=dict)

    def at(self, span: Span) -> str | None:
        """Return the path of the key or value at the start of the span, or None."""
        source = self.sources.get(span.path)
        if source is None:
            return None
        if span.path not in self._roots:
            self._roots[span.path] = load_text(source.text, span.path).root
        return path_at(self._roots[span.path], source.offset(span.line, span.column)) or None


def place_of(span: Span, sources: Mapping[str, Source]) -> dict[str, object]:
    """Return the span as plain data; without its source, UTF-16 columns equal those in code points."""
    source = sources.get(span.path)
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "utf16_column": _utf16(source, span.line, span.column),
        "utf16_end_column": _utf16(source, span.end_line, span.end_column),
    }


def _utf16(source: Source | None, line: int, column: int) -> int:
    if source is None:
        return column
    before = source.line_text(line)[: column - 1]
    return column + sum(char > "\uffff" for char in before)
