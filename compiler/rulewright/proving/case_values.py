"""The values of the expressions of a scorecard over cases for given scores, and of its metrics for given texts."""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Final

from rulewright.documents.scorecard import CaseScorecardDocument, SettingDocument
from rulewright.expression.syntax_tree import Binary, Expr, Name, below, number_in
from rulewright.load import Scalar
from rulewright.lower.case_scorecard import lower_case_scorecard
from rulewright.lower.expressions_of import expressions_of
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import Optional


def value_where(
    program: Program, parameters: Mapping[str, object], scores: Mapping[str, int | Score]
) -> Fraction | bool | None:
    """The number or the truth of an expression under these parameters and scores; None where it has neither."""
    return value_of(prepare(program), parameters, scores)


def value_of(
    value: Evaluator, parameters: Mapping[str, object], scores: Mapping[str, int | Score]
) -> Fraction | bool | None:
    """`value_where` of a prepared expression."""
    try:
        found = value(
            {**parameters, **{n: each if isinstance(each, Score) else Score(each) for n, each in scores.items()}}
        )
    except EvaluationError:
        return None
    if isinstance(found, Optional):
        found = found.value if found.present else None
    return Fraction(*exact_pair(found)) if isinstance(found, Score) else found if isinstance(found, bool) else None


FAR: Final = 1e9  # stands for the end of a parameter without a bound
MOST_TERMS: Final = 10


def unbreakable(scorecard: CaseScorecardDocument) -> Iterator[Scalar]:
    """The requirements that compare a sum of numbers with a number and hold for all values of the parameters. A sum is
    largest and smallest where every parameter is at one of its bounds."""
    plan, _ = lower_case_scorecard(scorecard)
    settings = {each.name: each for each in scorecard.settings if each.type == "number"}
    written = {id(each.scalar): each.checked.expr for each in expressions_of(scorecard)}
    for (that, _), required in zip(scorecard.requires, () if plan is None else plan.requires, strict=False):
        names = _terms(written.get(id(that)), settings)
        corners = itertools.product(*(_ends(settings[name]) for name in names))
        if names and all(
            value_where(required.that, dict(zip(names, each, strict=True)), {}) is True for each in corners
        ):
            yield that


def _terms(part: Expr | None, settings: Mapping[str, SettingDocument]) -> list[str]:
    """The names in a comparison of a sum of parameters with a number; nothing for any other expression."""
    if not isinstance(part, Binary) or part.operator not in ("<", "<=", ">", ">=") or number_in(part.right) is None:
        return []
    parts = list(below(part.left))
    names = sorted({each.name for each in parts if isinstance(each, Name)})
    is_sum = all(isinstance(each, Name) or (isinstance(each, Binary) and each.operator in "+-") for each in parts)
    return names if is_sum and set(names) <= set(settings) and len(names) <= MOST_TERMS else []


def _ends(setting: SettingDocument) -> tuple[float, float]:
    low, high = (None if bound is None else bound.as_float for bound in (setting.minimum, setting.maximum))
    return -FAR if low is None else low, FAR if high is None else high


def opposed_lists(plan: CaseScorecardPlan) -> list[tuple[str, str]]:
    """The pairs of inputs whose texts raise one metric and lower another wherever the first finds them."""
    names = [each.name for each in plan.inputs if each.source == "output"]
    places = {each.name: _places(each, plan, names) for each in plan.metrics}
    good, bad = ([each for each in plan.metrics if each.share.empty == empty] for empty in ("1", "0"))
    return [
        (one.share.of, other.share.of)
        for one in good
        for other in bad
        if places[one.name] and places[one.name] <= places[other.name]
    ]


def _places(metric: CaseMetric, plan: CaseScorecardPlan, names: list[str]) -> set[str]:
    """The parts of an output in which a metric finds a text."""
    are_lists = {each.name for each in plan.inputs if each.type == "strings"}
    empty: dict[str, object] = {each.name: [] if each.name in are_lists else "" for each in plan.inputs}
    found = set()
    for name in names:
        values = {**empty, name: ["word"] if name in are_lists else "word", "it": "word"}
        with suppress(EvaluationError):
            texts = {each.name: prepare(each.value)(values) for each in plan.texts}
            if value_where(metric.share.found, {**values, **texts}, {}) is True:
                found.add(name)
    return found
