"""Rule: weights of a task that do not add up to 1, as those of the other tasks do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.project.weights import weights_of
from rulewright.workflow import Workflow

ROUNDING: Final = 0.02  # three weights of 0.33 are meant to be 1


def weights_unlike_other_tasks(workflow: Workflow) -> Iterator[Diagnostic]:
    """The weights of a confidence loop are different shares that do not add up to 1, but those of all other tasks do.

    Why it matters: the weights are scaled to a sum of 1, so a mistyped weight shifts all the others unseen.
    Instead: correct the weight, so that the sum is 1.
    """
    lists = {tuple(scalar for _, scalar in weights_of(task)): task for task in workflow.document.tasks}
    totals = {each: math.fsum(float(str(one.value)) for one in each) for each in lists if len(each) > 1}
    odd = [each for each, total in totals.items() if abs(total - 1) > ROUNDING]
    if len(odd) != 1 or any(float(str(one.value)) >= 1 for one in odd[0]) or len({one.value for one in odd[0]}) == 1:
        return
    others = [f", those of `{lists[each].id}` to 1" for each in totals if each not in odd]
    message = f"the weights of `{lists[odd[0]].id}` add up to {totals[odd[0]]:g}{(others or [', not to 1'])[0]}"
    yield warning(odd[0][-1], message, notes=[(each, "added to it") for each in odd[0][:-1]])
