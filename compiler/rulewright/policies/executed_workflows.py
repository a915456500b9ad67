"""Where two versions of a task diverge, found by running both: their machines from the start on the same results of
activities, and what they say of the same files of inputs, outputs, evidence and metrics."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, pairwise, product
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rulewright.claims.gate_evidence import GATE, GATE_READS, GateEvidence, evidence_for
from rulewright.claims.workflow_reach import QUIET, folded, programs_of_task, reviews_of, scored
from rulewright.policies.policy_model import difference
from rulewright.proving.program_parts import paths_of
from rulewright.proving.workflow_values import points_of
from rulewright_runtime.errors import StateError
from rulewright_runtime.score import score_of
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow.artifacts import breaches
from rulewright_runtime.workflow.collectors import CollectionError, measure
from rulewright_runtime.workflow.gate import collect
from rulewright_runtime.workflow.machine import (
    EVENTS,
    TERMINAL,
    Event,
    MachineState,
    MachineStep,
    TaskState,
    start,
    status,
    step,
)
from rulewright_runtime.workflow.workflow_plan import Artifact, ProcessMetric, TaskPlan

MOST_STEPS: Final = 20_000
MOST_RESULTS: Final = 200  # of one activity
_NOBODY: Final = frozenset[str]()
Context = JsonMapping
Results = tuple[Context, Context]  # what an activity gives to each of the two machines


class Divergence(NamedTuple):
    """The place and event at which two machines take different steps or two gates give different verdicts, the path
    there, and the context of both at that point."""

    place: str
    event: Event
    steps: tuple[MachineStep, MachineStep] | None
    verdicts: tuple[str, str] | None
    path: str
    known: Results


class _Node(NamedTuple):
    states: tuple[TaskState, TaskState]
    known: Results
    rounds: tuple[int, int]  # of review and pair
    path: tuple[str, ...]


def divergences(tasks: tuple[TaskPlan, TaskPlan], may_be_lost: Mapping[str, frozenset[str]]) -> Iterator[Divergence]:
    """Yield every divergence of two tasks that a bounded search finds, shortest paths first. `may_be_lost` maps a place
    to the results that the engine may drop there."""
    paths = _Paths(tasks, may_be_lost)
    begun = start(tasks[0].machine), start(tasks[1].machine)
    pending, seen = deque([_Node(begun, ({}, {}), (0, 0), ())]), set[str]()
    for _ in range(MOST_STEPS):
        if not pending:
            return
        node = pending.popleft()
        if repr(node[:3]) not in seen:
            seen.add(repr(node[:3]))
            for each in paths.after(node):
                if isinstance(each, Divergence):
                    yield each
                else:
                    pending.append(each)


class _Paths:
    def __init__(self, tasks: tuple[TaskPlan, TaskPlan], may_be_lost: Mapping[str, frozenset[str]]) -> None:
        self.tasks, self.may_be_lost = tasks, may_be_lost
        self.gates = [GateEvidence(task.gate) for task in tasks if task.gate is not None]
        self.judged: dict[str, list[Results]] = {}

    def after(self, node: _Node) -> Iterator[_Node | Divergence]:
        """What may happen next: further nodes where both machines take the same step."""
        here = [task.machine.place(state.place) for task, state in zip(self.tasks, node.states, strict=True)]
        if here[0] != here[1] or status(self.tasks[0].machine, node.states[0]) in TERMINAL:
            return
        place = here[0]
        rounds = node.rounds[0] + (place.activity == "review"), node.rounds[1] + (place.activity == "challenge")
        path = (*node.path, *([] if place.activity in QUIET else [place.name]))
        for event in EVENTS[place.activity]:
            for given in self.results(place, event, node.known):
                known = _counted({**node.known[0], **given[0]}, rounds), _counted({**node.known[1], **given[1]}, rounds)
                one, two = (str(each.get(GATE, {}).get("verdict")) for each in given)
                if one != two:
                    yield Divergence(place.name, event, None, (one, two), _path_in_words(path), known)
                yield from self.stepped(place, event, node.states, _Node(node.states, known, rounds, path))

    def stepped(
        self, place: MachineState, event: Event, states: tuple[TaskState, TaskState], node: _Node
    ) -> Iterator[_Node | Divergence]:
        try:
            one, two = (
                step(task.machine, state, event, known)
                for task, state, known in zip(self.tasks, states, node.known, strict=True)
            )
        except StateError:
            return
        if _effect(one) != _effect(two):
            yield Divergence(place.name, event, (one, two), None, _path_in_words(node.path), node.known)
        if one.state.place == two.state.place:
            known = [
                {name: value for name, value in each.items() if name not in taken.transition.forgets}
                for each, taken in zip(node.known, (one, two), strict=True)
            ]
            yield _Node((one.state, two.state), (known[0], known[1]), node.rounds, node.path)

    def results(self, place: MachineState, event: Event, known: Results) -> Iterator[Results]:
        """What an activity may give to both."""
        kind = place.activity
        if kind == "human":
            hil = {"hil": {"resolved": event == "resolved"}}
            yield hil, hil
        elif event == "failed":
            yield {}, {}
        elif kind == "score":
            yield from islice(self.scores(), MOST_RESULTS)
        elif kind == "review":
            yield from ((each, each) for each in islice(self.reviews(), MOST_RESULTS))
        elif kind == "challenge":
            yield from (({"pair": pair}, {"pair": pair}) for pair in _APPROVED)
        elif kind == "gate":
            yield from self.verdicts(known)
        else:
            yield {}, {}
            lost = dict.fromkeys(self.may_be_lost.get(place.name, _NOBODY) & known[0].keys(), None)
            if lost:
                yield lost, lost

    def scores(self) -> Iterator[Results]:
        """Scores at which the machines may behave differently, one of those between which they can't distinguish."""
        programs = [program for task in self.tasks for program in programs_of_task(task)]
        levels, reads_metrics = (
            points_of(programs),
            any("metrics" in path for p in programs for path in paths_of(p) or ()),
        )
        kinds = dict.fromkeys(m.type for t in self.tasks if t.confidence is not None for m in t.confidence.metrics)
        found: dict[object, Results] = {}
        for levels_of_all in self.levels(kinds, sorted(levels, reverse=True)):
            given = self.scored(levels_of_all)
            scores = [each["confidence_score"] for each in given if "confidence_score" in each]
            sides = tuple([(score > point) - (score < point) for score in scores for point in map(score_of, levels)])
            found.setdefault(repr(given) if reads_metrics or not scores else sides, given)
        yield from found.values()

    def levels(self, kinds: Iterable[str], points: Sequence[float]) -> Iterator[Mapping[str, float]]:
        """Values for all metrics: the same for all, or one metric that moves the confidence to a threshold or between
        two."""
        yield from (dict.fromkeys(kinds, level) for level in points)
        for kind, rest in product(kinds, (1.0, 0.0)):
            others = dict.fromkeys(kinds, rest)
            ends = [self.scored({**others, kind: level}) for level in (0.0, 1.0)]
            pairs = [
                (low.get("confidence_score"), high.get("confidence_score")) for low, high in zip(*ends, strict=True)
            ]
            known = [(float(low), float(high)) for low, high in pairs if low is not None and high is not None]
            turns = {(point - low) / (high - low) for point in points for low, high in known if high > low}
            line = sorted({*points, *(each for each in turns if 0 <= each <= 1)})
            between = [(low + high) / 2 for low, high in pairwise(line)]
            yield from ({**others, kind: level} for level in (*line, *between))

    def scored(self, levels: Mapping[str, float]) -> Results:
        one, two = (scored(task, levels) for task in self.tasks)
        return one, two

    def reviews(self) -> Iterator[Context]:
        for task in self.tasks:
            yield from reviews_of(task, [program for each in self.tasks for program in programs_of_task(each)])

    def verdicts(self, known: Results) -> list[Results]:
        """A verdict of both gates for each pair of verdicts, with evidence for it."""
        seen = [{name: each[name] for name in GATE_READS if name in each} for each in known]
        key = repr(seen)
        if key not in self.judged:
            found: dict[tuple[str, str], Results] = {}
            for evidence in evidence_for(*self.gates) if len(self.gates) == len(self.tasks) else ():
                one, two = (gate.results(*evidence, each) for gate, each in zip(self.gates, seen, strict=True))
                found.setdefault((one[GATE]["verdict"], two[GATE]["verdict"]), (one, two))
            self.judged[key] = list(found.values())
        return self.judged[key]


_APPROVED: Final = ({"challenger_approved": True}, {"challenger_approved": False})


def _counted(known: Context, rounds: tuple[int, int]) -> Context:
    counted = {name: value for name, value in known.items() if value is not None}
    for name, number in zip(("review", "pair"), rounds, strict=True):
        if name in counted:
            counted[name] = {**counted[name], "iteration": number}
    return counted


def _effect(taken: MachineStep) -> tuple[object, ...]:
    each = taken.transition
    return each.target, each.counts, each.forgets, each.effects


def _path_in_words(path: Sequence[str]) -> str:
    return ", ".join(folded(tuple(path))) or "the start"


MOST_FOLDERS: Final = 200
_REQUIREMENT: Final = "REQ-1"
_LIST: Final = f"- {_REQUIREMENT}"
_JUNIT: Final = '<testsuite tests="1" failures="0"><testcase name="so"/></testsuite>'
_SARIF: Final = json.dumps(
    {"version": "2.1.0", "runs": [{"artifacts": [{"location": {"uri": "so.py"}}], "results": []}]}
)
_COVERAGE: Final = json.dumps({"totals": {"covered_lines": 1, "num_statements": 1}})
_CHECKLIST: Final = "- [x] so\n"
_GOOD: Final = {  # by kinds of evidence and by metrics
    "acceptance": _JUNIT, "lint": _SARIF, "security": _SARIF, "lint_score": _SARIF, "security_score": _SARIF,
    "readiness": _CHECKLIST, "checklist_completion": _CHECKLIST, "test_coverage": _COVERAGE,
    "requirements": _LIST, "implemented": _REQUIREMENT, "requirement_coverage": _REQUIREMENT,
}  # fmt: skip
Files = Mapping[str, str]


def differing_files(name: str, tasks: Sequence[TaskPlan]) -> Iterator[JsonObject]:
    """Yield a difference for each result that two tasks give on the same files, with the files that both have read."""
    if len({repr(_reads(task)) for task in tasks}) == 1:
        return
    found: dict[tuple[str, str, str], JsonObject] = {}
    for files in islice(_variants(_good_files(tasks)), MOST_FOLDERS):
        with TemporaryDirectory() as folder, suppress(OSError, ValueError):  # of a name that no file can have here
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text, encoding="utf-8")
            one, two = (dict(_results_on(task, Path(folder))) for task in tasks)
            for place in (each for each in one if each in two and one[each] != two[each]):
                about = f"task {name}.{place}", one[place], two[place]
                found.setdefault(about, difference(*about, ["the files below exist"], dict(files)))
    yield from found.values()


def _reads(task: TaskPlan) -> object:
    """What a task reads from files."""
    gate, metrics = task.gate, () if task.confidence is None else task.confidence.metrics
    evidence = gate and (gate.sources, gate.required, gate.looked_at, gate.coverage_threshold)
    return task.inputs, task.outputs, evidence, [(each.type, each.sources, each.requirements) for each in metrics]


def _good_files(tasks: Sequence[TaskPlan]) -> dict[str, str]:
    """Files that both tasks accept in full; for a folder, a file in it."""
    found: dict[str, str] = {}
    for task in tasks:
        for path, text in (*_sources(task), *map(_good_artifact, (*task.inputs, *task.outputs))):
            file = PurePosixPath(path if PurePosixPath(path).suffix else f"{path}/so.txt")
            if not file.is_absolute() and ".." not in file.parts:
                found.setdefault(str(file), text)
    return found


def _sources(task: TaskPlan) -> Iterator[tuple[str, str]]:
    """The files of evidence and metrics, with what is good in each."""
    for kind, paths in ({} if task.gate is None else task.gate.sources).items():
        yield from ((path, _GOOD[kind]) for path in paths)
    for metric in () if task.confidence is None else task.confidence.metrics:
        yield from ((path, _LIST) for path in metric.requirements)
        yield from ((path, _GOOD.get(metric.type, "")) for path in metric.sources)


def _good_artifact(artifact: Artifact) -> tuple[str, str]:
    """The path and text of an artifact that meets its contract."""
    contract = artifact.contract
    if contract is None:
        return artifact.path, _REQUIREMENT
    if artifact.path.endswith(".json"):
        return artifact.path, json.dumps(dict.fromkeys(contract.required_fields, "so"))
    lines = [f"{name}: so\n" for name in contract.required_fields]
    return artifact.path, "".join((*lines, *(f"# {each}\n" for each in contract.required_sections)))


def _variants(whole: Files) -> Iterator[Files]:
    """The files, then variants: without one file, without one line, and with only one of several equal files."""
    yield whole
    for path, text in whole.items():
        yield {name: each for name, each in whole.items() if name != path}
        for line in text.splitlines(keepends=True):
            yield {**whole, path: text.replace(line, "", 1)}
        yield {name: each for name, each in whole.items() if name == path or each != text}


def _results_on(task: TaskPlan, root: Path) -> Iterator[tuple[str, str]]:
    """What a task makes of the files in a folder: pairs of a place and a result."""
    yield "inputs", "does not start" if any(breaches(task.inputs, root)) else "starts"
    yield "outputs", "refuses the outputs" if any(breaches(task.outputs, root)) else "accepts the outputs"
    if task.gate is not None:
        checks, _ = collect(task, task.gate, root)
        yield from ((f"policy_gate.{name}", check.status) for name, check in checks.items())
    metrics = () if task.confidence is None else task.confidence.metrics
    yield from ((f"metric {each.type}", _measured(task, each, root)) for each in metrics if each.type != "llm_judge")


def _measured(task: TaskPlan, metric: ProcessMetric, root: Path) -> str:
    outputs = [each.path for each in task.outputs]
    try:
        found = measure(metric.type, root, metric.sources, requirements=metric.requirements, outputs=outputs)
    except CollectionError:
        return "0"
    return str(found.exact)
