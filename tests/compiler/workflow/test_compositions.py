"""All combinations of the overlays: valid ones keep the invariants in every run, the others are refused when loaded."""

import itertools
import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.workflow.workflows_in_place import (
    OVERLAYS,
    Walk,
    broken,
    composed,
    errors,
    plan_of,
    task_of,
    workflow,
)
from tests.rounds import every, rounds

from rulewright.claims.workflow import CLAIMS, prove_workflow
from rulewright.proving.results import Proved, Refuted
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.workflow.machine import EVENTS, Machine
from rulewright_runtime.workflow.workflow_plan import TaskPlan, decode

COMBINATIONS = [
    tuple(name for name, on in zip(OVERLAYS, chosen, strict=True) if on)
    for chosen in itertools.product((False, True), repeat=len(OVERLAYS))
]
BOTH = {"agentic_review", "paired_workflow"}
VALID = [each for each in COMBINATIONS if not set(each) >= BOTH]
TIERS = ("T0", "T1", "T2")
GOLDEN = Path(__file__).parent / "golden_traces.txt"


def named(on: tuple[str, ...]) -> str:
    return "+".join(on) or "none"


def test_there_are_thirty_two_combinations_and_eight_are_invalid() -> None:
    assert (len(COMBINATIONS), len(VALID)) == (32, 24)


@pytest.mark.parametrize("on", [each for each in COMBINATIONS if each not in VALID], ids=named)
def test_a_pair_and_a_review_together_are_refused(on: tuple[str, ...]) -> None:
    (message,) = errors(composed(on))
    assert "paired_workflow and agentic_review cannot both be enabled on the same task" in message


@pytest.mark.parametrize("on", VALID, ids=named)
def test_a_valid_combination_keeps_all_five_invariants(on: tuple[str, ...]) -> None:
    around = list(itertools.product(TIERS, (False, True), (False, True)))
    for tier, human, loop in every(6, around, VALID.index(on) % 6):
        found = prove_workflow(workflow(composed(on, tier, human=human, loop=loop)))
        assert [each.claim for each in found] == list(CLAIMS)
        assert broken(found) == []
        gated_unseen = "confidence_loop" in on and "policy_gate" not in on  # a gate that nobody gave evidence
        assert isinstance(found[-1].result, Refuted if gated_unseen else Proved), found[-1]


@pytest.mark.parametrize("on", VALID, ids=named)
def test_the_plan_of_a_valid_combination_survives_its_way_as_json(on: tuple[str, ...]) -> None:
    plan = plan_of(composed(on, "T2"))
    assert decode(encode(plan)) == plan


SAID: dict[str, tuple[Any, ...]] = {
    "confidence_score": (0.0, 0.79, 0.8, 1.0, None),
    "pair": ({"challenger_approved": True}, {"challenger_approved": False}, {}, None),
    "review": ({"decision": "GO"}, {"decision": "NO_GO"}, {}, None),
    "policy_gate": ({"verdict": "PASS"}, {"verdict": "FAIL"}, {}, None),
}


def driven(machine: Machine, chance: random.Random) -> tuple[Walk, dict[str, Any]]:
    """A run in which the world says anything; what was said last, and whether a person signed, is recorded."""
    walk = Walk(machine)
    seen: dict[str, Any] = {"signed": False, "steps": 0}
    while (events := EVENTS[machine.place(walk.state.place).activity]) and seen["steps"] < 500:
        event = chance.choice(events) if chance.random() < 0.3 else events[0]
        said = {name: value for name, values in SAID.items() if (value := chance.choice(values)) is not None}
        place = walk.state.place
        walk.take(event, **said)
        seen["steps"] += 1
        if event == "gated":
            seen["gate"] = said.get("policy_gate", {}).get("verdict")
        if event == "worked":
            seen |= {"gate": None, "signed": False}
        if place == "sign_off" and event == "resolved":
            seen["signed"] = True
    return walk, seen


@pytest.mark.parametrize("on", VALID, ids=named)
def test_whatever_the_world_says_a_run_ends_and_never_slips_past_the_gate(on: tuple[str, ...]) -> None:
    chance = random.Random(named(on))
    for tier in TIERS:
        task = task_of(composed(on, tier, human=True, loop=True))
        for _ in range(rounds(20, 60)):
            walk, seen = driven(task.machine, chance)
            assert walk.status in ("COMPLETED", "FAILED")
            assert all(n <= loop.max_iterations for n, loop in zip(walk.state.used, task.machine.loops, strict=True))
            if walk.status == "COMPLETED" and task.gate is not None:
                assert seen["gate"] == "PASS"
                assert seen["signed"] or not task.gate.sign_off


WELL: dict[str, dict[str, Any]] = {
    "scored": {"confidence_score": 0.85, "metrics": {"lint_score": 0.85}},
    "challenged": {"pair": {"challenger_approved": True}},
    "reviewed": {"review": {"decision": "GO"}},
    "gated": {"policy_gate": {"verdict": "PASS"}},
}
BADLY: dict[str, dict[str, Any]] = {
    "scored": {"confidence_score": 0.72, "metrics": {"lint_score": 0.72}},
    "challenged": {"pair": {"challenger_approved": False}},
    "reviewed": {"review": {"decision": "NO_GO"}},
    "gated": {"policy_gate": {"verdict": "FAIL"}},
}


def story(task: TaskPlan, first: dict[str, dict[str, Any]], then: dict[str, dict[str, Any]]) -> list[str]:
    """A run in which everything is said `first` the first time and `then` ever after."""
    walk = Walk(task.machine)
    heard: set[str] = set()
    while events := EVENTS[task.machine.place(walk.state.place).activity]:
        event = events[0]
        said = then if event in heard else first
        heard.add(event)
        walk.take(event, **said.get(event, {}))
    return walk.trace


def golden_traces() -> str:
    parts = []
    for on in VALID:
        for title, first, then in (("well", WELL, WELL), ("badly, then well", BADLY, WELL), ("badly", BADLY, BADLY)):
            task = task_of(composed(on, "T2" if "hil" in on else "T1"))
            parts.append("\n".join([f"# {named(on)}: {title}", *story(task, first, then)]))
    return "\n\n".join(parts) + "\n"


def test_the_traces_of_valid_combinations_are_those_written_down() -> None:
    traces = golden_traces()
    if os.environ.get("RULEWRIGHT_WRITE_EXPECTED"):
        GOLDEN.write_text(traces, encoding="utf-8")
    assert traces == GOLDEN.read_text(encoding="utf-8")


def test_twice_the_same_gives_the_same_traces() -> None:
    assert golden_traces() == golden_traces()


CONDITIONS = {
    "loop.iteration >= 2": set[str](),
    "confidence_score >= 0.9": {"confidence_loop"},
    "pair.challenger_approved == true": {"paired_workflow"},
    "review.decision == GO": {"agentic_review"},
    "policy_gate.verdict == PASS": {"policy_gate"},
    "hil.resolved": {"hil"},
}


@pytest.mark.parametrize("written", CONDITIONS)
@pytest.mark.parametrize("mode", ["any", "all"])
def test_wherever_a_loop_is_decided_the_invariants_hold(written: str, mode: str) -> None:
    first = 2 * list(CONDITIONS).index(written) + (mode == "all")  # a sixth of the combinations for each
    for on in every(6, VALID, first % 6):
        if not CONDITIONS[written] <= set(on):
            continue
        for tier in TIERS:
            ends = f'exit_when: {mode}, exit_conditions: ["{written}", "loop.iteration >= 3"]'
            text = composed(on, tier, loop=True).replace(
                "loop: {max_iterations: 3}", f"loop: {{max_iterations: 3, {ends}}}"
            )
            if "confidence_loop" in on:
                text = text.replace(
                    "threshold: 0.80", f'threshold: 0.80, exit_when: {mode}, exit_conditions: ["{written}"]'
                )
            assert broken(prove_workflow(workflow(text))) == [], text
            plan = plan_of(text)
            assert decode(encode(plan)) == plan
