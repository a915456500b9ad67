"""Finds exit conditions of a confidence loop that can end it although its threshold is not met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.lower.workflow_environments import features_of
from rulewright.lower.workflow_guards import Guards
from rulewright.proving.workflow_values import Truths, worlds

if TYPE_CHECKING:
    from rulewright.documents.overlays import Loop
    from rulewright.documents.workflow import TaskDocument
    from rulewright.load import Scalar
    from rulewright_runtime.ir import Program


def undercutting(task: TaskDocument, loop: Loop) -> Iterator[tuple[int, Scalar]]:
    """Yield the conditions that can hold below the threshold, with their indices; none without a threshold. Invalid
    conditions are left to the compiler."""
    features = features_of(task)
    guards = Guards([])
    threshold = guards.threshold(task, features)
    if threshold is None:
        return
    for number, scalar in enumerate(loop.conditions):
        built = guards.author_condition(task, "", scalar, features)
        if built is None:
            continue
        if _undercuts(threshold.program, built.program):
            yield number, scalar


def _undercuts(threshold: Program, condition: Program) -> bool:
    """Whether the condition holds in a context in which the threshold is not met."""
    truths = Truths()
    contexts = worlds((threshold, condition), truths)
    return any(not truths.holds(threshold, world) and truths.holds(condition, world) for world in contexts)
