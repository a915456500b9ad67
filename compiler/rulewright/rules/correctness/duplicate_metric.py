from rulewright.diagnostics import Findings
from rulewright.documents.base import repeated
from rulewright.documents.workflow import TaskDocument


def duplicate_metric(task: TaskDocument) -> Findings:
    """A confidence loop has two metrics of the same type.

    Why it matters: conditions refer to a metric by its type (`metrics.llm_judge`), which is then ambiguous.
    Instead: keep one of them, with the sum of the weights or with both sources.
    """
    for metric, first in repeated((each for each in task.metrics if each.type), lambda each: each.type):
        place = metric.node.get("type") or metric.node
        notes = [(first.node, "first used here")]
        yield task.error(place, metric.field, f"duplicate metric `{metric.type}`", notes=notes)
