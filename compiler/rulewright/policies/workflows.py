"""A workflow as a policy: the transitions of each task's state machine, and the requirements of its gate."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rulewright.check.workflow_check import lowered
from rulewright.expression.compose import all_of, any_of
from rulewright.expression.types import BOOL, INT, RecordType, Type
from rulewright.lower.workflow_environments import features_of, gate_environment, loop_environment
from rulewright.policies.policy_model import Policy, PolicyDecision, PolicyOutcome, PolicyStep, flat, permitting
from rulewright.proving.domains import Domain, Domains, Path, whole
from rulewright.proving.program_parts import reading
from rulewright.workflow import Workflow
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.workflow.machine import Guard, Machine, MachineTransition

_STAYS: Final = PolicyOutcome("stays", "has no transition")
_DECIDED: Final = ("machine", "gate.verdict")  # compared as regions


def policy_of_workflow(workflow: Workflow) -> Policy:
    """The policy of a valid workflow, task by task."""
    decisions: dict[str, PolicyDecision] = {}
    places: dict[str, Domains] = {}
    settings: dict[str, object] = {}
    made_of = lowered(workflow)
    settings |= flat("agents", made_of.plan.agents) | flat("limits", made_of.plan.limits)
    for made in made_of.tasks:
        task = made.task
        document = workflow.document.task(task.id)
        if document is None:
            continue
        known = features_of(document)
        domains = _domains(dict(loop_environment(known).variables), task.machine)
        leaving: dict[tuple[str, str], list[MachineTransition]] = {}
        for each in task.machine.transitions:
            leaving.setdefault((each.source, each.event), []).append(each)
        for (source, event), transitions in leaving.items():
            name = f"task {task.id}, {event} at {source}"
            decisions[name] = PolicyDecision(name, tuple(map(_step, transitions)), _STAYS)
            places[name] = domains
        if task.gate is not None:
            name = f"task {task.id}, policy_gate"
            passed, failed = PolicyOutcome("PASS", "PASS"), PolicyOutcome("FAIL", "FAIL")
            decisions[name] = PolicyDecision(name, (permitting(task.gate.verdict, passed),), failed)
            places[name] = Domains(gate_environment(known).variables)
        settings |= flat(f"task {task.id}", task, _DECIDED)
        settings |= {f"task {task.id}.{each.name}": [each.status, each.activity] for each in task.machine.places}
        settings |= {
            f"task {task.id}.max_iterations of {each.name}": each.max_iterations for each in task.machine.loops
        }
    return Policy(decisions, settings, Domains({}), places)


def _domains(types: dict[str, Type], machine: Machine) -> Domains:
    names = [loop.name for loop in machine.loops]
    types["iterations_left"] = RecordType("iterations left", dict.fromkeys(names, BOOL))
    types |= {name: RecordType(name, {"iteration": INT}) for name in names}
    counted = ["pair", "review", *names]
    counters: dict[Path, Domain] = {(name, "iteration"): whole(1) for name in counted}
    return Domains(types, counters)


def _step(transition: MachineTransition) -> PolicyStep:
    """A transition, enabled if its guard holds and every loop that it counts has an iteration left."""
    parts = [reading(("iterations_left", loop)) for loop in transition.counts]
    if transition.guard is not None:
        parts.insert(0, _condition(transition.guard))
    effects = [" ".join(filter(None, (each.kind, each.subject))) for each in transition.effects]
    text = f"goes to {transition.target}" + (f" ({', '.join(effects)})" if effects else "")
    key = replace(transition, guard=None)
    return permitting(all_of(parts), PolicyOutcome((key.target, key.counts, key.forgets, key.effects), text))


def _condition(guard: Guard) -> Program:
    joined = (any_of if guard.mode == "any" else all_of)(guard.conditions)
    if guard.loop is None:
        return joined
    nodes = [_renamed(node, guard.loop) for node in joined.nodes]
    return Program(tuple(nodes), joined.source, joined.strict)


def _renamed(node: Node, loop: str) -> Node:
    """Rename `loop` inside a guard to the loop that the guard belongs to."""
    if node.op != "name" or not any(candidate[0] == "loop" for candidate in node.value):
        return node
    return Node("name", (), [[loop, rest] if root == "loop" else [root, rest] for root, rest in node.value], node.at)
