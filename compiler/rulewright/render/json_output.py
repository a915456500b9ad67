"""Findings as JSON.

    {"version": 1,
     "summary": {"error": 1, "warning": 0, "advice": 0, "files": 3},
     "diagnostics": [{"code", "severity", "message", "span": PLACE, "key": PATH or null, "help": text or null,
                      "notes": [{"span": PLACE, "key": PATH or null, "message"}],
                      "fix": null or {"message", "safe", "edits": [{"span": PLACE, "text"}]}}]}

    PATH: the key or value at the start of the span, `turns[0].rubric[1].dimension`
    PLACE: {"path", "line", "column", "end_line", "end_column", "utf16_column", "utf16_end_column"}

Lines and columns count from 1 and ends are exclusive; columns are code points, with UTF-16 units next to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from rulewright.diagnostics import Diagnostic, Severity, Span
from rulewright.load import Node, load_text
from rulewright.load.nodes import Source, path_at

VERSION = 1


def json_output(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    """Return the findings as the JSON text that the module's docstring describes, with a final line break."""
    counts: dict[str, int] = {s.value: sum(each.severity is s for each in diagnostics) for s in Severity}
    counts["files"] = len(sources)
    keys = Keys(sources)
    document = {
        "version": VERSION,
        "summary": counts,
        "diagnostics": [as_data(each, sources, keys) for each in diagnostics],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_data(finding: Diagnostic, sources: Mapping[str, Source], keys: Keys) -> dict[str, object]:
    """Return one finding as plain data."""
    fix = finding.fix
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "span": place_of(finding.span, sources),
        "key": keys.at(finding.span),
        "help": finding.help,
        "notes": [
            {"span": place_of(note.span, sources), "key": keys.at(note.span), "message": note.message}
            for note in finding.notes
        ],
        "fix": fix
        and {
            "message": fix.message,
            "safe": fix.safe,
            "edits": [{"span": place_of(edit.span, sources), "text": edit.text} for edit in fix.edits],
        },
    }


class Keys(Struct, frozen=True):
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
