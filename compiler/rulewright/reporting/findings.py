"""The failures of a run as findings with locations, for SARIF and for annotations of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulewright.diagnostics import Diagnostic, Severity, Span
from rulewright.expression.unparse import decompile, unparse
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.report.summary import gaps
from rulewright_runtime.strict_json import JsonMapping

REFUSED = "refused-input"
INCOMPLETE = "incomplete-transcript"


def findings(run: FinishedRun) -> Iterator[Diagnostic]:
    """Return an error for each FAIL that made its transcript fail and for each refused input, a warning for any other
    FAIL and for each reason that leaves a transcript undecided, and advice for any other UNCLEAR. The code is the
    check's id."""
    for refused in run.refused():
        yield Diagnostic(REFUSED, Severity.ERROR, refused["reason"], _span(refused["path"], refused["line"]))
    checks = {check.id: check for check in run.plan.checks}
    for judged in run.judged():
        if judged.row.get("missing"):
            what = f"`{judged.id}` lacks something, so nothing passes there: {gaps(judged.row['missing'])}"
            yield Diagnostic(INCOMPLETE, Severity.WARNING, what, _span(judged.path, judged.line))
        for verdict in judged.verdicts:
            if (level := _level(judged, verdict)) is not None:
                check = checks.get(verdict["check_id"])
                name = check.name if check else verdict["check_id"]
                text = f"{name}: {verdict['verdict']} in `{judged.id}`, {because(verdict, check)}"
                yield Diagnostic(str(verdict["check_id"]), level, text, _span(judged.path, judged.line))


def because(verdict: JsonMapping, check: Check | None) -> str:
    """Return the reason of a record on one line: its quotes, else the deciding condition, its rationale code or its
    cause."""
    quotes = [
        f"turn {span['turn']}, {span['role']}: “{span['quote']}”"
        + (f" ({why})" if (why := span.get("rationale")) else "")
        for span in verdict.get("evidence", ())
    ]
    code = str(verdict.get("rationale_code") or verdict.get("cause") or "without evidence")
    return "; ".join(quotes) or _decided(code, verdict, dict(conditions(check))) or code


def _decided(code: str, verdict: JsonMapping, written: Mapping[str, str]) -> str | None:
    """Return the condition that gave a verdict, with its result."""
    if undecided := (verdict.get("extra") or {}).get("undecided"):
        return f"a condition can't be decided: {undecided}"
    name, _, outcome = code.partition("_condition_")
    return f"`{name}` {outcome.replace('_', ' ')}: {written[name]}" if name in written else None


def conditions(check: Check | None) -> Iterator[tuple[str, str]]:
    """Return the conditions of an expression check (`fail`, `unclear`, `pass`) as a person would write them, in the
    order of evaluation."""
    if check is None or not isinstance(check.verifier, ExpressionVerifier):
        return
    verifier = check.verifier
    for name, program in (("fail", verifier.fails), ("unclear", verifier.unclear), ("pass", verifier.passes)):
        if program is not None:
            yield name, program.source or unparse(decompile(program))


def _level(judged: JudgedTranscript, verdict: JsonMapping) -> Severity | None:
    if not verdict.get("eligible") or verdict["verdict"] not in ("FAIL", "UNCLEAR"):
        return None
    if verdict.get("cause") == "missing" and judged.row.get("missing"):
        return None  # told once, for the transcript
    decides = verdict["check_id"] in judged.engine["because"]
    if verdict["verdict"] == "FAIL":
        return Severity.ERROR if decides else Severity.WARNING
    return Severity.WARNING if decides else Severity.ADVICE


def _span(path: str, line: int) -> Span:
    return Span(path or "transcripts", max(line, 1), 1, max(line, 1), 1)
