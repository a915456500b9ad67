from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def judge_without_output(task: TaskDocument) -> Findings:
    """A task with an `llm_judge` metric declares no `outputs`.

    Why it matters: the judge sees only the agent's reply, so it scores what the agent says about its work, not the
    files. A reply without text counts as 0.0.
    Instead: list the files in `outputs`, or allow this finding where the reply itself is the work.
    """
    for metric in task.metrics:
        if metric.type == "llm_judge" and metric.evaluator is not None and not task.outputs:
            message = "the task declares no `outputs`, so the judge scores the agent's reply alone"
            yield task.advice(metric.node, metric.field, message)
