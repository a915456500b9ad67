"""Rule: a challenger who is also the formal reviewer or a judge."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.workflow import Workflow


def challenger_is_the_reviewer(workflow: Workflow) -> Iterator[Diagnostic]:
    """The challenger of a pair is also the reviewer of a formal review, or a judge of the same task.

    Why it matters: an agent that helped to shape the work is not an independent judge of it.
    Instead: let another agent challenge, review or judge.
    """
    reviewers = {
        str(task.reviewer.value): task
        for task in workflow.document.tasks
        if task.on("agentic_review") is not None and task.reviewer is not None
    }
    for task in workflow.document.tasks:
        challenger = task.challenger if task.on("paired_workflow") is not None else None
        if challenger is None:
            continue
        field = "overlays.paired_workflow.challenger_agent"
        review = reviewers.get(str(challenger.value))
        if review is not None and review.reviewer is not None:
            message = f"`{challenger.value}` challenges here and is the formal reviewer of `{review.id}`"
            notes = [(review.reviewer, "reviews here")]
            yield task.warning(challenger, field, message, notes=notes)
        for metric in task.metrics:
            if metric.evaluator is not None and metric.evaluator.value == challenger.value:
                message = f"`{challenger.value}` both challenges and scores the work"
                yield task.warning(challenger, field, message, notes=[(metric.evaluator, "judges here")])
