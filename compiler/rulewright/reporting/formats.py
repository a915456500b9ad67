"""The formats in which build servers read a finished run; JUnit XML has a suite for each transcript."""

from __future__ import annotations

from collections.abc import Mapping

from rulewright.render.github import github
from rulewright.render.sarif import sarif
from rulewright.render.xml_output import HEAD, xml_text
from rulewright.reporting.comment import because, comment, findings
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.outcome import gates_not_run
from rulewright_runtime.english import some
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


KINDS = ("failures", "errors", "skipped")
_KIND_OF = {"FAIL": "failures", "UNCLEAR": "errors", "NOT_APPLICABLE": "skipped"}
_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(run: FinishedRun) -> str:
    """Return the report: FAIL is a failure, UNCLEAR and a refused input are errors, and a check that does not apply is
    skipped, so that only a PASS looks passed. Gates have a separate suite, in which an open gate is an error."""
    suites = [_suite_of(judged, run.checks) for judged in run.judged()]
    refused = list(run.refused())
    if refused:
        suites.append(_suite("refused inputs", [_refused(each) for each in refused]))
    unresolved = run.summary["unresolved"]
    if gates := unresolved["gates"]:
        is_open = is_unresolved(unresolved)
        suites.append(_suite("gates", [_gate(name, gate, is_open=is_open) for name, gate in gates.items()]))
    counts = {name: sum(suite[1][name] for suite in suites) for name in ("tests", *KINDS)}
    body = "".join(text for text, _ in suites)
    return f'{HEAD}<testsuites name="rulewright" {_attributes(counts)}>\n{body}</testsuites>\n'


_Case = tuple[str, str | None]  # the element, and the kind under which it is counted


def _suite_of(judged: JudgedTranscript, checks: Mapping[str, Check]) -> tuple[str, dict[str, int]]:
    cases = [_case(judged, verdict, checks.get(verdict["check_id"])) for verdict in judged.verdicts]
    if judged.engine["outcome"] == "undecided" and not any(kind in ("failures", "errors") for _, kind in cases):
        cases.append(_undecided(judged))
    return _suite(judged.id, cases or [_nothing_applied(judged)])


def _suite(name: str, cases: list[_Case]) -> tuple[str, dict[str, int]]:
    counts = {"tests": len(cases)} | {kind: sum(case[1] == kind for case in cases) for kind in KINDS}
    body = "".join(case[0] for case in cases)
    return f'  <testsuite name="{xml_text(name)}" {_attributes(counts)}>\n{body}  </testsuite>\n', counts


def _case(judged: JudgedTranscript, verdict: JsonMapping, check: Check | None) -> _Case:
    word = str(verdict["verdict"])
    kind = _KIND_OF.get(word) if verdict.get("eligible") else "skipped"
    name = str(verdict["check_id"]) + (f" {check.name}" if check and check.name != check.id else "")
    message = because(verdict, check) if verdict.get("eligible") else "the check does not apply"
    return _element(judged.id, name, judged.path, kind, word, message), kind


def _undecided(judged: JudgedTranscript) -> _Case:
    """A transcript that is undecided although none of its checks is: content is missing, a gate did not run, or too few
    checks were decided."""
    why = f"the coverage is {judged.engine['coverage']}"
    if judged.row.get("missing"):
        why = "the transcript is incomplete"
    elif idle := gates_not_run(judged.engine["gates"]):
        why = f"{some(idle)} did not run"
    return _element(judged.id, "outcome", judged.path, "errors", "INCONCLUSIVE", f"undecided: {why}"), "errors"


def _nothing_applied(judged: JudgedTranscript) -> _Case:
    return _element(judged.id, "no check", judged.path, "skipped", "NOT_APPLICABLE", "no check ran"), "skipped"


def _refused(refused: JsonMapping) -> _Case:
    return _element(
        "refused inputs", place_of(refused), refused["path"], "errors", "refused", refused["reason"]
    ), "errors"


def _gate(name: str, gate: Mapping[str, object], *, is_open: bool) -> _Case:
    """A gate over the whole run; an open gate is an error of the type `INCONCLUSIVE`, one that did not run is skipped.
    With missing answers (`is_open`), the possible states are added."""
    result = gate_result(gate)
    kind = {"passed": None, "failed": "failures", "not run": "skipped"}.get(result, "errors")
    message = gate_line(name, gate) if is_open or "pass_rate" in gate else f"gate {name}: {result}"
    return _element("gates", name, "", kind, result.upper(), message), kind


def _element(suite: str, name: str, path: str, kind: str | None, word: str, message: str) -> str:
    file = f' file="{xml_text(path)}"' if path else ""
    head = f'    <testcase classname="{xml_text(suite)}" name="{xml_text(name)}"{file}'
    if kind is None:
        return f"{head}/>\n"
    typed = "" if kind == "skipped" else f' type="{xml_text(word)}"'
    inner = f'<{_TAGS[kind]} message="{xml_text(message)}"{typed}/>'
    return f"{head}>\n      {inner}\n    </testcase>\n"


def _attributes(counts: Mapping[str, int]) -> str:
    return " ".join(f'{name}="{count}"' for name, count in counts.items())
