"""The formats in which build servers read a finished run; JUnit XML has a suite for each transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulewright.render.build_servers import JUnitCase, github, junit_report
from rulewright.render.sarif import sarif
from rulewright.reporting.comment import JUDGED_NOTHING, because, comment, findings, judged_nothing, why_undecided
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.report.gathered import gate_line, gate_result, is_unresolved
from rulewright_runtime.report.text import place_of
from rulewright_runtime.strict_json import JsonMapping


def run_as(form: str, run: FinishedRun, status: int) -> str:
    """Return a run as `junit`, `sarif`, `github` or `markdown`; `status` is its exit code."""
    if form == "junit":
        return junit(run)
    if form == "markdown":
        return comment(run, status)
    if form == "github":
        return github(findings(run))
    names = {check.id: check.name for check in run.plan.checks}
    return sarif(list(findings(run)), names.get)


_KIND_OF = {"FAIL": "failures", "UNCLEAR": "errors", "NOT_APPLICABLE": "skipped"}


def junit(run: FinishedRun) -> str:
    """Return the report: FAIL is a failure, UNCLEAR and a refused input are errors, and a check that does not apply is
    skipped, so that only a PASS looks passed. Gates have a separate suite, in which an open gate is an error."""
    return junit_report(_suites(run), "rulewright")


def _suites(run: FinishedRun) -> Iterator[tuple[str, list[JUnitCase]]]:
    for judged in run.judged():
        yield judged.id, _cases(judged, run.checks)
    if refused := list(map(_refused, run.refused())):
        yield "refused inputs", refused
    if judged_nothing(run.summary):
        yield "run", [JUnitCase("run", "outcome", "errors", f"undecided: {JUDGED_NOTHING}", "INCONCLUSIVE")]
    unresolved = run.summary["unresolved"]
    if gates := unresolved["gates"]:
        is_open = is_unresolved(unresolved)
        yield "gates", [_gate(name, gate, is_open=is_open) for name, gate in gates.items()]


def _cases(judged: JudgedTranscript, checks: Mapping[str, Check]) -> list[JUnitCase]:
    cases = [_case(judged, verdict, checks.get(verdict["check_id"])) for verdict in judged.verdicts]
    if judged.engine["outcome"] == "undecided" and not any(case.kind in ("failures", "errors") for case in cases):
        cases.append(_undecided(judged))
    return cases or [JUnitCase(judged.id, "no check", "skipped", "no check ran", file=judged.path)]


def _case(judged: JudgedTranscript, verdict: JsonMapping, check: Check | None) -> JUnitCase:
    word = str(verdict["verdict"])
    kind = _KIND_OF.get(word) if verdict.get("eligible") else "skipped"
    name = str(verdict["check_id"]) + (f" {check.name}" if check and check.name != check.id else "")
    message = because(verdict, check) if verdict.get("eligible") else "the check does not apply"
    return JUnitCase(judged.id, name, kind, message, word, file=judged.path)


def _undecided(judged: JudgedTranscript) -> JUnitCase:
    """A transcript that is undecided although none of its checks is."""
    why = f"undecided: {why_undecided(judged)}"
    return JUnitCase(judged.id, "outcome", "errors", why, "INCONCLUSIVE", file=judged.path)


def _refused(refused: JsonMapping) -> JUnitCase:
    return JUnitCase("refused inputs", place_of(refused), "errors", refused["reason"], "refused", file=refused["path"])


def _gate(name: str, gate: Mapping[str, object], *, is_open: bool) -> JUnitCase:
    """A gate over the whole run; an open gate is an error of the type `INCONCLUSIVE`, one that did not run is skipped.
    With missing answers (`is_open`), the possible states are added."""
    result = gate_result(gate)
    kind = {"passed": None, "failed": "failures", "not run": "skipped"}.get(result, "errors")
    message = gate_line(name, gate) if is_open or "pass_rate" in gate else f"gate {name}: {result}"
    return JUnitCase("gates", name, kind, message, result.upper())
