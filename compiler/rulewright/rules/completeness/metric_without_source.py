from rulewright.diagnostics import Findings
from rulewright.documents.base import value
from rulewright.documents.workflow import TaskDocument, TaskMetricDocument, names


def metric_without_source(task: TaskDocument) -> Findings:
    """A metric names no file to read its value from.

    Why it matters: it counts as 0.0 with its full weight, so confidence may never meet the threshold.
    Instead: name the report in `source`; for `requirement_coverage`, also name the list of ids in `requirements`.
    """
    for metric in task.metrics:
        lacks = None if value(metric.node, "weight") == 0 else _lacks(task, metric)
        if lacks is not None:
            yield task.warning(metric.node, metric.field, f"`{metric.type}` counts as 0.0: {lacks}")


def _lacks(task: TaskDocument, metric: TaskMetricDocument) -> str | None:
    """What the metric is missing, in words."""
    if metric.type in ("llm_judge", ""):
        return None
    if metric.type != "requirement_coverage":
        return None if names(metric.node, "source") else "`source` names no file"
    if not names(metric.node, "requirements"):
        return "`requirements` names no list of ids"
    if not names(metric.node, "source") and not task.outputs:
        return "neither `source` nor the task's `outputs` names a file to search"
    return None
