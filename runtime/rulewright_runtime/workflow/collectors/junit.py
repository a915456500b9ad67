"""Acceptance evidence: the test results that test runners write as JUnit XML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rulewright_runtime.workflow.collectors.base import CollectionError, Reading, read_xml, share

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def junit(root: Path, path: str) -> Reading:
    """Passed tests of all tests that ran; skipped ones did not run. A report without a test that ran is an error.

    The totals a suite states count, too: a suite that says it failed more than its cases show has failed.
    """
    report = read_xml(root, path)
    if report.tag not in {"testsuites", "testsuite"}:
        raise CollectionError(path, f"is no JUnit report: its root is `{report.tag}`")
    passed = failed = skipped = 0
    first = ""
    for case in report.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            first = first or _name(case)
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    stated = sum(_stated(path, suite, name) for suite in _suites(report) for name in ("failures", "errors"))
    failed = max(failed, stated)
    what = f"{passed} tests passed, {failed} failed, {skipped} skipped" + (f"; first failure: {first}" if first else "")
    return share(path, passed, passed + failed, what)


def _suites(report: Element) -> list[Element]:
    """The suites whose totals count every case once: those without a suite inside."""
    return [suite for suite in report.iter("testsuite") if suite.find("testsuite") is None]


def _stated(path: str, suite: Element, name: str) -> int:
    text = suite.get(name, "0")
    if not text.isdecimal():
        raise CollectionError(path, f"`{name}` of a suite must be a count, found `{text}`")
    return int(text)


def _name(case: Element) -> str:
    return ".".join(part for part in (case.get("classname"), case.get("name")) if part)
