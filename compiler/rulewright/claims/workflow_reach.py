"""Whether a task can be COMPLETED at all: its best confidence, and the shortest path to COMPLETED.

A path is found by running the machine itself along it. That there is none follows from the explored machine, which
allows more than can happen: a task for which neither is shown is unknown.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from rulewright.claims.gate_evidence import GATE, GateEvidence, has_source, may_pass
from rulewright.claims.workflow_machine import Explorer
from rulewright.documents.workflow import evidence_phrase
from rulewright.lower.workflow_machine import LoweredTask
from rulewright.proving.program_parts import paths_of, value_of
from rulewright.proving.workflow_values import Truths, World, points_of, texts_of
from rulewright_runtime.errors import StateError
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, leave, score_of
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow.confidence import ZERO, EvalMetric, exact_confidence
from rulewright_runtime.workflow.machine import EVENTS, TERMINAL, Activity, MachineStep, activity, start, status, step
from rulewright_runtime.workflow.workflow_plan import TaskPlan

MOST_STEPS: Final = 2_000
MOST_CONTEXTS: Final = 4_096
_CHECKS: Final = ("review", "quality_checks")
_RESULTS: Final = (True, False, None)  # of a quality check; None where the reviewer leaves it out
QUIET: Final = frozenset({"decide"})  # activities that a path leaves out
# The names that an activity gives a value; before it, they are absent.
GIVEN_BY: Final[Mapping[Activity, frozenset[str]]] = {
    "score": frozenset({"metrics", "confidence_score"}),
    "challenge": frozenset({"pair"}),
    "review": frozenset({"review"}),
    "gate": frozenset({GATE}),
    "human": frozenset({"hil"}),
}


class TaskPath(Struct, frozen=True):
    """A path to COMPLETED: the places where an activity runs, and how many of them ask a person."""

    places: tuple[str, ...]
    people: int


class Reach(Struct, frozen=True):
    """What is known of a task: the shortest path to COMPLETED, or why there is none, or neither."""

    path: TaskPath | None
    best: Score | None  # the best confidence that can be attained; None without a single number
    why_not: str = ""


def reach(task: TaskPlan, shape: LoweredTask, truths: Truths) -> Reach:
    """Whether the task can be COMPLETED."""
    best = _scored_alike(task, 1.0).get("confidence_score")
    passes = task.gate is None or may_pass(task, task.gate)
    contexts = contexts_of(task) if passes else ()
    gate = None if task.gate is None else GateEvidence(task.gate)  # one for all paths: it remembers its answers
    path: TaskPath | None = None
    for context in contexts:
        path = _path(task, context, gate, path) or path
    if path is not None:
        return Reach(path, best)
    explored = Explorer(task.machine, shape, truths, possible=_Possible(task, best, passes)).explore()
    done = {place.name for place in task.machine.places if place.status == "COMPLETED"}
    if not explored.complete or any(node.place in done for node in explored.edges):
        return Reach(None, best)
    return Reach(None, best, _why_not(task, best, passes))


def _why_not(task: TaskPlan, best: Score | None, passes: bool) -> str:
    gate, confidence = task.gate, task.confidence
    if gate is not None and not passes:
        missing = [name for name in gate.required if not has_source(gate, name)]
        why = f"`evidence` names no file for {evidence_phrase(missing)}" if missing else "its conditions can't hold"
        return f"the {gate.risk_tier} gate never says PASS: {why}"
    threshold = None if confidence is None else confidence.threshold
    if confidence is not None and threshold and confidence.mode == "raw":
        nothing = next((metric.type for metric in confidence.metrics if not metric.is_measurable(task.outputs)), None)
        if nothing is not None:
            return f"the metric `{nothing}` is always 0, below the threshold {threshold:g}"
    if best is not None and threshold is not None and best < score_of(threshold):
        return f"confidence is at most {leave(best):g}, below the threshold {threshold:g}"
    return "one of its loops can't be left"


class _Possible(Struct, frozen=True):
    """Which contexts of the explored machine can occur."""

    task: TaskPlan
    best: Score | None
    passes: bool

    def __call__(self, world: World) -> bool:
        if world.get("loop", {}).get("iteration", 0) > max(
            (e.max_iterations for e in self.task.machine.loops), default=0
        ):
            return False
        score = world.get("confidence_score")
        if score is not None and self.best is not None and score_of(score) > self.best:
            return False
        if not self.passes and world.get("policy_gate", {}).get("verdict") == "PASS":
            return False
        known = {} if self.task.confidence is None else {m.type: m for m in self.task.confidence.metrics}
        hopeless = {kind for kind, metric in known.items() if not metric.is_measurable(self.task.outputs)}
        values = world.get("metrics", {})
        if any(values.get(kind, 0) for kind in hopeless):
            return False
        # Contexts of the mode `raw` name metrics of their own; one of them stands for the hopeless one.
        return not (hopeless and values and not set(values) & known.keys() and min(values.values()) > 0)


def contexts_of(task: TaskPlan) -> Iterator[JsonMapping]:
    """Contexts in which the task may be completed, the best first."""
    programs = list(programs_of_task(task))
    levels = reversed(points_of(programs)) if task.confidence is not None else [0.0]
    axes: list[list[JsonMapping]] = [[_scored_alike(task, level) for level in levels]]
    if task.review is not None:
        axes.append(list(reviews_of(task, programs)))
    if task.pair is not None:
        axes.append([{"pair": {"challenger_approved": approved}} for approved in (True, False)])
    gate = None if task.gate is None else GateEvidence(task.gate)
    for chosen in itertools.islice(itertools.product(*axes), MOST_CONTEXTS):
        context: JsonObject = {"hil": {"resolved": True}}
        for part in chosen:
            context |= part
        yield {**context, **({} if gate is None else gate.best(context))}


def reviews_of(task: TaskPlan, programs: Sequence[Program]) -> Iterator[JsonMapping]:
    """What a reviewer may say that the programs distinguish; nothing for a task without one."""
    texts = ["", *sorted({text for program in programs for text in texts_of(program)})]
    for decision, quality, text in itertools.product(("GO", "NO_GO"), _quality_checks(programs), texts):
        if task.review is not None:
            yield {"review": {"decision": decision, "feedback": text, "quality_checks": quality}}


def _quality_checks(programs: Sequence[Program]) -> list[dict[str, bool]]:
    """Quality checks with the same result, good ones first, and those of which one has another result."""
    paths = [path for program in programs for path in paths_of(program) or () if path[:2] == _CHECKS]
    sought = {text for program in programs for text in _sought(program)} if _CHECKS in paths else ()
    further = ("a check", "another check") if _CHECKS in paths else ()
    named = list(dict.fromkeys((*(path[2] for path in paths if path[2:]), *sorted(sought), *further)))
    alike = [dict.fromkeys(named, result) for result in _RESULTS]
    differing = [{**each, name: result} for name in named for each in alike for result in _RESULTS]
    every = (*alike, *differing)
    given = [{name: bool(result) for name, result in each.items() if result is not None} for each in every]
    return list({repr(each): each for each in given}.values())


def _sought(program: Program) -> Iterator[str]:
    """The texts that a program looks for in a list or a map."""
    calls = (node for node in program.nodes if node.op == "call" and node.value == "@in")
    values = (value_of(program, node.args[0]) for node in calls)
    return (value for value in values if isinstance(value, str))


def scored(task: TaskPlan, levels: Mapping[str, float]) -> JsonObject:
    """What scoring gives where the metrics that can be measured have these levels."""
    if task.confidence is None:
        return {}
    metrics = [
        EvalMetric(m.type, levels[m.type] * m.is_measurable(task.outputs), m.weight) for m in task.confidence.metrics
    ]
    found: JsonObject = {"metrics": {each.type: float(each.value) for each in metrics}} if metrics else {}
    mean = exact_confidence(metrics) if any(each.weight for each in metrics) else ZERO
    return {**found, **({"confidence_score": mean} if task.confidence.mode == "composite" else {})}


def _scored_alike(task: TaskPlan, level: float) -> JsonObject:
    metrics = () if task.confidence is None else task.confidence.metrics
    return scored(task, dict.fromkeys((metric.type for metric in metrics), level))


def programs_of_task(task: TaskPlan) -> Iterator[Program]:
    """The conditions of the machine and of the gate."""
    for each in task.machine.transitions:
        if each.guard is not None:
            yield from each.guard.conditions
    if task.gate is not None:
        yield task.gate.verdict


def _path(
    task: TaskPlan, context: Mapping[str, Any], gate: GateEvidence | None, known: TaskPath | None
) -> TaskPath | None:
    """The path of the machine where every context is this one and people always agree; None without COMPLETED, or
    where it is not shorter than the known one."""
    places: list[str] = []
    people = 0
    for place, doing, reached in walk(task, context, gate):
        if doing not in QUIET:
            places.append(place)
        people += doing == "human"
        if known is not None and (people, len(places) + 1) >= (known.people, len(known.places)):
            return None
        if reached.after == "COMPLETED":
            return TaskPath((*places, reached.state.place), people)
    return None


def walk(
    task: TaskPlan, context: Mapping[str, Any], gate: GateEvidence | None
) -> Iterator[tuple[str, Activity, MachineStep]]:
    """The steps of the machine where every context is this one and people always agree, with the evidence of its gate:
    the place, what is done there, and the step."""
    machine, state = task.machine, start(task.machine)
    counts = {"review": 0, "pair": 0}
    given: frozenset[str] = frozenset()
    for _ in range(MOST_STEPS):
        doing = activity(machine, state)
        if status(machine, state) in TERMINAL:
            return
        counts["review"] += doing == "review"
        counts["pair"] += doing == "challenge"
        given |= GIVEN_BY.get(doing, frozenset())
        counted = {name: value for name, value in context.items() if name in given}
        counted |= {name: {**counted[name], "iteration": counts[name]} for name in counts if name in counted}
        if gate is not None and GATE in given:
            counted |= gate.best(counted)
        try:
            reached = step(machine, state, EVENTS[doing][0], counted)
        except StateError:
            return
        yield state.place, doing, reached
        given -= frozenset(reached.transition.forgets)
        state = reached.state


def in_words(task: TaskPlan, found: Reach) -> str:
    """The best confidence and the path: `build`: confidence at most 1 (threshold 0.8); start, work, score, done."""
    assert found.path is not None
    parts = []
    if found.best is not None and task.confidence is not None:
        threshold = task.confidence.threshold
        asked = "" if threshold is None else f" (threshold {threshold:g})"
        parts.append(f"confidence at most {leave(found.best):g}{asked}")
    asked = f"with {found.path.people} decision{'s' * (found.path.people > 1)} of a person" if found.path.people else ""
    parts.append(" ".join(part for part in (", ".join(folded(found.path.places)), asked) if part))
    return f"`{task.id}`: {'; '.join(parts)}"


def folded(places: tuple[str, ...]) -> Iterator[str]:
    """The places, with what is repeated at once said once: `start, 3 times (work, score), done`."""
    at = 0
    while at < len(places):
        for length in range(1, (len(places) - at) // 2 + 1):
            block, times = places[at : at + length], 1
            while places[at + times * length : at + (times + 1) * length] == block:
                times += 1
            if times > 1:
                yield f"{times} times ({', '.join(block)})"
                at += times * length
                break
        else:
            yield places[at]
            at += 1
