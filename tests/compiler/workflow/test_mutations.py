"""Broken compositions, injected into a task's machine: the proof finds each of them and shows how it goes wrong."""

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from tests.compiler.workflow.workflows_in_place import Walk, composed, task_of, workflow

from rulewright.check.workflow_check import lowered
from rulewright.claims.workflow import CLAIMS, Fault, faults_of, prove_workflow
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, SCORE
from rulewright.proving.results import Proved, Refuted, Unknown
from rulewright.proving.workflow_values import Truths
from rulewright_runtime.workflow.machine import Guard, Machine, MachineLoop, MachineState, MachineTransition

BOUNDED, PASSED, GATED, SIGNED, SETTLED, REACHABLE = CLAIMS
PAIRED = composed(("hil", "policy_gate", "paired_workflow", "confidence_loop"), "T2", human=True)
REVIEWED = composed(("hil", "policy_gate", "agentic_review", "confidence_loop"), "T2", human=True)
GATELESS = composed(("hil", "paired_workflow"))
Mutation = Callable[[Machine], Machine]


def refuted(text: str, mutate: Mutation) -> dict[str, str]:
    """The claims that do not hold of the mutant, with their traces."""
    machine = mutate(task_of(text).machine)
    found = prove_workflow(workflow(text), {"build": machine})
    assert [each.claim for each in found] == list(CLAIMS)
    return {e.claim: e.result.reason for e in found if isinstance(e.result, Refuted) and e.claim != REACHABLE}


def changed(machine: Machine, change: Callable[[MachineTransition], MachineTransition | None]) -> Machine:
    kept = (change(each) for each in machine.transitions)
    return replace(machine, transitions=tuple(each for each in kept if each is not None))


def onto(source: str, event: str, target: str) -> Mutation:
    """Every way from `source` on `event` names `target` instead."""
    return lambda machine: changed(
        machine, lambda each: replace(each, target=target) if (each.source, each.event) == (source, event) else each
    )


def without_guards(source: str) -> Mutation:
    return lambda machine: changed(machine, lambda each: replace(each, guard=None) if each.source == source else each)


def without_counts(machine: Machine) -> Machine:
    return changed(machine, lambda each: replace(each, counts=()))


def without_ways(source: str, event: str) -> Mutation:
    return lambda machine: changed(machine, lambda each: None if (each.source, each.event) == (source, event) else each)


def with_status(name: str, status: str) -> Mutation:
    return lambda machine: replace(
        machine,
        places=tuple(
            MachineState(each.name, status, each.activity) if each.name == name else each  # type: ignore[arg-type]
            for each in machine.places
        ),
    )


BROKEN: list[tuple[str, str, Mutation, set[str]]] = [
    ("confidence skips the gate", PAIRED, onto("score", "scored", "done"), {PASSED, GATED, SIGNED}),
    ("the pair leads past the gate", PAIRED, onto("decide:paired_workflow", "decide", "signed"), {PASSED, GATED}),
    ("the gate passes whatever it says", PAIRED, without_guards("gate"), {PASSED, GATED}),
    ("the second gate passes whatever it says", PAIRED, without_guards("gate_again"), {PASSED, GATED}),
    ("a T2 gate asks nobody", PAIRED, onto("gate", "gated", "signed"), {SIGNED, PASSED, GATED}),
    ("the review is left out", REVIEWED, onto("decide:confidence_loop", "decide", "gate"), {PASSED}),
    ("the challenger is left out", PAIRED, onto("decide:confidence_loop", "decide", "gate"), {PASSED}),
    ("the reviewer's decision does not count", REVIEWED, without_guards("decide:agentic_review"), {PASSED}),
    ("the challenger's approval does not count", PAIRED, without_guards("decide:paired_workflow"), {PASSED}),
    ("the threshold does not count", PAIRED, without_guards("decide:confidence_loop"), {PASSED}),
    ("nobody releases the task", PAIRED, onto("start", "ready", "work"), {PASSED}),
    ("iterations are not counted", PAIRED, without_counts, {BOUNDED}),
    ("a corrected gate is asked again and again", PAIRED, onto("gate_again", "gated", "exhausted:gate"), {BOUNDED}),
    ("the reviewer's word leads nowhere", REVIEWED, without_ways("review", "reviewed"), {SETTLED}),
    ("a failed agent leads nowhere", PAIRED, without_ways("work", "failed"), {SETTLED}),
    ("a rejection leads nowhere", PAIRED, without_ways("sign_off", "rejected"), {SETTLED}),
    ("a rejection completes the task", PAIRED, onto("sign_off", "rejected", "done"), {SIGNED}),
    ("an exhausted loop completes the task", GATELESS, onto("decide:paired_workflow", "decide", "done"), {PASSED}),
    ("a waiting person counts as running", PAIRED, with_status("sign_off", "RUNNING"), {SETTLED}),
    ("the end is not the end", PAIRED, with_status("signed", "COMPLETED"), {SETTLED}),
]


@pytest.mark.parametrize(("text", "mutate", "claims"), [each[1:] for each in BROKEN], ids=[each[0] for each in BROKEN])
def test_a_broken_composition_gives_a_counterexample(text: str, mutate: Mutation, claims: set[str]) -> None:
    found = refuted(text, mutate)
    assert set(found) >= claims
    for trace in found.values():
        assert trace.startswith("task `build`: start -ready")


def test_a_trace_reads_from_the_start_to_the_mistake() -> None:
    found = refuted(GATELESS, without_guards("decide:paired_workflow"))
    assert found == {
        PASSED: "task `build`: start -ready-> work -worked-> challenge -challenged-> decide:paired_workflow"
        " -decide [pair.challenger_approved = false]-> done: COMPLETED although `paired_workflow` has not passed"
    }


def test_an_endless_circle_is_shown() -> None:
    found = refuted(GATELESS, without_counts)
    assert list(found) == [BOUNDED]
    assert found[BOUNDED].endswith(
        "a cycle that uses no iteration: work -> challenge -> decide:paired_workflow -> work"
    )


def mutants(machine: Machine) -> Iterator[tuple[int, Machine]]:
    """Every way that does not end well leads to the end instead, one at a time."""
    for number, each in enumerate(machine.transitions):
        if each.target != "done":
            transitions = list(machine.transitions)
            transitions[number] = replace(each, target="done")
            yield number, replace(machine, transitions=tuple(transitions))


@pytest.mark.parametrize("text", [PAIRED, REVIEWED], ids=["paired", "reviewed"])
def test_no_single_step_can_be_bent_towards_completed_unseen(text: str) -> None:
    machine = task_of(text).machine
    tried = 0
    for number, mutant in mutants(machine):
        tried += 1
        if machine.transitions[number].source != "sign_off" or machine.transitions[number].event != "resolved":
            assert refuted(text, lambda _, mutant=mutant: mutant), machine.transitions[number]  # type: ignore[misc]
    assert tried > 25


def test_a_bound_is_what_it_says_whatever_its_size() -> None:
    text = GATELESS.replace("max_iterations: 3", "max_iterations: 1000000")
    assert all(isinstance(each.result, Proved) for each in prove_workflow(workflow(text)))


def test_a_transition_that_counts_would_have_to_allow_is_tried_both_ways() -> None:
    def exhausts_into_done(machine: Machine) -> Machine:
        return changed(
            machine,
            lambda each: (
                replace(each, target="done")
                if each.source == "decide:paired_workflow" and each.target.startswith("exhausted")
                else each
            ),
        )

    found = refuted(GATELESS, exhausts_into_done)
    assert list(found) == [PASSED]
    assert found[PASSED].count("-challenged") == 3  # the trace counts the iterations that it takes to get there


def test_a_stricter_mutant_is_still_proved() -> None:
    text = GATELESS
    machine = task_of(text).machine
    stricter = replace(machine, loops=tuple(MachineLoop(loop.name, 1) for loop in machine.loops))
    assert all(isinstance(each.result, Proved) for each in prove_workflow(workflow(text), {"build": stricter}))


def test_what_the_proof_shows_the_machine_does() -> None:
    mutant = without_guards("decide:paired_workflow")(task_of(GATELESS).machine)
    walk = Walk(mutant)
    walk.take("ready")
    walk.take("worked")
    walk.take("challenged", pair={"challenger_approved": False})
    assert walk.status == "COMPLETED"


def test_a_guard_without_conditions_says_what_it_means() -> None:
    assert Guard(()).mode == "all"
    never = changed(
        task_of(GATELESS).machine,
        lambda each: replace(each, guard=Guard((), "any")) if each.guard is not None else each,
    )
    assert all(isinstance(each.result, Proved) for each in prove_workflow(workflow(GATELESS), {"build": never}))


def test_a_verdict_that_reads_confidence_is_found_in_the_plan_itself() -> None:
    (task,) = lowered(workflow(PAIRED)).tasks
    assert task.task.gate is not None
    reads = build("confidence_score > 0.5", Environment(variables={"confidence_score": SCORE}), expect=BOOL).program
    broken = replace(task.task.gate, verdict=reads)
    found = faults_of(replace(task.task, gate=broken), task, Truths())
    assert found == (Fault(GATED, "the gate's verdict reads `confidence_score`"),)
    assert faults_of(task.task, task, Truths()) == ()


def test_more_conditions_at_one_place_than_can_be_distinguished_prove_nothing() -> None:
    asked = "confidence_score > {0} and metrics.lint_score > {0} and review.decision == GO"
    conditions = "\n".join(f"      - {asked.format(number / 100)}" for number in range(10, 30))
    text = f"""
version: "1"
name: many
tasks:
  build:
    agent: dev
    loop:
      max_iterations: 2
      exit_conditions:
{conditions}
    overlays:
      agentic_review: {{enabled: true, coder_agent: dev, reviewer_agent: reviewer, max_iterations: 2}}
      policy_gate: {{enabled: true, risk_tier: T0, evidence: {{acceptance: junit.xml}}}}
      confidence_loop:
        {{enabled: true, max_iterations: 2, threshold: 0.5, metrics: [{{type: lint_score, source: ruff.json}}]}}
"""
    found = prove_workflow(workflow(text))
    assert {type(each.result) for each in found if each.claim != REACHABLE} == {Unknown}


def test_what_is_too_large_to_explore_is_unknown_and_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulewright.claims.workflow_machine.MOST_STATES", 5)
    found = prove_workflow(workflow(GATELESS))
    assert {type(each.result) for each in found if each.claim != REACHABLE} == {Unknown}
    assert isinstance(found[-1].result, Proved)  # a way is walked, not explored


def test_several_broken_tasks_are_counted() -> None:
    text = GATELESS + GATELESS.partition("tasks:\n")[2].replace("build", "test")
    mutant = without_guards("decide:paired_workflow")(task_of(GATELESS).machine)
    found = {each.claim: each for each in prove_workflow(workflow(text), {"build": mutant, "test": mutant})}
    result = found[PASSED].result
    assert isinstance(result, Refuted)
    assert result.reason.endswith("(and 1 more task)")
    span = found[PASSED].span
    assert span is not None
    assert span.line == 2


def test_a_broken_machine_is_found_next_to_an_equal_task_with_a_whole_one() -> None:
    both = workflow(PAIRED + PAIRED.removeprefix("tasks:\n").replace("build:", "other:"))
    broken = without_guards("gate")(task_of(PAIRED).machine)
    found = {e.claim: e.result for e in prove_workflow(both, {"other": broken})}[PASSED]
    assert isinstance(found, Refuted)
    assert found.reason.startswith("task `other`: ")
