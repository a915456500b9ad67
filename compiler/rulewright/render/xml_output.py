"""Renders findings as XML for build servers: JUnit and checkstyle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rulewright.diagnostics import Diagnostic, Severity

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "info"}


def junit(diagnostics: Sequence[Diagnostic], paths: Iterable[str]) -> str:
    """Return a failed case for each error and warning, a skipped one for advice, and a passed one for a clean file."""
    bad = {each.span.path for each in diagnostics}
    clean = [path for path in sorted(paths) if path not in bad]
    failures = sum(each.severity is not Severity.ADVICE for each in diagnostics)
    skipped = len(diagnostics) - failures
    tests = len(diagnostics) + len(clean)
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    cases = "".join(_case(each) for each in diagnostics)
    cases += "".join(f'    <testcase classname="{xml_text(path)}" name="no findings"/>\n' for path in clean)
    return (
        f'{HEAD}<testsuites {counts}>\n  <testsuite name="rulewright" {counts}>\n{cases}  </testsuite>\n</testsuites>\n'
    )


def _case(finding: Diagnostic) -> str:
    span = finding.span
    place = f"{span.path}:{span.line}:{span.column}"
    name = f"{finding.code} at line {span.line}, column {span.column}"
    kind = "skipped" if finding.severity is Severity.ADVICE else "failure"
    typed = f' type="{finding.severity}"' if kind == "failure" else ""
    body = f"{place}: {finding.message}" + (f" ({finding.help})" if finding.help else "")
    return (
        f'    <testcase classname="{xml_text(span.path)}" name="{xml_text(name)}">\n'
        f'      <{kind} message="{xml_text(finding.message)}"{typed}>{xml_text(body)}</{kind}>\n    </testcase>\n'
    )


def checkstyle(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the findings grouped by file."""
    files = dict.fromkeys(each.span.path for each in diagnostics)
    body = ""
    for path in files:
        errors = "".join(_error(each) for each in diagnostics if each.span.path == path)
        body += f'  <file name="{xml_text(path)}">\n{errors}  </file>\n'
    return f'{HEAD}<checkstyle version="4.3">\n{body}</checkstyle>\n'


def _error(finding: Diagnostic) -> str:
    span = finding.span
    return (
        f'    <error line="{span.line}" column="{span.column}" severity="{_LEVELS[finding.severity]}" '
        f'message="{xml_text(finding.message)}" source="rulewright.{xml_text(finding.code)}"/>\n'
    )


def xml_text(text: str) -> str:
    """Escape `text` for attributes and elements; characters that XML does not allow become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text).translate(_ESCAPES)
