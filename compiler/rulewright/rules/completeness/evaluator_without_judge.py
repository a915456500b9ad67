from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def evaluator_without_judge(task: TaskDocument) -> Findings:
    """A metric that does not ask a judge names an `evaluator_agent`.

    Why it matters: the agent is never asked, so it has no influence on the score.
    Instead: remove `evaluator_agent`, or make the metric an `llm_judge`.
    """
    for metric in task.metrics:
        if metric.type and metric.type != "llm_judge" and metric.evaluator is not None:
            message = f"`{metric.type}` does not ask a judge, so `evaluator_agent` is never read"
            yield task.warning(metric.evaluator, f"{metric.field}.evaluator_agent", message)
