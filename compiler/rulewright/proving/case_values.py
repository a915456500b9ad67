"""The values of the expressions of a scorecard over cases for given scores."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import Optional


def value_where(
    program: Program, parameters: Mapping[str, object], scores: Mapping[str, int]
) -> Fraction | bool | None:
    """The number or the truth of an expression under these parameters and scores; None where it has neither."""
    try:
        found = prepare(program)({**parameters, **{name: Score(value) for name, value in scores.items()}})
    except EvaluationError:
        return None
    if isinstance(found, Optional):
        found = found.value if found.present else None
    return Fraction(*exact_pair(found)) if isinstance(found, Score) else found if isinstance(found, bool) else None
