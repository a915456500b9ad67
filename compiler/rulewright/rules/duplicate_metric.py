"""Rule: two metrics of one type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument, TaskMetricDocument


def duplicate_metric(task: TaskDocument) -> Iterator[Diagnostic]:
    """A confidence loop measures the same type twice.

    Why it matters: conditions name a metric by its type (`metrics.llm_judge`), and only one of the two can be meant.
    Instead: keep one of them, with both weights added up or with both sources.
    """
    first: dict[str, TaskMetricDocument] = {}
    for metric in task.metrics:
        if metric.type:
            other = first.setdefault(metric.type, metric)
            if other is not metric:
                place = metric.node.get("type") or metric.node
                notes = [(other.node, "it is first measured here")]
                yield task.error(place, metric.field, f"the metric `{metric.type}` occurs twice", notes=notes)
