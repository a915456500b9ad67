from rulewright.diagnostics import Findings
from rulewright.documents.base import value
from rulewright.documents.workflow import TaskDocument


def confidence_without_metrics(task: TaskDocument) -> Findings:
    """A confidence loop has no metrics, or only metrics with the weight 0.

    Why it matters: its confidence is always 0.0 and never meets a threshold. Weights don't matter in `mode: raw`.
    Instead: list metrics, at least one of them with a weight above 0.
    """
    loop = task.on("confidence_loop")
    if loop is None:
        return
    if not task.metrics:
        yield task.warning(loop.place, loop.field, "no metrics are listed, so confidence is always 0.0")
    elif loop.text("mode") != "raw" and all(value(metric.node, "weight") == 0 for metric in task.metrics):
        yield task.warning(loop.place, f"{loop.field}.metrics", "every weight is 0, so confidence is always 0.0")
