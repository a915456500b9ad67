"""Whoever breaks a row of the polarity table breaks something that is seen: every row is turned round once.

The rows are turned round in the table itself; the probes look at what the product then does at its own places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from tests.runtime.programs import name, program
from tests.runtime.test_polarity import IDS, MEANING, UNDECIDABLE

from rulewright_runtime import aggregate, decisions, polarity, prompts, replies
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.harness.branches import choose
from rulewright_runtime.harness.plan import Branch, Turn
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Place, boolean, condition
from rulewright_runtime.workflow.machine import Guard, decide

UNKNOWN = program(name("nowhere"))


def turn_round(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    table = cast("dict[Place, bool]", polarity.UNDECIDED_HOLDS)
    monkeypatch.setitem(table, place, not table[place])


def conditions(suppressed: Program | None, eligible: Program | None) -> decisions.Decided:
    class Check:
        fields: Mapping[str, Any] = {}

        def __init__(self) -> None:
            self.suppressed, self.eligible = suppressed, eligible

    check: Any = Check()
    return decisions._evaluated(check, decisions._conditions(check), {})


def a_reply_that_may_not_violate_is_taken() -> bool:
    class Judge:
        fields = (type("Field", (), {"name": "verdict", "type": "words", "words": ("PASS", "FAIL")}),)
        violates = UNKNOWN

    asked: Any = Judge()
    try:
        replies.checked({"verdict": "PASS"}, asked)
    except JudgeError:
        return False
    return True


def a_branch_is_taken() -> bool:
    turn = Turn(2, "go on", (Branch("b", UNKNOWN, "instead"),))
    return choose(turn, ["an answer"]).branch_id is not None


# What the product does with a condition that can't be decided, and whether it may.
PROBES: list[tuple[str, Place, Callable[[], bool], bool]] = [
    ("a workflow advances", Place.PERMITTING, lambda: decide(Guard((UNKNOWN,)), {})[0], False),
    ("a loop is left", Place.PERMITTING, lambda: decide(Guard((UNKNOWN,), "any"), {})[0], False),
    ("a branch of a conversation is taken", Place.PERMITTING, a_branch_is_taken, False),
    ("a part of a prompt is written", Place.PERMITTING, lambda: prompts._holds(UNKNOWN)({}), False),
    ("a gate stops", Place.GUARDING, lambda: aggregate._guard(UNKNOWN)({}).holds, True),
    ("a check is eligible", Place.GUARDING, lambda: conditions(None, UNKNOWN).eligible, True),
    ("a reply that passes is taken", Place.GUARDING, a_reply_that_may_not_violate_is_taken, False),
    ("a check is suppressed", Place.EXEMPTING, lambda: conditions(UNKNOWN, None).suppressed, False),
    ("a row of a table holds", Place.TABLE, lambda: condition(UNKNOWN, Place.TABLE)({}).holds, False),
]
NAMES = [probe[0] for probe in PROBES]


@pytest.mark.parametrize(("place", "probe", "happens"), [probe[1:] for probe in PROBES], ids=NAMES)
def test_a_place_of_the_product_does_what_its_row_says(
    place: Place, probe: Callable[[], bool], happens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe() is happens
    for other in Place:
        with monkeypatch.context() as mutation:
            turn_round(other, mutation)
            assert probe() is (not happens if other == place else happens)


def test_every_row_has_a_place_in_the_product() -> None:
    assert {probe[1] for probe in PROBES} == set(Place) == set(polarity.UNDECIDED_HOLDS)


@pytest.mark.parametrize("broken", list(Place))
@pytest.mark.parametrize(("tree", "bindings", "code"), [case[1:] for case in UNDECIDABLE], ids=IDS)
def test_a_broken_row_is_seen_in_every_way_to_be_undecidable(
    broken: Place, tree: Any, bindings: dict[str, Any], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_round(broken, monkeypatch)
    for place in Place:
        decision = condition(program(tree), place)(bindings)
        assert (decision.holds is MEANING[place]) is (place != broken)
        assert str(decision.undecided).startswith(code)
        if place != Place.TABLE:
            assert boolean(program(tree), place)(bindings) is decision.holds


@pytest.mark.parametrize("place", list(Place))
def test_a_row_that_is_missing_stops_the_program_before_it_decides(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(cast("dict[Place, bool]", polarity.UNDECIDED_HOLDS), place)
    with pytest.raises(KeyError):
        condition(UNKNOWN, place)
