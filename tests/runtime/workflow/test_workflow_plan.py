"""A workflow's plan is hostile until it is decoded."""

import json
from typing import Any

import pytest
from tests.runtime.plans import sealed

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.plan.envelope import content_hash, encode, seal
from rulewright_runtime.workflow.machine import Guard, Machine, MachineLoop, MachineState, MachineTransition
from rulewright_runtime.workflow.workflow_plan import Gate, TaskPlan, WorkflowPlan, decode

TRUE = Program((Node("const", (), ["bool", True]),), "true")
SMALL = Machine(
    (
        MachineState("start", "PENDING", "wait"),
        MachineState("work", "RUNNING", "agent"),
        MachineState("done", "COMPLETED", "none"),
    ),
    (
        MachineTransition("start", "ready", "work", counts=("loop",)),
        MachineTransition("work", "worked", "done", guard=Guard((TRUE,))),
    ),
    (MachineLoop("loop", 2),),
)


def plan(machine: Machine = SMALL, **more: Any) -> WorkflowPlan:
    return seal(
        WorkflowPlan("w", (TaskPlan("a", "dev", machine, **more), TaskPlan("b", "dev", SMALL, dependencies=("a",))))
    )


def resealed(change: Any) -> bytes:
    """The plan with `change` made to its JSON, and a hash that fits."""
    data = json.loads(encode(plan()))
    change(data)
    return sealed(data)


def test_a_plan_comes_back_as_it_was_written() -> None:
    assert decode(encode(plan())) == plan()
    assert encode(decode(encode(plan()))) == encode(plan())


def test_a_plan_knows_its_tasks() -> None:
    assert plan().task("b").dependencies == ("a",)
    with pytest.raises(KeyError):
        plan().task("c")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "can't be decoded"),
        (b"[]", "can't be decoded"),
        (b'{"name":"w","tasks":[]}', "the plan has no format; expected `rulewright-workflow`"),
        (b'{"format":"rulewright-plan","version":1}', "the plan has the format `rulewright-plan`; expected"),
        (b'{"format":"rulewright-workflow","version":9}', "has version 9; this runtime is older and reads version 1"),
        (b'{"format":"rulewright-workflow","version":1}', "hash does not match"),
    ],
)
def test_data_that_are_not_a_plan_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        decode(data)


def test_a_plan_that_is_too_large_is_refused() -> None:
    with pytest.raises(PlanError, match="at most 67108864 are accepted"):
        decode(encode(plan()) + b" " * 2**26)


def test_two_tasks_of_one_name_are_refused() -> None:
    with pytest.raises(PlanError, match="same id"):
        decode(resealed(lambda data: data["tasks"][1].update(id="a", dependencies=[])))


def test_a_task_that_depends_on_a_later_one_is_refused() -> None:
    with pytest.raises(PlanError, match="does not come before it"):
        decode(resealed(lambda data: data["tasks"].reverse()))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (Machine((), ()), "without places"),
        (Machine((SMALL.places[0], SMALL.places[0]), ()), "two of one name"),
        (Machine(SMALL.places, (MachineTransition("start", "ready", "nowhere"),)), "does not have"),
        (Machine(SMALL.places, (MachineTransition("start", "ready", "work", counts=("loop",)),)), "does not have"),
        (
            Machine(SMALL.places, (MachineTransition("work", "worked", "done", guard=Guard((), "any", "loop")),)),
            "does not",
        ),
        (Machine(SMALL.places, (MachineTransition("start", "ready", "done"),)), "COMPLETED can't follow PENDING"),
        (Machine(SMALL.places, (MachineTransition("done", "ready", "work"),)), "RUNNING can't follow COMPLETED"),
        (
            Machine((*SMALL.places[:2], MachineState("rest", "RUNNING", "none")), ()),
            "`rest` is RUNNING and does nothing",
        ),
        (
            Machine((*SMALL.places[:2], MachineState("done", "COMPLETED", "gate")), ()),
            "`done` is COMPLETED and does `gate`",
        ),
    ],
)
def test_a_machine_that_no_compiler_writes_is_refused(machine: Machine, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        decode(encode(plan(machine)))


@pytest.mark.parametrize("nodes", [(), (Node("select", (0,), "x"),), (Node("exec", (), None),)])
def test_a_malformed_expression_is_refused_anywhere(nodes: tuple[Node, ...]) -> None:
    bad = Program(nodes, "bad")
    guarded = Machine(SMALL.places, (MachineTransition("work", "worked", "done", guard=Guard((bad,))),))
    gate = Gate("T0", bad, (), ())
    for broken in (plan(guarded), plan(gate=gate)):
        with pytest.raises(PlanError):
            decode(encode(broken))


def test_a_gate_that_requires_coverage_without_a_threshold_is_refused() -> None:
    gate = Gate("T1", TRUE, ("requirement_coverage",), ())
    with pytest.raises(PlanError, match="requires a coverage of requirements without a threshold"):
        decode(encode(plan(gate=gate)))


def test_a_bound_below_one_is_refused() -> None:
    data = encode(plan()).replace(b'"max_iterations":2', b'"max_iterations":0')
    with pytest.raises(PlanError, match="can't be decoded: Expected `int` >= 1"):
        decode(sealed(json.loads(data)))


def test_the_hash_does_not_depend_on_itself() -> None:
    assert content_hash(plan()) == plan().hash
