from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.lower.workflow import ancestors
from rulewright.workflow import Workflow


def challenger_is_the_reviewer(workflow: Workflow) -> Iterator[Diagnostic]:
    """The challenger of a pair also judges the task, or formally reviews it or a task that builds on it.

    Why it matters: an agent that helped to shape the work is not an independent judge of it.
    Instead: let another agent challenge, review or judge.
    """
    above = ancestors(workflow.document)
    for task in workflow.document.tasks:
        challenger = task.challenger if task.on("paired_workflow") is not None else None
        if challenger is None:
            continue
        field = "overlays.paired_workflow.challenger_agent"
        for review in workflow.document.tasks:
            reviewer = review.reviewer if review.on("agentic_review") is not None else None
            if reviewer is None or reviewer.value != challenger.value or task.id not in (review.id, *above[review.id]):
                continue
            message = f"`{challenger.value}` challenges here and is the formal reviewer of `{review.id}`"
            notes = [(reviewer, "reviews here")]
            yield task.warning(challenger, field, message, notes=notes)
        for metric in task.metrics:
            if metric.evaluator is not None and metric.evaluator.value == challenger.value:
                message = f"`{challenger.value}` both challenges and scores the work"
                yield task.warning(challenger, field, message, notes=[(metric.evaluator, "judges here")])
