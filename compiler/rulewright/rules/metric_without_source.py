"""Rule: a metric that measures nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import value
from rulewright.documents.workflow import TaskDocument, TaskMetricDocument, names


def metric_without_source(task: TaskDocument) -> Iterator[Diagnostic]:
    """A metric names no file to be read from.

    Why it matters: it counts as 0.0 and keeps its weight, so that confidence may never meet its threshold.
    Instead: name the report in `source`; for `requirement_coverage` also the list of ids in `requirements`.
    """
    for metric in task.metrics:
        lacks = None if value(metric.node, "weight") == 0 else _lacks(task, metric)
        if lacks is not None:
            yield task.warning(metric.node, metric.field, f"`{metric.type}` counts as 0.0: {lacks}")


def _lacks(task: TaskDocument, metric: TaskMetricDocument) -> str | None:
    """What the metric would need, in words."""
    if metric.type in ("llm_judge", ""):
        return None
    if metric.type != "requirement_coverage":
        return None if names(metric.node, "source") else "no file is named in `source`"
    if not names(metric.node, "requirements"):
        return "no list of ids is named in `requirements`"
    if not names(metric.node, "source") and not task.outputs:
        return "there is nowhere to look for the ids, neither a `source` nor `outputs` of the task"
    return None
