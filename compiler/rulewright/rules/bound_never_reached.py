"""Rule: an outer loop with more iterations than an inner one leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument


def bound_never_reached(task: TaskDocument) -> Iterator[Diagnostic]:
    """A loop may run more often than a loop inside it, whose count is never reset.

    Why it matters: each iteration of the outer loop is one of the inner loop as well; when the inner one is used up, so
    is the outer one, and the larger number promises what can't happen.
    Instead: give the inner loop at least as many iterations as the outer one.
    """
    loops = task.loops
    for number, outer in enumerate(loops):
        for inner in loops[number + 1 :]:
            if outer.max_iterations and inner.max_iterations and outer.max_iterations > inner.max_iterations:
                place = outer.find("max_iterations") or outer.node
                message = (
                    f"{outer.max_iterations} is never reached: `{inner.name}` allows {inner.max_iterations} in all"
                )
                yield task.warning(place, f"{outer.field}.max_iterations", message)
                break
