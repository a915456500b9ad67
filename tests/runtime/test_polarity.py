"""The polarity table of the design, every row with every way to be undecidable."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runtime.programs import Tree, call, loop, name, op, program

from rulewright_runtime.polarity import Decision, Polarity, boolean, condition

MEANING = {Polarity.PERMITTING: False, Polarity.GUARDING: True, Polarity.EXEMPTING: False, Polarity.TABLE: False}

UNDECIDABLE: list[tuple[str, Tree, dict[str, Any], str]] = [
    ("an absent root", call("_>=_", name("score"), 0.8), {}, "no_such_name"),
    ("an absent field", call("_>=_", name("review.score"), 0.8), {"review": {}}, "no_such_key"),
    ("an absent field further in", call("_==_", name("a.b.c"), "GO"), {"a": {"b": {}}}, "no_such_key"),
    ("null in the path", call("_==_", name("a.b"), "GO"), {"a": None}, "no_such_overload"),
    ("null where a number belongs", call("_>=_", name("score"), 0.8), {"score": None}, "no_such_overload"),
    ("a text where a number belongs", call("_>=_", name("score"), 0.8), {"score": "0.9"}, "no_such_overload"),
    ("a bool where a number belongs", call("_>=_", name("score"), 0.8), {"score": True}, "no_such_overload"),
    ("a score out of range", call("_>=_", call("score", name("s")), 0.8), {"s": 1.5}, "not_a_score"),
    ("a score that is NaN", call("_>=_", call("score", name("s")), 0.8), {"s": float("nan")}, "not_a_score"),
    ("a division by zero", call("_>_", call("_/_", 1, name("n")), 0), {"n": 0}, "divide_by_zero"),
    ("an overflow", call("_>_", call("_+_", name("n"), 1), 0), {"n": 2**63 - 1}, "overflow"),
    ("a number for a condition", name("n"), {"n": 1}, "no_such_overload"),
    ("null for a condition", name("n"), {"n": None}, "no_such_overload"),
    ("a text for a condition", name("n"), {"n": "true"}, "no_such_overload"),
    ("a statistic of nothing", call("value", call("mean", name("xs"))), {"xs": []}, "no_value"),
    ("an optional for a condition", call("mean", name("xs")), {"xs": []}, "no_such_overload"),
    ("a loop over no list", loop("exists", name("xs"), True), {"xs": 3}, "no_such_overload"),
    ("a loop over nothing", loop("all", name("xs"), True), {}, "no_such_name"),
    ("an unknown function", call("no_such_function", 1), {}, "unknown_function"),
    ("one absent half of `and`", op("and", name("yes"), name("gone")), {"yes": True}, "no_such_name"),
    ("one absent half of `or`", op("or", name("gone"), name("no")), {"no": False}, "no_such_name"),
    ("a negated absent value", op("not", name("gone")), {}, "no_such_name"),
    ("a bad pattern", call("matches", "a", name("p")), {"p": "("}, "invalid_argument"),
]
IDS = [case[0] for case in UNDECIDABLE]


@pytest.mark.parametrize("place", list(Polarity))
@pytest.mark.parametrize(("tree", "bindings", "code"), [case[1:] for case in UNDECIDABLE], ids=IDS)
def test_an_undecidable_condition_means_what_its_place_says(
    place: Polarity, tree: Tree, bindings: dict[str, Any], code: str
) -> None:
    decision = condition(program(tree), place)(bindings)
    assert decision.holds is MEANING[place]
    assert decision.undecided is not None
    assert decision.undecided.startswith(f"{code}: ")
    if place != Polarity.TABLE:
        assert boolean(program(tree), place)(bindings) is MEANING[place]


@pytest.mark.parametrize("place", list(Polarity))
def test_a_decided_condition_has_no_reason_at_any_place(place: Polarity) -> None:
    tree = call("_>=_", name("score"), 0.8)
    assert condition(program(tree), place)({"score": 0.8}) == Decision(True)
    assert condition(program(tree), place)({"score": 0.7}) == Decision(False)


@pytest.mark.parametrize("place", list(Polarity))
def test_a_deciding_half_wins_over_an_absent_one(place: Polarity) -> None:
    assert condition(program(op("or", name("gone"), name("yes"))), place)({"yes": True}) == Decision(True)
    assert condition(program(op("and", name("gone"), name("no"))), place)({"no": False}) == Decision(False)


def test_a_table_has_no_form_without_the_reason() -> None:
    with pytest.raises(ValueError, match="needs the reason"):
        boolean(program(True), Polarity.TABLE)
