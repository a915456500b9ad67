"""The lists of a scorecard over cases that must not share a text."""

from __future__ import annotations

from rulewright.proving.case_values import value_where
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan


def opposed_lists(plan: CaseScorecardPlan) -> list[tuple[str, str]]:
    """The pairs of inputs whose texts raise one metric and lower another wherever the first finds them."""
    names = [each.name for each in plan.inputs if each.source == "output"] + [each.name for each in plan.texts]
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
    kinds = {each.name: each.type for each in plan.inputs}
    empty: dict[str, object] = {name: [] if kinds.get(name) == "strings" else "" for name in (*kinds, *names)}
    said = {name: ["word"] if kinds.get(name) == "strings" else "word" for name in names}
    values = {**empty, "it": "word"}
    return {name for name in names if value_where(metric.share.found, {**values, name: said[name]}, {}) is True}
