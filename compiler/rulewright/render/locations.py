"""Places as machines want them: columns in code points and in UTF-16 units, and the key that stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rulewright.diagnostics import Span
from rulewright.load import Node, load_text, path_at
from rulewright.load.source import Source


@dataclass(frozen=True, slots=True)
class Keys:
    """Looks up the keys that stand at places in `sources`; every file is read once, when it is first asked about."""

    sources: Mapping[str, Source]
    _roots: dict[str, Node | None] = field(default_factory=dict)

    def at(self, span: Span) -> str | None:
        """The path of the key or value where the span begins, None where there is none."""
        source = self.sources.get(span.path)
        if source is None:
            return None
        if span.path not in self._roots:
            self._roots[span.path] = load_text(source.text, span.path).root
        return path_at(self._roots[span.path], source.offset(span.line, span.column)) or None


def place_of(span: Span, sources: Mapping[str, Source]) -> dict[str, object]:
    """The span as plain data; without its source, UTF-16 columns are those in code points."""
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
