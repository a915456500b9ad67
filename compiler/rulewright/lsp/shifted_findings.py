"""Converts findings to protocol diagnostics and shifts them with changes of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
)

from rulewright.diagnostics import Diagnostic as Finding
from rulewright.diagnostics import Severity, Span
from rulewright.load import Source
from rulewright.lsp.positions import range_of, uri_of
from rulewright.shipped import page_paths

NAME: Final = "rulewright"
SEVERITIES: Final = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.ADVICE: DiagnosticSeverity.Information,
}
# Codes of text without effect, which editors fade.
_FADED: Final = ("dead-key", "directive-ignored-by-route", "listed-twice")


def to_protocol(
    finding: Finding, sources: Mapping[str, Source], uri: Callable[[str], str], encoding: str
) -> Diagnostic:
    """Convert a finding to a protocol diagnostic; `uri` maps a path to the editor's URI."""

    def range_in_source(span: Span) -> Range:
        return range_of(span, sources.get(span.path), encoding)

    page = _page(finding.code)
    related = [
        DiagnosticRelatedInformation(Location(uri(note.span.path), range_in_source(note.span)), note.message)
        for note in finding.notes
    ]
    faded = finding.code.startswith("unused-") or finding.code in _FADED
    return Diagnostic(
        range=range_in_source(finding.span),
        message=finding.message if finding.help is None else f"{finding.message}\n{finding.help}",
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if page is None else CodeDescription(page),
        source=NAME,
        related_information=related or None,
        tags=[DiagnosticTag.Unnecessary] if faded else None,
    )


def shift_findings(findings: Iterable[Finding], before: Source, after: Source) -> list[Finding]:
    """Return the findings of `before` on lines above and below the changed ones, shifted to their lines in `after` and
    without fixes."""
    old, new = _lines(before), _lines(after)
    least = min(len(old), len(new))
    above = next((n for n in range(least) if old[n] != new[n]), least)
    below = next((n for n in range(least - above) if old[-1 - n] != new[-1 - n]), least - above)
    shifted = []
    for each in findings:
        if each.span.end_line <= above:
            shifted.append(replace(each, fix=None))
        elif each.span.line > len(old) - below:
            shifted.append(replace(each, span=_shift(each.span, len(new) - len(old)), fix=None))
    return shifted


def _lines(source: Source) -> list[str]:
    return [source.line_text(number) for number in range(1, len(source.starts) + 1)]


def _shift(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


@cache
def _page(code: str) -> str | None:
    """The URI of a code's manual page, or None where this installation lacks it."""
    page = page_paths().get(code)
    return None if page is None else uri_of(str(page))
