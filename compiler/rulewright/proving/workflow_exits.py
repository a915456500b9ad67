"""Which exit conditions of a confidence loop can end it although its threshold is not met."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final

from rulewright.lower.workflow_environments import facts
from rulewright.lower.workflow_guards import Guards
from rulewright.proving.workflow_values import Truths, shape_of, worlds

if TYPE_CHECKING:
    from rulewright.documents.overlays import Loop
    from rulewright.documents.workflow import TaskDocument
    from rulewright.load import Scalar
    from rulewright_runtime.ir import Program

_MOST: Final = 4096
_KNOWN: Final[dict[Hashable, bool]] = {}  # by the shape of threshold and condition


def undercutting(task: TaskDocument, loop: Loop) -> Iterator[tuple[int, Scalar]]:
    """The conditions that hold somewhere below the threshold, with their numbers; none without a threshold. Conditions
    that do not compile are left to the compiler."""
    known = facts(task)
    guards = Guards([])
    threshold = guards.threshold(task, known)
    if threshold is None:
        return
    for number, scalar in enumerate(loop.conditions):
        built = guards.authored(task, "", scalar, known)
        if built is None:
            continue
        if _undercuts(threshold.program, built.program):
            yield number, scalar


def _undercuts(threshold: Program, condition: Program) -> bool:
    """Whether the condition holds in a context in which the threshold is not met."""
    truths = Truths()
    both = (threshold, condition)
    key = shape_of(both, truths)
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        said = worlds(both, truths)
        _KNOWN[key] = any(not truths.holds(threshold, world) and truths.holds(condition, world) for world in said)
    return _KNOWN[key]
