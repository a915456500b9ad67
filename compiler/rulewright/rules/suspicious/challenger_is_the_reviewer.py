from collections import defaultdict

from rulewright.diagnostics import Findings
from rulewright.lower.workflow import ancestors
from rulewright.workflow import Workflow


def challenger_is_the_reviewer(workflow: Workflow) -> Findings:
    """The challenger of a pair also judges the task, or formally reviews it or a task that builds on it.

    Why it matters: an agent that helped to shape the work is not an independent judge of it.
    Instead: let another agent challenge, review or judge.
    """
    above, reviews = ancestors(workflow.document), defaultdict(list)
    for task in workflow.document.tasks:
        if task.reviewer is not None:
            reviews[task.reviewer.value].append(task)
    for task in workflow.document.tasks:
        challenger = task.challenger
        if challenger is None:
            continue
        field = "overlays.paired_workflow.challenger_agent"
        for review in reviews[challenger.value]:
            if task is review or task.id in above[review.id]:
                message = f"`{challenger.value}` challenges here and is the formal reviewer of `{review.id}`"
                yield task.warning(challenger, field, message, notes=[(review.reviewer, "reviews here")])
        for metric in task.metrics:
            if metric.evaluator is not None and metric.evaluator.value == challenger.value:
                message = f"`{challenger.value}` both challenges and scores the work"
                yield task.warning(challenger, field, message, notes=[(metric.evaluator, "judges here")])
