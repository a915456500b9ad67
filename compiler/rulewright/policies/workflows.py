"""A workflow as a policy: the transitions of each task's state machine, and the requirements of its gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from rulewright.check.workflow_check import lowered
from rulewright.claims.workflow_reach import GIVEN_BY, QUIET, contexts_of, folded, walk
from rulewright.expression.compose import all_of, any_of
from rulewright.expression.types import BOOL, INT, RecordType, Type
from rulewright.lower.workflow_guards import features_of, gate_environment, loop_environment
from rulewright.policies.policy_model import Policy, PolicyDecision, PolicyOutcome, PolicyStep, flat, permitting
from rulewright.proving.domains import Domain, Domains, Path, whole
from rulewright.proving.program_parts import extract, paths_of, reading, unabridged
from rulewright.proving.results import in_words
from rulewright.proving.workflow_values import World
from rulewright.workflow import Workflow
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.score import score_of
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.values import Value
from rulewright_runtime.workflow.machine import ENDS, Guard, Machine, MachineTransition
from rulewright_runtime.workflow.workflow_plan import Gate, TaskPlan

_STAYS: Final = PolicyOutcome("stays", "has no transition")
_FROM_ACTIVITIES: Final = frozenset[str]().union(*GIVEN_BY.values())
# What the engine drops where the outputs were changed since a partner saw them, or where people restore a pair's roles.
_MAY_BE_LOST: Final = {
    "decide:agentic_review": frozenset({"review"}), "decide:paired_workflow": frozenset({"pair"}),
}  # fmt: skip
_LOST_BY_PEOPLE: Final = frozenset({"pair"})
_COVERED: Final = "evidence.requirement_coverage == 'PASS'"
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
        present = _present(task.machine)
        leaving: dict[tuple[str, str], list[MachineTransition]] = {}
        for each in task.machine.transitions:
            leaving.setdefault((each.source, each.event), []).append(each)
        for (source, event), transitions in leaving.items():
            name = f"task {task.id}, {event} at {source}"
            decisions[name] = PolicyDecision(name, tuple(map(_step, transitions)), _STAYS)
            places[name] = replace(domains, missing=_missing(present, event, source))
        if task.gate is not None:
            name = f"task {task.id}, policy_gate"
            passed, failed = PolicyOutcome("PASS", "PASS"), PolicyOutcome("FAIL", "FAIL")
            decisions[name] = PolicyDecision(name, (permitting(_by_coverage(task.gate), passed),), failed)
            missing = _missing(present, "gated") | {"coverage"}
            places[name] = Domains(gate_environment(known).variables, missing=missing)
        settings |= flat(f"task {task.id}", task, _DECIDED)
        settings |= {f"task {task.id}.{each.name}": [each.status, each.activity] for each in task.machine.places}
        settings |= {
            f"task {task.id}.max_iterations of {each.name}": each.max_iterations for each in task.machine.loops
        }
    return Policy(decisions, settings, Domains({}), places)


def rounds_apart(pair: Sequence[Workflow]) -> Iterator[JsonObject]:
    """A region for each task whose loops have other limits: rounds after which the two go on differently."""
    one, two = ({each.task.id: each.task for each in lowered(workflow).tasks} for workflow in pair)
    for name in (each for each in one if each in two and one[each].machine.loops != two[each].machine.loops):
        tasks = one[name], two[name]
        found = (_parting(tasks, context) for task in tasks for context in contexts_of(task))
        yield from islice(filter(None, found), 1)


def _parting(tasks: tuple[TaskPlan, TaskPlan], context: World) -> JsonObject | None:
    """Where two tasks go on differently if every round is as the context says."""
    places: list[str] = []
    for (place, doing, before), (_, _, after) in zip(*(walk(task, context) for task in tasks), strict=False):
        if before.state.place == after.state.place:
            places += [place] if doing not in QUIET else []
            continue
        said = [_outcome(each.transition).text for each in (before, after)]
        seen = {".".join(path): in_words(value) for path, value in _leaves(context)}
        return {
            "place": f"task {tasks[0].id}, {ENDS[doing]} at {place}", "before": said[0], "after": said[1],
            "where": [f"the task has gone through {', '.join(folded(tuple(places)))}"], "witness": seen,
        }  # fmt: skip
    return None


def _missing(present: Mapping[tuple[str, str], frozenset[str]], event: str, place: str | None = None) -> frozenset[str]:
    """The names that may have no value when a place, or any, is left on an event."""
    there = [names for (source, end), names in present.items() if end == event and place in (None, source)]
    return _FROM_ACTIVITIES - frozenset(_FROM_ACTIVITIES).intersection(*there)


def _present(machine: Machine) -> dict[tuple[str, str], frozenset[str]]:
    """The names that certainly have a value when a place is left on an event."""
    activities = {each.name: each.activity for each in machine.places}
    present: dict[tuple[str, str], frozenset[str]] = {}
    reached, pending = {machine.places[0].name: frozenset[str]()}, [machine.places[0].name]
    while pending:
        place = pending.pop()
        for each in (each for each in machine.transitions if each.source == place):
            lost = _MAY_BE_LOST.get(place, frozenset()) | (_LOST_BY_PEOPLE if each.event == "resolved" else frozenset())
            given = GIVEN_BY.get(activities[place], frozenset()) if each.event != "failed" else frozenset()
            there = present[place, each.event] = (reached[place] | given) - lost
            after = there - frozenset(each.forgets)
            before = reached.get(each.target)
            reached[each.target] = after if before is None else before & after
            if before != reached[each.target]:
                pending.append(each.target)
    return present


def _leaves(context: World, above: Path = ()) -> Iterator[tuple[Path, Value]]:
    for name, value in context.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _by_coverage(gate: Gate) -> Program:
    """The verdict of a gate, with a comparison of `coverage` in the place of its check's status. A missing coverage
    makes it undecided instead of false, which is the same where nothing is negated."""
    if gate.coverage_threshold is None or "requirement_coverage" not in gate.required:
        return gate.verdict
    found = _with_coverage(gate.verdict, gate.coverage_threshold)
    return gate.verdict if any("requirement_coverage" in path for path in paths_of(found) or ()) else found


def _with_coverage(program: Program, limit: float) -> Program:
    last = program.nodes[-1]
    if last.op in ("and", "or"):
        parts = [_with_coverage(extract(program, arg), limit) for arg in last.args]
        return (all_of if last.op == "and" else any_of)(parts)
    if unabridged(program) != _COVERED:
        return program
    nodes = (*reading(("coverage",)).nodes, Node("const", (), literal(score_of(limit))), Node("call", (0, 1), "_>=_"))
    return program.having(nodes)


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
    return permitting(all_of(parts), _outcome(transition))


def _outcome(transition: MachineTransition) -> PolicyOutcome:
    effects = [" ".join(filter(None, (each.kind, each.subject))) for each in transition.effects]
    text = f"goes to {transition.target}" + (f" ({', '.join(effects)})" if effects else "")
    return PolicyOutcome((transition.target, transition.counts, transition.forgets, transition.effects), text)


def _condition(guard: Guard) -> Program:
    joined = (any_of if guard.mode == "any" else all_of)(guard.conditions)
    if guard.loop is None:
        return joined
    nodes = [_renamed(node, guard.loop) for node in joined.nodes]
    return joined.having(nodes)


def _renamed(node: Node, loop: str) -> Node:
    """Rename `loop` inside a guard to the loop that the guard belongs to."""
    if node.op != "name" or not any(candidate[0] == "loop" for candidate in node.value):
        return node
    return Node("name", (), [[loop, rest] if root == "loop" else [root, rest] for root, rest in node.value], node.at)
