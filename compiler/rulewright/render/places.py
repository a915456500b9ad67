"""Places as machines want them: columns in code points, and in UTF-16 units for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.diagnostics import Span
    from rulewright.load.source import Source


def place_of(span: Span, sources: Mapping[str, Source]) -> dict[str, Any]:
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
