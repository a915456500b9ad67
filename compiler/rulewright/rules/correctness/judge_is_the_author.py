from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def judge_is_the_author(task: TaskDocument) -> Findings:
    """An agent judges its own work.

    Why it matters: a judge that wrote the output tends to favour it.
    Instead: name another agent in `evaluator_agent`.
    """
    for metric in task.metrics:
        judge = metric.evaluator
        if metric.type != "llm_judge" or judge is None:
            continue
        for author in task.authors:
            if author.agent.value == judge.value:
                message = "llm_judge evaluator_agent must differ from task agent."
                notes = [(author.agent, f"`{judge.value}` writes what is judged (`{author.field}`)")]
                yield task.error(judge, f"{metric.field}.evaluator_agent", message, notes=notes)
                break
