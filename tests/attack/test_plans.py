"""Plans that were changed after they were sealed: any leaf changed, dropped or added is refused.

The figure that passes is 0 plans accepted. Whoever seals the whole plan again has written another plan, with another
hash; whoever seals only the envelope again is refused where a check is not what its own hash says.
"""

import copy
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import part
from tests.runtime.plans import sealed
from tests.runtime.workflow.running import plan_of
from tests.runtime.workflow.test_crash import WORKFLOW
from tests.safe_cases import safe

from rulewright.check.project_check import compile_project
from rulewright.planning.harness import compile_run_plan
from rulewright_runtime.cases import case_plan as case_plan
from rulewright_runtime.errors import PlanError
from rulewright_runtime.harness import harness_plan as run_plan
from rulewright_runtime.plan import file as plan_file
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.workflow import workflow_plan as workflow_plan

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmark"
Place = tuple[Any, ...]
PLANS: dict[str, tuple[Callable[[], Any], Callable[[bytes], Any]]] = {
    "checks": (lambda: compile_project(BENCHMARK / "rulewright.yaml"), plan_file.decode),
    "cases": (lambda: seal(safe().plan), case_plan.decode),
    "workflow": (lambda: plan_of(WORKFLOW), workflow_plan.decode),
    "harness": (lambda: compile_run_plan([BENCHMARK / "scenarios"]), run_plan.decode),
}


@cache
def written(kind: str) -> bytes:
    return encode(PLANS[kind][0]())


def leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of each text, number, truth value, null and empty collection."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = list(items)
    if not below:
        yield place
    for key, inner in below:
        yield from leaves(inner, (*place, key))


def others(leaf: Any) -> Iterator[Any]:
    """What may stand in the place of a leaf: values of its type, and of others."""
    if isinstance(leaf, bool):
        yield not leaf
    elif isinstance(leaf, str):
        yield from (leaf + " ", leaf[:-1], leaf.upper() if leaf.upper() != leaf else leaf.lower())
    elif isinstance(leaf, (int, float)):
        yield from (leaf + 1, -leaf - 1, leaf / 2 + 0.25)
    else:
        yield from ({"x": 1}, ["x"], "x")
    yield from ({}, []) if leaf is None else (None,)


@contextmanager
def changed(document: Any, place: Place, new: Any) -> Generator[Any]:
    """The document with another value in a place, for a while."""
    holder = value_at(document, place[:-1])
    before = holder[place[-1]]
    holder[place[-1]] = new
    yield document
    holder[place[-1]] = before


def is_accepted(kind: str, document: Any) -> bool:
    try:
        PLANS[kind][1](json.dumps(document).encode())
    except PlanError:
        return False
    return True


@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_of_which_any_leaf_was_changed_is_refused(kind: str) -> None:
    document = json.loads(written(kind))
    places = list(leaves(document))
    assert len(places) > 100
    accepted = []
    for place in part(places, 8):
        before = value_at(document, place)
        for new in others(before):
            with changed(document, place, new):
                if (new, type(new)) != (before, type(before)) and is_accepted(kind, document):
                    accepted.append((place, new))
    assert accepted == []


@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_of_which_any_key_was_dropped_added_or_moved_is_refused(kind: str) -> None:
    document = json.loads(written(kind))
    objects = sorted({place[:-1] for place in leaves(document) if isinstance(place[-1], str)}, key=repr)
    accepted = []
    for place in part(objects, 5):
        for edit in (dropped, added, moved):
            tree = copy.deepcopy(document)
            if edit(value_at(tree, place)) and is_accepted(kind, tree):
                accepted.append((place, edit.__name__))
    assert accepted == []


def dropped(holder: dict[str, Any]) -> bool:
    holder.pop(next(iter(holder)))
    return True


def added(holder: dict[str, Any]) -> bool:
    holder["judge"] = "x"
    return True


def moved(holder: dict[str, Any]) -> bool:
    first = next(iter(holder))
    holder[first] = holder.pop(first)
    return len(holder) > 1


def value_at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_that_was_only_formatted_differently_is_the_same_plan(kind: str) -> None:
    read = PLANS[kind][1]
    assert read(json.dumps(json.loads(written(kind)), indent=2).encode()) == read(written(kind))


NOT_HASHED = ("hash", "description")  # of a check; the description is for people


def test_a_check_that_was_changed_under_its_own_hash_is_refused_although_the_plan_was_sealed_again() -> None:
    document = json.loads(written("checks"))
    used = {name for check in document["checks"] for name in _texts(check)}
    places = [
        place
        for place in leaves(document)
        if (place[0] == "checks" and place[-1] not in NOT_HASHED) or (place[0] == "lexicons" and place[1] in used)
    ]
    accepted = []
    for place in part(places, 30):
        new = next(others(value_at(document, place)))
        with changed(document, place, new), suppress(PlanError):
            plan_file.decode(sealed(document))
            accepted.append((place, new))
    assert accepted == []


def _texts(value: Any) -> Iterator[str]:
    for place in leaves(value):
        found = value_at(value, place)
        if isinstance(found, str):
            yield found
