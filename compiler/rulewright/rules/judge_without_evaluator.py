from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.workflow import TaskDocument


def judge_without_evaluator(task: TaskDocument) -> Iterator[Diagnostic]:
    """An `llm_judge` metric names no `evaluator_agent`.

    Why it matters: the agent would judge its own work.
    Instead: name another agent in `evaluator_agent`, or choose a metric that needs no judge.
    """
    for metric in task.metrics:
        if metric.type == "llm_judge" and metric.evaluator is None:
            place = metric.node.get("type") or metric.node
            message = "llm_judge metric requires evaluator_agent to be set."
            hint = "name another agent than the task's, or measure `checklist_completion` or `test_coverage` instead"
            yield task.error(place, metric.field, message, help=hint)
