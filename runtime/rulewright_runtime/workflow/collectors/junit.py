"""Acceptance evidence: test results in JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal
from xml.etree.ElementTree import Element

from rulewright_runtime.english import plural
from rulewright_runtime.workflow.collectors.report_reading import CollectionError, ReportReading, read_xml, share

Outcome = Literal["failed", "not run", "passed"]

_SUITES: Final = frozenset({"testsuites", "testsuite"})
_TOTALS: Final = frozenset({"failures", "failure", "failed", "errors", "error"})  # counts of a suite
_WORST_FIRST: Final[tuple[Outcome, ...]] = ("failed", "not run", "passed")
# Values of `status` and `result` of a test case in reports of common runners, and names of elements in it.
_OUTCOMES: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("run", "completed", "passed", "pass", "success", "successful", "succeeded", "ok"), "passed"),
    **dict.fromkeys(("failed", "fail", "failure", "error", "errored", "broken", "timeout", "aborted"), "failed"),
    **dict.fromkeys(("rerunfailure", "rerunerror"), "failed"),
    **dict.fromkeys(("notrun", "skipped", "skip", "disabled", "suppressed", "ignored", "pending", "todo"), "not run"),
}  # fmt: skip


def junit(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Count the passed tests of all tests that ran. One that is listed several times passes once, if it never failed;
    each of its failures counts. Failures that a suite states but does not list count as failed.

    Raises CollectionError when no test or only a minority ran, and for a report with totals that differ from its tests,
    an unknown status, or a test without a name.
    """
    report = read_xml(root, path)
    if _name_of(report) not in _SUITES:
        raise CollectionError(path, f"is not a JUnit report: its root is `{report.tag}`")
    outcomes = {case: _outcome(path, case) for case in _cases(report)}
    tests = _worst(report, outcomes)
    passed = sum(outcome == "passed" for outcome in tests.values())
    listed = Counter(outcomes.values())  # equal names may be those of different tests
    failed, skipped = listed["failed"], listed["not run"]
    suite_failures = sum(_OUTCOMES.get(_name_of(child)) == "failed" for suite in _suites(report) for child in suite)
    stated = (sum(_stated_count(path, suite, key) or 0 for key in _TOTALS) for suite in _suites(report))
    failed = max(failed + suite_failures, *stated)
    first = next((title for (_, title), outcome in tests.items() if outcome == "failed"), "")
    suffix = f"; first failure: {first}" if first else ""
    details = f"{plural(passed, 'test')} passed, {failed} failed, {skipped} not run{suffix}"
    if not failed:
        for suite in _suites(report):
            _check_totals(path, suite, outcomes)
        if skipped > passed:
            raise CollectionError(path, f"most tests did not run: {skipped} of {passed + skipped}")
    return share(path, passed, passed + failed, details)


def _suites(report: Element) -> Iterator[Element]:
    return (element for element in report.iter() if _name_of(element) in _SUITES)


def _cases(suite: Element) -> Iterator[Element]:
    return (element for element in suite.iter() if _name_of(element) == "testcase")


def _worst(report: Element, outcomes: Mapping[Element, Outcome]) -> dict[tuple[str, str], Outcome]:
    """The worst outcome of each test, which has a title in a suite of some name."""
    found: dict[tuple[str, str], Outcome] = {}
    for suite in report.iter():
        for case in suite:
            if (outcome := outcomes.get(case)) is not None:
                test = suite.get("name", ""), _title(case)
                found[test] = min(outcome, found.get(test, outcome), key=_WORST_FIRST.index)
    return found


def _outcome(path: str, case: Element) -> Outcome:
    stated = {_OUTCOMES.get(_name_of(element)) for element in case.iter()}
    stated |= {_stated_outcome(path, case, key) for key in ("status", "result") if key in case.attrib}
    worst: Outcome = next((each for each in _WORST_FIRST if each in stated), "passed")
    if worst == "passed" and not _title(case):
        raise CollectionError(path, "a test has no name")
    return worst


def _stated_outcome(path: str, case: Element, attribute: str) -> Outcome:
    word = case.get(attribute, "").strip()
    outcome = _OUTCOMES.get(word.casefold())
    if outcome is None:
        raise CollectionError(path, f"the `{attribute}` of a test is not known: `{word[:40]}`")
    return outcome


def _check_totals(path: str, suite: Element, outcomes: Mapping[Element, Outcome]) -> None:
    """Raise CollectionError when a suite's totals do not match its tests. Runners count a suite's own tests or all
    nested ones, with or without those that did not run."""
    own = [child for child in suite if child in outcomes]
    listed = [list(_cases(suite)), *([own] if own else [])]
    not_run = [sum(outcomes[case] == "not run" for case in cases) for cases in listed]
    valid = {number for cases, out in zip(listed, not_run, strict=True) for number in (len(cases), len(cases) - out)}
    stated = _stated_count(path, suite, "tests")
    if stated is not None and stated not in valid:
        raise CollectionError(path, f"contradicts itself: it states {stated} tests and shows {len(listed[0])}")
    skipped = (_stated_count(path, suite, "skipped") or 0) + (_stated_count(path, suite, "disabled") or 0)
    if skipped > not_run[0]:
        raise CollectionError(path, f"contradicts itself: it states {skipped} tests not run and shows {not_run[0]}")


def _stated_count(path: str, suite: Element, name: str) -> int | None:
    """The count of this name, in upper or lower case; the largest of several."""
    texts = [text for key, text in suite.attrib.items() if key.casefold() == name]
    for text in texts:
        if not (text.isascii() and text.isdecimal()):
            raise CollectionError(path, f"`{name}` of a suite must be a count, found `{text[:40]}`")
    return max(map(int, texts), default=None)


def _title(case: Element) -> str:
    return ".".join(part.strip() for part in (case.get("classname"), case.get("name")) if part and part.strip())


def _name_of(element: Element) -> str:
    """Return the tag without namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].casefold()
