"""Acceptance evidence: the test results that test runners write as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rulewright_runtime.workflow.collectors.report_reading import CollectionError, ReportReading, read_xml, share

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Outcome = Literal["passed", "failed", "not run"]

_SUITES: Final = frozenset({"testsuites", "testsuite"})
_FAILURES: Final = frozenset({"failure", "error", "rerunfailure", "rerunerror"})
# What runners write into `status` and `result` of a case.
_WORDS: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("run", "completed", "passed", "pass", "success", "successful", "succeeded", "ok"), "passed"),
    **dict.fromkeys(("failed", "fail", "failure", "error", "errored", "broken", "timeout", "aborted"), "failed"),
    **dict.fromkeys(("notrun", "skipped", "skip", "disabled", "suppressed", "ignored", "pending", "todo"), "not run"),
}  # fmt: skip


def junit(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Passed tests of all tests that ran. A report in which most tests did not run, or none, is an error.

    So is one that contradicts itself: totals of other tests than it shows, a status that is not known, a case without
    a name. Failures that a suite states and does not show have failed, too.
    """
    report = read_xml(root, path)
    if _name_of(report) not in _SUITES:
        raise CollectionError(path, f"is not a JUnit report: its root is `{report.tag}`")
    cases = list(_cases(report))
    outcomes = Counter(_outcome(path, case) for case in cases)
    passed, failed, skipped = outcomes["passed"], outcomes["failed"], outcomes["not run"]
    outside_root = sum(_name_of(child) in _FAILURES for suite in _suites(report) for child in suite)  # beside the cases
    failed = max(failed + outside_root, *(_stated_failures(path, suite) for suite in _suites(report)))
    first = next((_title(case) for case in cases if _outcome(path, case) == "failed"), "")
    what = f"{passed} tests passed, {failed} failed, {skipped} not run" + (f"; first failure: {first}" if first else "")
    if not failed:
        for suite in _suites(report):
            _check_totals(path, suite)
        if skipped > passed:
            raise CollectionError(path, f"proves little: {skipped} of {passed + skipped} tests did not run")
    return share(path, passed, passed + failed, what)


def _suites(report: Element) -> Iterator[Element]:
    return (element for element in report.iter() if _name_of(element) in _SUITES)


def _cases(suite: Element) -> Iterator[Element]:
    return (element for element in suite.iter() if _name_of(element) == "testcase")


def _outcome(path: str, case: Element) -> Outcome:
    inside = {_name_of(element) for element in case.iter()}
    words = {_word(path, case, attribute) for attribute in ("status", "result") if attribute in case.attrib}
    if inside & _FAILURES or "failed" in words:
        return "failed"
    if "skipped" in inside or "not run" in words:
        return "not run"
    if not _title(case):
        raise CollectionError(path, "a test has no name")
    return "passed"


def _word(path: str, case: Element, attribute: str) -> Outcome:
    word = case.get(attribute, "").strip()
    found = _WORDS.get(word.casefold())
    if found is None:
        raise CollectionError(path, f"the `{attribute}` of a test is not known: `{word[:40]}`")
    return found


def _check_totals(path: str, suite: Element) -> None:
    """A suite states how many cases it shows: of its own or of all below, with those that did not run or without."""
    own = [child for child in suite if _name_of(child) == "testcase"]
    shown = [list(_cases(suite)), *([own] if own else [])]
    left_out = [sum(_outcome(path, case) == "not run" for case in cases) for cases in shown]
    fitting = {number for cases, out in zip(shown, left_out, strict=True) for number in (len(cases), len(cases) - out)}
    stated = _stated(path, suite, "tests")
    if stated is not None and stated not in fitting:
        raise CollectionError(path, f"contradicts itself: it states {stated} tests and shows {len(shown[0])}")
    missing = (_stated(path, suite, "skipped") or 0) + (_stated(path, suite, "disabled") or 0)
    if missing > left_out[0]:
        raise CollectionError(path, f"contradicts itself: it states {missing} tests not run and shows {left_out[0]}")


def _stated_failures(path: str, suite: Element) -> int:
    return (_stated(path, suite, "failures") or 0) + (_stated(path, suite, "errors") or 0)


def _stated(path: str, suite: Element, name: str) -> int | None:
    text = suite.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise CollectionError(path, f"`{name}` of a suite must be a count, found `{text[:40]}`")
    return int(text)


def _title(case: Element) -> str:
    return ".".join(part.strip() for part in (case.get("classname"), case.get("name")) if part and part.strip())


def _name_of(element: Element) -> str:
    """The tag without namespace and capitals."""
    return str(element.tag).rpartition("}")[2].casefold()
