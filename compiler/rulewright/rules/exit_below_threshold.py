"""Rule: an exit condition that undercuts the threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic
from rulewright.proving.workflow_exits import undercutting

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument


def exit_below_threshold(task: TaskDocument) -> Iterator[Diagnostic]:
    """One of the exit conditions can end the loop although the threshold is not met.

    Why it matters: with `exit_when: any` each condition alone is enough, so the threshold promises more than it holds.
    Instead: write `exit_when: all`, or drop the condition or the threshold.
    """
    for loop in task.loops:
        if loop.name == "confidence_loop" and loop.mode == "any":
            for number, condition in undercutting(task, loop):
                message = "this alone ends the loop, even below the threshold"
                hint = "`exit_when: all` asks for the threshold as well"
                yield task.warning(condition, f"{loop.field}.exit_conditions[{number}]", message, help=hint)
