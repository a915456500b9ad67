"""What failed in a run, as findings with places: for SARIF and for annotations of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.diagnostics import Diagnostic, Severity, Span
from rulewright_runtime.report.summary import gaps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulewright.reporting.judged import FinishedRun, Judged

REFUSED = "refused-input"
INCOMPLETE = "incomplete-transcript"


def findings(run: FinishedRun) -> Iterator[Diagnostic]:
    """An error for each FAIL that made its transcript fail and for each refused input, a warning for any other FAIL
    and for what leaves a transcript undecided, advice for any other UNCLEAR. The code is the check's id."""
    for refused in run.refused():
        yield Diagnostic(REFUSED, Severity.ERROR, refused["reason"], _span(refused["path"], refused["line"]))
    names = {check.id: check.name for check in run.plan.checks}
    for judged in run.judged():
        if judged.row.get("missing"):
            what = f"`{judged.id}` lacks something, so nothing passes there: {gaps(judged.row['missing'])}"
            yield Diagnostic(INCOMPLETE, Severity.WARNING, what, _span(judged.path, judged.line))
        for verdict in judged.verdicts:
            if (level := _level(judged, verdict)) is not None:
                name = names.get(verdict["check_id"], verdict["check_id"])
                text = f"{name}: {verdict['verdict']} in `{judged.id}`, {because(verdict)}"
                yield Diagnostic(str(verdict["check_id"]), level, text, _span(judged.path, judged.line))


def because(verdict: Mapping[str, Any]) -> str:
    """Why a record says what it says, on one line: its quotes, else its rationale code or cause."""
    quotes = [
        f"turn {span['turn']}, {span['role']}: “{span['quote']}”"
        + (f" ({why})" if (why := span.get("rationale")) else "")
        for span in verdict.get("evidence", ())
    ]
    return "; ".join(quotes) or str(verdict.get("rationale_code") or verdict.get("cause") or "without evidence")


def _level(judged: Judged, verdict: Mapping[str, Any]) -> Severity | None:
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
