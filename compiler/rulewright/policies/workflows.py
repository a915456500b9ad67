"""A workflow as a policy: the transitions of each task's state machine, and the requirements of its gate."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright.check.workflow_check import lowered
from rulewright.claims.gate_evidence import by_coverage
from rulewright.claims.workflow_reach import GIVEN_BY
from rulewright.expression.compose import all_of, any_of
from rulewright.expression.types import BOOL, INT, RecordType, Type
from rulewright.lower.workflow_guards import features_of, gate_environment, loop_environment
from rulewright.policies.executed_workflows import Divergence, differing_files, divergences
from rulewright.policies.policy_model import (
    Policy,
    PolicyDecision,
    PolicyOutcome,
    PolicyStep,
    difference,
    flat,
    permitting,
)
from rulewright.proving.domains import Domain, Domains, Path, whole
from rulewright.proving.program_parts import paths_of, reading, with_paths
from rulewright.proving.results import in_words
from rulewright.proving.workflow_values import World
from rulewright.workflow import Workflow
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, leave
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.machine import Guard, Machine, MachineTransition
from rulewright_runtime.workflow.workflow_plan import TaskPlan

_STAYS: Final = PolicyOutcome("stays", "has no transition")
_FROM_ACTIVITIES: Final = frozenset[str]().union(*GIVEN_BY.values())
# What the engine drops where the outputs were changed since a partner saw them, or where people restore a pair's roles.
_MAY_BE_LOST: Final = {
    "decide:agentic_review": frozenset({"review"}), "decide:paired_workflow": frozenset({"pair"}),
}  # fmt: skip
_LOST_BY_PEOPLE: Final = frozenset({"pair"})
_GONE: Final = "the task has gone through "
_NO_PATH: Final = "no path from the start of the task was found that leads to such an input"
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
            decisions[name] = PolicyDecision(name, (permitting(by_coverage(task.gate), passed),), failed)
            missing = _missing(present, "gated") | {"coverage"}
            places[name] = Domains(gate_environment(known).variables, missing=missing)
        settings |= flat(f"task {task.id}", task, _DECIDED)
        settings |= {f"task {task.id}.{each.name}": [each.status, each.activity] for each in task.machine.places}
        settings |= {
            f"task {task.id}.max_iterations of {each.name}": each.max_iterations for each in task.machine.loops
        }
    return Policy(decisions, settings, Domains({}), places)


def executed(regions: Sequence[JsonObject], pair: Sequence[Workflow]) -> list[JsonObject]:
    """The regions with inputs on a path from the start that both machines were run on, in the place of those that only
    meet the conditions; and a region for each further way in which two tasks diverge."""
    one, two = ({each.task.id: each.task for each in lowered(workflow).tasks} for workflow in pair)
    found: dict[tuple[str, str, str], JsonObject] = {}
    for name in (each for each in one if each in two and one[each] != two[each]):
        for each in divergences((one[name], two[name]), _MAY_BE_LOST):
            region = _diverging(name, each)
            found.setdefault((region["place"], region["before"], region["after"]), region)
    shown = [_with_path(each, found.pop((each["place"], each["before"], each["after"]), None)) for each in regions]
    with_witness = {each["place"] for each in shown if each["witness"]}
    shown += [each for each in found.values() if each["place"] not in with_witness]
    for name in (each for each in one if each in two and one[each] != two[each]):
        shown += [*_started(one[name], two[name]), *differing_files(name, (one[name], two[name]))]
    return shown


def _started(one: TaskPlan, two: TaskPlan) -> Iterator[JsonObject]:
    """A region for each task that only one of two tasks waits for."""
    names = {*one.dependencies, *two.dependencies}
    for name in (each for each in sorted(names) if (each in one.dependencies) != (each in two.dependencies)):
        before, after = (f"waits for {name}" if name in each.dependencies else "starts" for each in (one, two))
        witness = {f"status of {each}": "RUNNING" if each == name else "COMPLETED" for each in sorted(names)}
        yield difference(f"task {one.id}.dependencies", before, after, [f"{name} runs"], witness)


def _with_path(region: JsonObject, found: JsonObject | None) -> JsonObject:
    """A region with an input that was found; a place without a path belongs to no task."""
    if found is None:
        return {**region, "witness": None, "why": _NO_PATH}
    (path,) = found["where"]
    return {**region, "witness": {**found["witness"], "path": path.removeprefix(_GONE)}, "why": ""}


def _diverging(task: str, found: Divergence) -> JsonObject:
    place, event, steps, verdicts, path, known = found
    at = "policy_gate" if steps is None else f"{event} at {place}"
    before, after = verdicts or [_outcome(each.transition).text for each in steps or ()]
    return difference(f"task {task}, {at}", before, after, [f"{_GONE}{path}"], _seen(known))


def _seen(known: tuple[World, World]) -> dict[str, str]:
    """What is known to both, and what differs in the second."""
    one, two = (
        {name[1:]: in_words(leave(v) if isinstance(v, Score) else v) for name, v in flat("", each).items()}
        for each in known
    )
    pairs = {name: (one.get(name, "absent"), two.get(name, "absent")) for name in {**one, **two}}
    return {name: each[0] if each[0] == each[1] else " and ".join(each) for name, each in pairs.items()}


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
    """The condition of a guard; `loop` is the loop that it belongs to."""
    joined = (any_of if guard.mode == "any" else all_of)(guard.conditions)
    own = [path for path in paths_of(joined) or () if path[0] == "loop" and guard.loop is not None]
    return with_paths(joined, {path: reading((str(guard.loop), *path[1:])) for path in own})
