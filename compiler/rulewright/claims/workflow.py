"""The claims about a workflow: five invariants of every task, proved or refuted by a trace, and that every task can be
COMPLETED."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rulewright.check.workflow_check import compile_workflow, lowered
from rulewright.claims.workflow_machine import Explorer, Graph, History, StateEdge, StateNode
from rulewright.claims.workflow_reach import Reach, in_words, reach
from rulewright.documents.workflow import LOOPING
from rulewright.lower.workflow_guards import ADVISORY
from rulewright.lower.workflow_machine import LoweredTask
from rulewright.proving.program_parts import paths_of
from rulewright.proving.results import Property, Proved, Refuted, Result, Unknown
from rulewright.proving.workflow_values import Truths, spoken
from rulewright.workflow import Workflow, load_workflow
from rulewright_runtime.english import plural
from rulewright_runtime.workflow.machine import EVENTS, TERMINAL, Machine, Status
from rulewright_runtime.workflow.workflow_plan import TaskPlan

INVARIANTS: Final = (
    "every loop is bounded",
    "COMPLETED only after every enabled overlay passed",
    "no confidence value reaches COMPLETED without the gate",
    "T2 always passes through human sign-off",
    "nothing stays RUNNING",
)
BOUNDED, PASSED, GATED, SIGNED, SETTLED = INVARIANTS
REACHABLE: Final = "COMPLETED is reachable"
CLAIMS: Final = (*INVARIANTS, REACHABLE)
# What a task has that a claim is about, and what is said of a proved claim about no task.
ABOUT: Final[dict[str, tuple[Callable[[LoweredTask], bool], str]]] = {
    BOUNDED: (lambda shape: bool(shape.loops), "no task has a loop"),
    GATED: (lambda shape: "confidence_loop" in shape.task.overlays, "no task has a confidence loop"),
    SIGNED: (lambda shape: shape.sign_off, "no gate requires a sign-off"),
}
MOST_PATHS: Final = 20  # that are shown
TOO_MUCH: Final = "the task has too many states to explore"
NO_PATH: Final = "no path was found, and none was excluded"


class Fault(Struct, frozen=True):
    """A trace that shows that a claim does not hold."""

    claim: str
    trace: str


def prove_workflow(source: Workflow | Path | str, machines: Mapping[str, Machine] | None = None) -> list[Property]:
    """The claims about the workflow at a path, in the order of `CLAIMS`, over all its tasks.

    `machines` are explored instead of the compiled ones, by the ids of their tasks; the claims stay those of the
    document. Raises `DocumentError` for a workflow that does not compile.
    """
    workflow = source if isinstance(source, Workflow) else load_workflow(source)
    compile_workflow(workflow)
    truths = Truths()
    faults: dict[str, list[tuple[str, str]]] = {claim: [] for claim in CLAIMS}
    open_: list[str] = []
    unreached: list[str] = []
    paths: list[str] = []
    proofs: dict[object, tuple[tuple[Fault, ...] | None, Reach]] = {}  # of tasks that differ in nothing that is proved
    tasks = lowered(workflow).tasks
    for task in tasks:
        made = (
            task.task if machines is None else replace(task.task, machine=machines.get(task.task.id, task.task.machine))
        )
        key = _proved_of(made, task)
        if key not in proofs:
            proofs[key] = faults_of(made, task, truths), reach(made, task, truths)
        found, reached = proofs[key]
        if found is None:
            open_.append(made.id)
        for fault in found or ():
            faults[fault.claim].append((made.id, fault.trace))
        if reached.path is not None:
            paths.append(in_words(made, reached))
        elif reached.why_not:
            faults[REACHABLE].append((made.id, reached.why_not))
        else:
            unreached.append(made.id)
    empty = {claim: [words] for claim, (is_about, words) in ABOUT.items() if not any(map(is_about, tasks))}
    properties = [
        _property(workflow, claim, faults[claim], open_, TOO_MUCH, empty.get(claim, ())) for claim in INVARIANTS
    ]
    return [*properties, _property(workflow, REACHABLE, faults[REACHABLE], unreached, NO_PATH, paths)]


def _proved_of(task: TaskPlan, shape: LoweredTask) -> bytes:
    """What proofs read of a task: everything but its name, its place in the workflow and its inputs."""
    same = replace(task, id="", description="", dependencies=(), inputs=())
    return msgspec.msgpack.encode((same, shape.loops, shape.passed))


def _property(
    workflow: Workflow,
    claim: str,
    faults: list[tuple[str, str]],
    open_: list[str],
    why_open: str,
    remarks: Sequence[str] = (),
) -> Property:
    result: Result
    place = None
    if faults:
        name, trace = faults[0]
        others = len(faults) - 1
        more = f" (and {others} more task{'s' if others > 1 else ''})" if others else ""
        task = workflow.document.task(name)
        place = None if task is None else task.key.span
        result = Refuted(reason=f"task `{name}`: {trace}{more}")
    elif open_:
        result = Unknown(f"task `{open_[0]}`: {why_open}")
    else:
        hidden = [f"and {plural(len(remarks) - MOST_PATHS, 'more task')}"] if len(remarks) > MOST_PATHS else []
        result = Proved(remarks=(*remarks[:MOST_PATHS], *hidden))
    return Property(claim, result, place)


def faults_of(task: TaskPlan, shape: LoweredTask, truths: Truths) -> tuple[Fault, ...] | None:
    """The claims about a task that do not hold, each with a trace; None where its machine is too large to explore."""
    read = {path[0] for path in paths_of(task.gate.verdict) or ()} & ADVISORY if task.gate is not None else set()
    own = (Fault(GATED, f"the gate's verdict reads `{min(read)}`"),) if read else ()
    graph = Explorer(task.machine, shape, truths).explore()
    if graph.complete and not _faults_of(graph, task.machine, shape):
        return own
    counted = Explorer(task.machine, shape, truths, concrete=True).explore()
    shown = _faults_of(counted, task.machine, shape)
    return own + shown if counted.complete or shown else None


def _faults_of(graph: Graph, machine: Machine, shape: LoweredTask) -> tuple[Fault, ...]:
    """The first trace against each claim."""
    found: dict[str, str | None] = {BOUNDED: _endless(graph), SETTLED: _stuck(graph, machine)}
    done = {place.name for place in machine.places if place.status == "COMPLETED"}
    for node in graph.edges:
        for claim, end in _lacks(node.history, shape) if node.place in done else ():
            found.setdefault(claim, _trace(graph, node, end))
    return tuple([Fault(claim, trace) for claim in INVARIANTS if (trace := found.get(claim)) is not None])


def _lacks(history: History, shape: LoweredTask) -> Iterator[tuple[str, str]]:
    """The claims that a completed task with this history breaks, each with what is missing."""
    missing = sorted(({str(loop.name) for loop in shape.loops} & {*LOOPING}) - history.passed)
    missing += ["policy_gate"] if shape.passed is not None and not history.gate else []
    missing += ["hil"] if shape.task.requires_human and shape.hil and not history.released else []
    if missing:
        yield PASSED, f"COMPLETED although `{missing[0]}` has not passed"
    if history.scored and not history.gate:
        yield GATED, "COMPLETED after scoring, although the gate has not said PASS"
    if shape.sign_off and not history.signed:
        yield SIGNED, "COMPLETED without a signature for the T2 gate"


def _stuck(graph: Graph, machine: Machine) -> str | None:
    places = {place.name: place for place in machine.places}
    waiting: dict[str, frozenset[Status]] = {
        "wait": frozenset({"PENDING"}), "human": frozenset({"HIL_PENDING"}), "none": TERMINAL,
    }  # fmt: skip
    for node, edges in graph.edges.items():
        place = places[node.place]
        if place.activity in waiting and place.status not in waiting[place.activity]:
            return _trace(graph, node, f"{place.status} forever: nothing is done at `{place.name}`")
        if (place.status in TERMINAL) != (not EVENTS[place.activity]):
            return _trace(graph, node, f"{place.status}, but `{place.name}` is not the end")
        for edge in edges:
            if edge.transition is None:
                end = f"no transition from `{place.name}` on `{edge.event}`{_world(edge)}"
                return _trace(graph, node, f"{place.status} forever: {end}")
    return None


def _endless(graph: Graph) -> str | None:
    """A circle in which no iteration of any loop is used."""
    ways = {
        node: {e.target for e in edges if e.target is not None and e.transition is not None and not e.transition.counts}
        for node, edges in graph.edges.items()
    }
    try:
        TopologicalSorter(ways).prepare()
    except CycleError as failure:
        circle: list[StateNode] = failure.args[1][::-1]  # each node is followed by one of its targets
        line = " -> ".join(node.place for node in circle)
        return _trace(graph, circle[0], f"a cycle that uses no iteration: {line}")
    return None


def _trace(graph: Graph, node: StateNode, end: str) -> str:
    """The shortest path to a node, in words: `start -ready-> work -worked-> done: ...`."""
    words = "".join(f"{before.place} -{edge.event}{_world(edge)}-> " for before, edge in graph.path_to(node))
    return f"{words}{node.place}: {end}"


def _world(edge: StateEdge) -> str:
    words = spoken(edge.world)
    return f" [{words}]" if words else ""
