"""A run as JUnit XML: a suite for each transcript, and in it a test case for each check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.render.xml_output import HEAD, xml_text
from rulewright.reporting.findings import because
from rulewright_runtime.report.unresolved import gate_line, gate_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.reporting.judged import FinishedRun, Judged

KINDS = ("failures", "errors", "skipped")
_KIND_OF = {"FAIL": "failures", "UNCLEAR": "errors", "NOT_APPLICABLE": "skipped"}
_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(run: FinishedRun) -> str:
    """FAIL is a failure, UNCLEAR and a refused input an error, and what does not apply is skipped; so nothing that has
    not passed looks as if it had. Gates have a suite of their own, in which one that is not settled is an error."""
    names = {check.id: check.name for check in run.plan.checks if check.name != check.id}
    suites = [_suite_of(judged, names) for judged in run.judged()]
    refused = list(run.refused())
    if refused:
        suites.append(_suite("refused inputs", [_refused(each) for each in refused]))
    if gates := run.summary["unresolved"]["gates"]:
        suites.append(_suite("gates", [_gate(name, gate) for name, gate in gates.items()]))
    counts = {name: sum(suite[1][name] for suite in suites) for name in ("tests", *KINDS)}
    body = "".join(text for text, _ in suites)
    return f'{HEAD}<testsuites name="rulewright" {_attributes(counts)}>\n{body}</testsuites>\n'


_Case = tuple[str, str | None]  # the element, and the kind under which it is counted


def _suite_of(judged: Judged, names: Mapping[str, str]) -> tuple[str, dict[str, int]]:
    cases = [_case(judged, verdict, names) for verdict in judged.verdicts]
    return _suite(judged.id, cases or [_nothing_applied(judged)])


def _suite(name: str, cases: list[_Case]) -> tuple[str, dict[str, int]]:
    counts = {"tests": len(cases)} | {kind: sum(case[1] == kind for case in cases) for kind in KINDS}
    body = "".join(case[0] for case in cases)
    return f'  <testsuite name="{xml_text(name)}" {_attributes(counts)}>\n{body}  </testsuite>\n', counts


def _case(judged: Judged, verdict: Mapping[str, Any], names: Mapping[str, str]) -> _Case:
    word = str(verdict["verdict"])
    kind = _KIND_OF.get(word) if verdict.get("eligible") else "skipped"
    name = f"{verdict['check_id']} {names.get(verdict['check_id'], '')}".strip()
    message = because(verdict) if verdict.get("eligible") else "the check does not apply"
    return _element(judged.id, name, judged.path, kind, word, message), kind


def _nothing_applied(judged: Judged) -> _Case:
    return _element(judged.id, "no check", judged.path, "skipped", "NOT_APPLICABLE", "no check ran"), "skipped"


def _refused(refused: Mapping[str, Any]) -> _Case:
    place = f"{refused['path']}:{refused['line']}" if refused["line"] else refused["path"]
    return _element("refused inputs", place, refused["path"], "errors", "refused", refused["reason"]), "errors"


def _gate(name: str, gate: Mapping[str, Any]) -> _Case:
    """A gate over the whole run; one that is not settled is an error of the type `INCONCLUSIVE`."""
    result = gate_result(gate)
    kind = {"passed": None, "failed": "failures"}.get(result, "errors")
    return _element("gates", name, "", kind, result.upper(), gate_line(name, gate)), kind


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
