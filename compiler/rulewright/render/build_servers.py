"""The formats of build servers: findings as GitHub's workflow commands, checkstyle and JUnit; any cases as JUnit."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Severity
from rulewright_runtime.terminal import one_line, visible

XML_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "info"}
_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}  # by what a case is counted under


class JUnitCase(Struct, frozen=True):
    """One case, counted under its `kind`: `failures`, `errors`, `skipped`, or None if it passed."""

    group: str
    name: str
    kind: str | None = None
    message: str = ""
    type: str = ""  # of a failure or error
    text: str = ""
    file: str = ""

    def element(self) -> str:
        """Return the lines of the case."""
        attributes = {"classname": self.group, "name": self.name, **({"file": self.file} if self.file else {})}
        head = f"    <testcase{_attributes(attributes)}"
        if self.kind is None:
            return f"{head}/>\n"
        tag = _TAGS[self.kind]
        typed = {} if self.kind == "skipped" else {"type": self.type}
        end = f">{xml_text(self.text)}</{tag}>" if self.text else "/>"
        return f"{head}>\n      <{tag}{_attributes({'message': self.message, **typed})}{end}\n    </testcase>\n"


def junit_report(suites: Iterable[tuple[str, Sequence[JUnitCase]]], name: str = "") -> str:
    """Return the report of some suites, each with its name and its cases; `name` is that of the whole."""
    body: list[str] = []
    total = Counter[str]()
    for title, cases in suites:
        counts = Counter(tests=len(cases)) + Counter(case.kind for case in cases if case.kind)
        elements = "".join(case.element() for case in cases)
        body.append(f"  {suite_head('testsuite', counts, name=title)}\n{elements}  </testsuite>\n")
        total += counts
    named = {"name": name} if name else {}
    return f"{XML_HEAD}{suite_head('testsuites', total, **named)}\n{''.join(body)}</testsuites>\n"


def suite_head(tag: str, counts: Mapping[str, int], **attributes: str) -> str:
    """Return the start tag of one suite or of all, with the numbers of its `tests`, `failures`, `errors` and
    `skipped`."""
    return f"<{tag}{_attributes({**attributes, **{name: str(counts[name]) for name in ('tests', *_TAGS)}})}>"


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{xml_text(one_line(value))}"' for name, value in attributes.items())


def junit(diagnostics: Sequence[Diagnostic], paths: Iterable[str]) -> str:
    """Return a failed case for each error and warning, a skipped one for advice, and a passed one for a clean file."""
    bad = {each.span.path for each in diagnostics}
    clean = [JUnitCase(path, "no findings") for path in sorted(paths) if path not in bad]
    return junit_report([("rulewright", [*map(_case, diagnostics), *clean])])


def _case(finding: Diagnostic) -> JUnitCase:
    span = finding.span
    place = f"{span.path}:{span.line}:{span.column}"
    name = f"{finding.code} at line {span.line}, column {span.column}"
    kind = "skipped" if finding.severity is Severity.ADVICE else "failures"
    body = f"{place}: {finding.message}" + (f" ({finding.help})" if finding.help else "")
    return JUnitCase(span.path, name, kind, finding.message, finding.severity, body)


def checkstyle(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the findings grouped by file."""
    files: dict[str, list[str]] = {}
    for each in diagnostics:
        files.setdefault(each.span.path, []).append(_error(each))
    body = "".join(f'  <file name="{xml_text(path)}">\n{"".join(found)}  </file>\n' for path, found in files.items())
    return f'{XML_HEAD}<checkstyle version="4.3">\n{body}</checkstyle>\n'


def _error(finding: Diagnostic) -> str:
    span = finding.span
    return (
        f'    <error line="{span.line}" column="{span.column}" severity="{_LEVELS[finding.severity]}" '
        f'message="{xml_text(finding.message)}" source="rulewright.{xml_text(finding.code)}"/>\n'
    )


def xml_text(text: str) -> str:
    """Escape `text` for attributes and elements; characters that XML does not allow become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text).translate(_ESCAPES)


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a workflow command per line, which GitHub shows at the changed lines. Columns are inclusive, and only
    given for findings on one line."""
    return "".join(_command(each) for each in diagnostics)


def _command(finding: Diagnostic) -> str:
    span = finding.span
    properties = {"file": span.path, "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:
        properties |= {"col": str(span.column), "endColumn": str(max(span.column, span.end_column - 1))}
    properties["title"] = finding.code
    properties_text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = finding.advised
    return f"::{_COMMANDS[finding.severity]} {properties_text}::{_data(text)}\n"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
