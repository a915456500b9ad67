from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def judge_without_evaluator(task: TaskDocument) -> Findings:
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
