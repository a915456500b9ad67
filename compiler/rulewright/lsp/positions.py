"""Converts positions to those of the protocol: 0-based lines and columns, columns in the negotiated encoding."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from lsprotocol import types
from msgspec.structs import replace
from pygls.uris import from_fs_path, to_fs_path

from rulewright.diagnostics import Diagnostic as Finding
from rulewright.diagnostics import Severity, Span
from rulewright.load import Source
from rulewright.shipped import page_paths

UTF16: Final = "utf-16"  # supported by every editor
WIDTHS: Final[dict[str, Callable[[str], int]]] = {
    "utf-8": lambda text: len(text.encode()),
    UTF16: lambda text: len(text) + sum(char > "\uffff" for char in text),
    "utf-32": len,
}


def position_at(source: Source, offset: int, encoding: str = UTF16) -> types.Position:
    return _position(source, *source.position(offset), encoding)


def range_at(source: Source, start: int, end: int, encoding: str) -> types.Range:
    """Return the range between two offsets."""
    return types.Range(position_at(source, start, encoding), position_at(source, end, encoding))


def range_of(span: Span, source: Source | None, encoding: str = UTF16) -> types.Range:
    """Return the range of a span; without its source every character counts as one unit."""
    return types.Range(
        _position(source, span.line, span.column, encoding), _position(source, span.end_line, span.end_column, encoding)
    )


def offset_at(source: Source, position: types.Position, encoding: str = UTF16) -> int:
    """Return the offset of a position; one after the line's end is clamped, one inside a character gives its start."""
    line = source.line_text(position.line + 1)
    width = WIDTHS[encoding]
    low, high = 0, len(line)
    while low < high:  # the longest beginning of the line that is not wider
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(line[:middle]) <= position.character else (low, middle - 1)
    return source.offset(position.line + 1, low + 1)


def path_of(uri: str) -> str | None:
    """Return the path of a file URI, or None for any other URI."""
    try:
        file_path = to_fs_path(uri)
    except ValueError:  # not a URI
        return None
    return str(Path(file_path)) if file_path and Path(file_path).is_absolute() else None


def uri_of(path: str) -> str:
    return str(from_fs_path(path))


def _position(source: Source | None, line: int, column: int, encoding: str) -> types.Position:
    prefix = None if source is None else source.line_text(line)[: column - 1]
    return types.Position(line - 1, column - 1 if prefix is None else WIDTHS[encoding](prefix))


NAME: Final = "rulewright"
SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.ADVICE: types.DiagnosticSeverity.Information,
}
# Codes of text without effect, which editors fade.
_FADED: Final = ("dead-key", "directive-ignored-by-route", "listed-twice")


def to_protocol(
    finding: Finding, sources: Mapping[str, Source], uri: Callable[[str], str], encoding: str
) -> types.Diagnostic:
    """Convert a finding to a protocol diagnostic; `uri` maps a path to the editor's URI."""

    def range_in_source(span: Span) -> types.Range:
        return range_of(span, sources.get(span.path), encoding)

    page = _page(finding.code)
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri(note.span.path), range_in_source(note.span)), note.message
        )
        for note in finding.notes
    ]
    faded = finding.code.startswith("unused-") or finding.code in _FADED
    return types.Diagnostic(
        range=range_in_source(finding.span),
        message=finding.advised,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if page is None else types.CodeDescription(page),
        source=NAME,
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if faded else None,
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
