"""One step of a machine: what it takes, what it counts, what it refuses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright_runtime.errors import StateError
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.workflow.machine import (
    EVENTS,
    FOLLOWS,
    Event,
    Guard,
    Machine,
    MachineLoop,
    MachineState,
    MachineTransition,
    StateEffect,
    TaskState,
    activity,
    decide,
    iterations_used,
    start,
    status,
    step,
)  # fmt: skip


def equal(root: str, field: str, word: str) -> Program:
    """`root.field == word`."""
    nodes = (
        Node("name", (), [[root, []]]),
        Node("select", (0,), field),
        Node("const", (), ["string", word]),
        Node("call", (1, 2), "_==_"),
    )
    return Program(nodes, f"{root}.{field} == {word}")


def at_least(number: int) -> Program:
    """`loop.iteration >= number`."""
    nodes = (
        Node("name", (), [["loop", []]]),
        Node("select", (0,), "iteration"),
        Node("const", (), ["int", str(number)]),
        Node("call", (1, 2), "_>=_"),
    )
    return Program(nodes, f"loop.iteration >= {number}")


GO = Guard((equal("review", "decision", "GO"),), "any", "agentic_review")
MACHINE = Machine(
    places=(
        MachineState("start", "PENDING", "wait"),
        MachineState("work", "RUNNING", "agent"),
        MachineState("review", "RUNNING", "review"),
        MachineState("asked", "HIL_PENDING", "human"),
        MachineState("done", "COMPLETED", "none"),
        MachineState("failed", "FAILED", "none"),
    ),
    transitions=(
        MachineTransition("start", "ready", "work", counts=("agentic_review",)),
        MachineTransition("work", "worked", "review"),
        MachineTransition("work", "failed", "failed", effects=(StateEffect("fail", words="agent_failed"),)),
        MachineTransition("review", "reviewed", "done", guard=GO, effects=(StateEffect("pass", "agentic_review"),)),
        MachineTransition("review", "reviewed", "work", counts=("agentic_review",), forgets=("review",)),
        MachineTransition("review", "reviewed", "asked"),
        MachineTransition("asked", "resolved", "work"),
        MachineTransition("asked", "rejected", "failed"),
    ),
    loops=(MachineLoop("agentic_review", 2),),
)


def led(*events: tuple[Event, dict[str, Any]]) -> TaskState:
    state = start(MACHINE)
    for event, context in events:
        state = step(MACHINE, state, event, context).state
    return state


def test_a_task_begins_at_the_first_place_with_nothing_used() -> None:
    state = start(MACHINE)
    assert (state.place, state.used) == ("start", (0,))
    assert (status(MACHINE, state), activity(MACHINE, state)) == ("PENDING", "wait")


def test_a_step_says_where_it_leads_and_what_it_means() -> None:
    state = led(("ready", {}), ("worked", {}))
    taken = step(MACHINE, state, "reviewed", {"review": {"decision": "GO"}})
    assert (taken.before, taken.after, taken.state.place) == ("RUNNING", "COMPLETED", "done")
    assert taken.effects == (StateEffect("pass", "agentic_review"),)
    assert taken.undecided == ()


def test_the_first_open_transition_is_taken() -> None:
    state = led(("ready", {}), ("worked", {}))
    assert step(MACHINE, state, "reviewed", {"review": {"decision": "NO_GO"}}).state == TaskState("work", (2,))


def test_a_loop_without_an_iteration_left_is_closed() -> None:
    again = ("reviewed", {"review": {"decision": "NO_GO"}})
    state = led(("ready", {}), ("worked", {}), again, ("worked", {}), again)  # type: ignore[arg-type]
    assert state == TaskState("asked", (2,))


def test_a_step_that_counts_nothing_leaves_the_counts() -> None:
    state = step(MACHINE, TaskState("asked", (2,)), "resolved", {}).state
    assert state == TaskState("work", (2,))


@pytest.mark.parametrize("context", [{}, {"review": {}}, {"review": None}, {"review": {"decision": 7}}])
def test_what_cannot_be_decided_is_not_met(context: dict[str, Any]) -> None:
    taken = step(MACHINE, led(("ready", {}), ("worked", {})), "reviewed", context)
    assert taken.state.place == "work"


def test_the_reason_of_an_undecided_guard_is_reported() -> None:
    taken = step(MACHINE, led(("ready", {}), ("worked", {})), "reviewed", {})
    assert len(taken.undecided) == 1
    assert "review" in taken.undecided[0]


@pytest.mark.parametrize("place", ["done", "failed"])
@pytest.mark.parametrize("event", sorted({event for events in EVENTS.values() for event in events}))
def test_the_end_takes_no_event(place: str, event: Event) -> None:
    with pytest.raises(StateError, match="can't take the event"):
        step(MACHINE, TaskState(place, (1,)), event, {})


def test_an_event_that_nobody_waits_for_is_refused() -> None:
    with pytest.raises(StateError, match=r"a task that is PENDING \(at `start`\) can't take the event `worked`"):
        step(MACHINE, start(MACHINE), "worked", {})


def test_a_place_that_does_not_exist_is_refused() -> None:
    with pytest.raises(StateError, match="no state `nowhere`"):
        step(MACHINE, TaskState("nowhere", (0,)), "ready", {})


def test_inside_a_loop_its_iteration_can_be_read() -> None:
    guard = Guard((at_least(2),), "all", "agentic_review")
    machine = Machine(
        MACHINE.places,
        (MachineTransition("review", "reviewed", "done", guard=guard), *MACHINE.transitions),
        MACHINE.loops,
    )
    assert step(machine, TaskState("review", (1,)), "reviewed", {}).state.place == "work"
    assert step(machine, TaskState("review", (2,)), "reviewed", {}).state.place == "done"


def test_a_loop_that_does_not_exist_was_never_used() -> None:
    assert iterations_used(MACHINE, TaskState("work", (2,)), "agentic_review") == 2
    assert iterations_used(MACHINE, TaskState("work", (2,)), "confidence_loop") == 0


@pytest.mark.parametrize(("mode", "met"), [("any", False), ("all", True)])
def test_a_guard_without_conditions_is_met_by_all_and_by_none(mode: Any, met: bool) -> None:
    assert decide(Guard((), mode), {}) == (met, ())


@pytest.mark.parametrize(
    ("said", "any_of", "all_of"),
    [({"a": {"x": "1"}, "b": {"x": "2"}}, True, True), ({"a": {"x": "1"}}, True, False), ({}, False, False)],
)
def test_any_and_all_count_what_is_absent_as_not_met(said: dict[str, Any], any_of: bool, all_of: bool) -> None:
    both = (equal("a", "x", "1"), equal("b", "x", "2"))
    assert decide(Guard(both, "any"), said)[0] is any_of
    assert decide(Guard(both, "all"), said)[0] is all_of


def test_every_activity_says_what_may_happen() -> None:
    assert {place.name: EVENTS[place.activity] for place in MACHINE.places} == {
        "start": ("ready",), "work": ("worked", "failed"), "review": ("reviewed", "failed"),
        "asked": ("resolved", "rejected"), "done": (), "failed": (),
    }  # fmt: skip


def test_statuses_follow_each_other_as_written_down() -> None:
    for each in MACHINE.transitions:
        assert MACHINE.place(each.target).status in FOLLOWS[MACHINE.place(each.source).status]
    assert FOLLOWS["COMPLETED"] == FOLLOWS["FAILED"] == frozenset()


@given(st.lists(st.sampled_from(["GO", "NO_GO", None]), max_size=8))
def test_the_count_never_exceeds_its_bound(words: list[str | None]) -> None:
    state = led(("ready", {}))
    for word in words:
        if state.place != "work":
            break
        state = step(MACHINE, state, "worked", {}).state
        state = step(MACHINE, state, "reviewed", {} if word is None else {"review": {"decision": word}}).state
        assert state.used[0] <= 2


def test_transitions_are_tried_in_the_order_they_are_written() -> None:
    assert [each.target for each in MACHINE.transitions_on("review", "reviewed")] == ["done", "work", "asked"]
