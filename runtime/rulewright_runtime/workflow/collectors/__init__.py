"""Collectors: the value of a metric or a kind of evidence, read from the report files of common tools.

The format of a report is detected from its content. Several files of one kind are added up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from rulewright_runtime.errors import OutageError
from rulewright_runtime.plugins import collectors
from rulewright_runtime.processes.user_code import UserCode
from rulewright_runtime.workflow.collectors.checklist import checklist, requirement_coverage
from rulewright_runtime.workflow.collectors.coverage import cobertura, coverage_json, lcov
from rulewright_runtime.workflow.collectors.junit import junit
from rulewright_runtime.workflow.collectors.linters import bandit_json, ruff_json, sarif
from rulewright_runtime.workflow.collectors.report_reading import (
    CollectionError,
    ReportReading,
    read_json,
    read_text,
    share,
)

__all__ = [
    "CollectionError",
    "ReportReading",
    "checklist",
    "junit",
    "line_coverage",
    "measure",
    "read_all",
    "requirement_coverage",
    "scan",
]


def line_coverage(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Read the coverage in a report of coverage.py (JSON), Cobertura (XML) or lcov."""
    start = read_text(root, path).lstrip()[:1]
    return {"{": coverage_json, "<": cobertura}.get(start, lcov)(root, path)


def scan(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Count the files without findings in a report of ruff (JSON), bandit (JSON) or any SARIF tool. Raises
    CollectionError."""
    report = read_json(root, path)
    if isinstance(report, list):
        return ruff_json(root, path, scope)
    if isinstance(report, dict) and "runs" in report:
        return sarif(root, path, scope)
    if isinstance(report, dict) and "metrics" in report:
        return bandit_json(root, path, scope)
    raise CollectionError(path, "is not a report of ruff, bandit or a SARIF tool")


Collector = Callable[[Path, str, Sequence[str]], ReportReading]
_METRICS: Final[Mapping[str, Collector]] = {
    "test_coverage": line_coverage,
    "lint_score": scan,
    "security_score": scan,
    "checklist_completion": checklist,
}


def measure(
    kind: str, root: Path, sources: Sequence[str], *, requirements: Sequence[str] = (), outputs: Sequence[str] = ()
) -> ReportReading:
    """Measure the metric `kind` over its sources below `root`; `outputs` are the files the task wrote.

    Requirements are searched in the sources, or without sources in the outputs. Raises CollectionError for a file that
    is missing or can't be read, and for a metric without sources.
    """
    if kind == "requirement_coverage":
        return requirement_coverage(root, requirements, sources or outputs)
    return read_all(_with_plug_ins(kind), kind, root, sources, outputs)


def _with_plug_ins(kind: str) -> Collector:
    """Return the collector of a metric. A report in an unknown format is passed to the collectors of plug-ins, which
    return None for a format they don't know."""

    def collect(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
        try:
            return _METRICS[kind](root, path, scope)
        except CollectionError as unknown:
            for each in collectors(kind):
                collector = each.load()
                with UserCode(each.called):
                    reading = collector(root, path, scope)
                if isinstance(reading, ReportReading):
                    return msgspec.convert(msgspec.to_builtins(reading), ReportReading)  # its parts may have any type
            raise unknown

    return collect


def read_all(
    collector: Collector, kind: str, root: Path, sources: Sequence[str], scope: Sequence[str]
) -> ReportReading:
    """Return the readings of all sources, added up; one that is named twice counts once. Raises CollectionError
    without a source."""
    if not sources:
        raise CollectionError(kind, "no source file is named")
    different = {os.path.normpath(path): path for path in reversed(sources)}
    readings = [_read(collector, root, path, scope) for path in reversed(different.values())]
    return ReportReading(
        sum(r.good for r in readings), sum(r.total for r in readings), "; ".join(r.details for r in readings)
    )


def _read(collector: Collector, root: Path, path: str, scope: Sequence[str]) -> ReportReading:
    """Read one file. Any other error of the collector becomes a CollectionError, and so does an inconsistent count of a
    plug-in."""
    try:
        reading = collector(root, path, scope)
        return share(path, reading.good, reading.total, reading.details)
    except (CollectionError, OutageError):
        raise
    except Exception as error:  # a report is untrusted data and must not end the run
        raise CollectionError(path, f"can't be read: {type(error).__name__}: {error}") from error
