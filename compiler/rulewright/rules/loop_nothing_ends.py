"""Rule: a loop that ends only when it is exhausted."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import first_place
from rulewright.documents.workflow import TaskDocument


def loop_nothing_ends(task: TaskDocument) -> Iterator[Diagnostic]:
    """A confidence loop has neither a threshold nor exit conditions.

    Why it matters: every run uses up its iterations, and then waits for a person or fails.
    Instead: set `threshold`, `exit_conditions` or both.
    """
    confidence = task.on("confidence_loop")
    if confidence is None or confidence.number("threshold") is not None:
        return
    for loop in task.loops:
        if loop.name == "confidence_loop" and not loop.conditions:
            message = "nothing ends this loop: it has neither `threshold` nor `exit_conditions`"
            yield task.warning(first_place(loop.layers[0]), loop.field, message)
