"""Renders findings as GitHub workflow commands, which GitHub shows at the changed lines."""

from __future__ import annotations

from collections.abc import Iterable

from rulewright.diagnostics import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one command per line; columns are inclusive, and only given for findings on one line."""
    return "".join(_command(each) for each in diagnostics)


def _command(finding: Diagnostic) -> str:
    span = finding.span
    properties = {"file": span.path, "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:
        properties |= {"col": str(span.column), "endColumn": str(max(span.column, span.end_column - 1))}
    properties["title"] = finding.code
    properties_text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = finding.message if finding.help is None else f"{finding.message}\n{finding.help}"
    return f"::{_COMMANDS[finding.severity]} {properties_text}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
