"""Collectors: what a metric or a piece of evidence is worth, read from the files that tools really write.

Which tool wrote a file is seen in the file. Several files of one kind are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rulewright_runtime.plugins import collectors
from rulewright_runtime.workflow.collectors.checklist import checklist, requirement_coverage
from rulewright_runtime.workflow.collectors.coverage import cobertura, coverage_json, lcov
from rulewright_runtime.workflow.collectors.findings import bandit_json, ruff_json, sarif
from rulewright_runtime.workflow.collectors.junit import junit
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
    "requirement_coverage",
    "scan",
    "together",
]


def line_coverage(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """The coverage in a report of coverage.py (JSON), Cobertura (XML) or lcov."""
    start = read_text(root, path).lstrip()[:1]
    return {"{": coverage_json, "<": cobertura}.get(start, lcov)(root, path)


def scan(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """The files without findings in a report of ruff (JSON), bandit (JSON) or any tool that writes SARIF."""
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
    """The metric `kind` over its sources below `root`; `outputs` are the files the task wrote.

    Requirements are looked for in the sources, or without any in the outputs. Raises CollectionError for whatever
    is missing or can't be read, and for a metric without sources.
    """
    if kind == "requirement_coverage":
        return requirement_coverage(root, requirements, sources or outputs)
    return together(_with_plug_ins(kind), kind, root, sources, outputs)


def _with_plug_ins(kind: str) -> Collector:
    """The collector of a metric; a report that it does not know is given to those of plug-ins, which give None for one
    that they don't know either."""

    def collect(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
        try:
            return _METRICS[kind](root, path, scope)
        except CollectionError as unknown:
            for each in collectors(kind):
                reading = each.load()(root, path, scope)
                if isinstance(reading, ReportReading):
                    return reading
            raise unknown

    return collect


def together(
    collector: Collector, kind: str, root: Path, sources: Sequence[str], scope: Sequence[str]
) -> ReportReading:
    """The readings of all sources, added up. No source is a CollectionError."""
    if not sources:
        raise CollectionError(kind, "no source file is named")
    readings = [_read(collector, root, path, scope) for path in sources]
    return ReportReading(
        sum(r.good for r in readings), sum(r.total for r in readings), "; ".join(r.details for r in readings)
    )


def _read(collector: Collector, root: Path, path: str, scope: Sequence[str]) -> ReportReading:
    """The reading of one file; whatever else a report does to its collector is a CollectionError, too, and so is a
    reading of a plug-in that counts more than all."""
    try:
        found = collector(root, path, scope)
        return share(path, found.good, found.total, found.details)
    except CollectionError:
        raise
    except Exception as error:  # a report is foreign data, and must not end a run
        raise CollectionError(path, f"can't be read: {type(error).__name__}: {error}") from error
