"""The task's finite state machine: places and transitions as data, and the pure function that takes one step.

The compiler builds one machine for each task. Each place has one of the six statuses; an overlay adds a place and a few
transitions. The transitions of a place and an event are tried in written order, and the first open one is taken. Guards
are expressions of permitting polarity: an undecidable guard is not met.

    PENDING -> RUNNING -> COMPLETED                 HIL_PENDING -> RUNNING or FAILED
            -> HIL_PENDING   -> HIL_PENDING         NEEDS_REWORK -> RUNNING, HIL_PENDING or FAILED
                             -> NEEDS_REWORK
                             -> FAILED              COMPLETED, FAILED: terminal
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from rulewright_runtime.errors import StateError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.strict_json import JsonMapping

Status = Literal["PENDING", "RUNNING", "NEEDS_REWORK", "HIL_PENDING", "COMPLETED", "FAILED"]
TERMINAL: Final[frozenset[Status]] = frozenset({"COMPLETED", "FAILED"})

# The statuses that may follow each status; a task may stay RUNNING from place to place.
FOLLOWS: Final[Mapping[Status, frozenset[Status]]] = {
    "PENDING": frozenset({"RUNNING", "HIL_PENDING"}),
    "RUNNING": frozenset({"RUNNING", "NEEDS_REWORK", "HIL_PENDING", "COMPLETED", "FAILED"}),
    "NEEDS_REWORK": frozenset({"RUNNING", "HIL_PENDING", "FAILED"}),
    "HIL_PENDING": frozenset({"RUNNING", "FAILED"}),
    "COMPLETED": frozenset(),
    "FAILED": frozenset(),
}

# What the engine does at a place. `decide` only takes the next step, `none` is the end.
Activity = Literal["wait", "agent", "score", "challenge", "review", "gate", "human", "decide", "none"]

# Events that the engine sends to the machine. `failed`: the activity can't be carried out (retries used up, outputs
# that break their contract). `escalated`: a person has to look at a pair's session first. `decide`: the event of a
# place with the activity `decide`.
Event = Literal[
    "ready",
    "worked",
    "scored",
    "challenged",
    "reviewed",
    "gated",
    "resolved",
    "rejected",
    "failed",
    "escalated",
    "decide",
]

# The events that can happen during each activity; the first is its usual end.
EVENTS: Final[Mapping[Activity, tuple[Event, ...]]] = {
    "wait": ("ready",),
    "agent": ("worked", "failed"),
    "score": ("scored", "failed"),
    "challenge": ("challenged", "failed", "escalated"),
    "review": ("reviewed", "failed"),
    "gate": ("gated", "failed"),
    "human": ("resolved", "rejected"),
    "decide": ("decide",),
    "none": (),
}

LoopName = Literal["loop", "agentic_review", "paired_workflow", "confidence_loop"]
Bound = Annotated[int, Meta(ge=1, le=1_000_000)]


class Guard(PlanPart, frozen=True, dict=True):  # with a dict, it keeps what it has prepared
    """A condition of a transition: any or all of some expressions. They see the iteration of `loop` as
    `loop.iteration`. Without expressions `all` holds and `any` does not."""

    conditions: tuple[Program, ...]
    mode: Literal["any", "all"] = "all"
    loop: LoopName | None = None

    @cached_property
    def prepared(self) -> tuple[Callable[[JsonMapping], Decision], ...]:
        return tuple(condition(program, Polarity.PERMITTING) for program in self.conditions)


class StateEffect(PlanPart, frozen=True):
    """A side effect of a step.

    kind       subject                                      words
    advise     -                                            the advisory signal
    pass       an overlay whose work counts as passed       -
    exceeded   the loop that has no iteration left          `max_iterations_exceeded`
    ask        the trigger of a human queue item            why a person is asked
    lock       -                                            the reviewed outputs are locked
    swap       -                                            driver and challenger change roles
    fail       -                                            why the task failed (the event may say more)
    """

    kind: Literal["advise", "pass", "exceeded", "ask", "lock", "swap", "fail"]
    subject: str = ""
    words: str = ""


class MachineState(PlanPart, frozen=True):
    """A place of the machine: its status and activity."""

    name: str
    status: Status
    activity: Activity


class MachineTransition(PlanPart, frozen=True):
    """A transition from `source` to `target` on `event`. It is open when the guard holds and every loop in `counts` has
    an iteration left. Taking it uses one iteration of each of these loops, and drops the results under the roots in
    `forgets` from the context."""

    source: str
    event: Event
    target: str
    guard: Guard | None = None
    counts: tuple[LoopName, ...] = ()
    forgets: tuple[str, ...] = ()
    effects: tuple[StateEffect, ...] = ()


class MachineLoop(PlanPart, frozen=True):
    """A loop of the task and its maximum number of iterations in total; the count is never reset."""

    name: LoopName
    max_iterations: Bound


class Machine(PlanPart, frozen=True, dict=True):
    """The state machine of one task. `loops` are listed from the outermost; the first place is the start."""

    places: tuple[MachineState, ...]
    transitions: tuple[MachineTransition, ...]
    loops: tuple[MachineLoop, ...] = ()

    def place(self, name: str) -> MachineState:
        """Return the place `name`. Raises StateError when the machine has none."""
        if name not in self._by_name:
            raise StateError(f"the machine has no state `{name}`")
        return self._by_name[name]

    def transitions_on(self, place: str, event: Event) -> Sequence[MachineTransition]:
        """Return the transitions of a place on an event, in the order they are tried."""
        return self._by_event.get((place, event), ())

    @cached_property
    def _by_name(self) -> Mapping[str, MachineState]:
        return {place.name: place for place in self.places}

    @cached_property
    def _by_event(self) -> Mapping[tuple[str, Event], Sequence[MachineTransition]]:
        found = defaultdict[tuple[str, Event], list[MachineTransition]](list)
        for each in self.transitions:
            found[each.source, each.event].append(each)
        return found


class TaskState(PlanPart, frozen=True):
    """The place of a task, and the iterations used of each loop, in the order of the machine's loops."""

    place: str
    used: tuple[int, ...] = ()


class MachineStep(Struct, frozen=True):
    """A step of the machine. `undecided` holds the reason for each expression that could not be decided."""

    state: TaskState
    before: Status
    after: Status
    transition: MachineTransition
    undecided: tuple[str, ...] = ()

    @property
    def effects(self) -> tuple[StateEffect, ...]:
        return self.transition.effects


def start(machine: Machine) -> TaskState:
    """Return the state of a task before it begins."""
    return TaskState(machine.places[0].name, (0,) * len(machine.loops))


def status(machine: Machine, state: TaskState) -> Status:
    return machine.place(state.place).status


def activity(machine: Machine, state: TaskState) -> Activity:
    return machine.place(state.place).activity


def iterations_used(machine: Machine, state: TaskState, loop: LoopName) -> int:
    """Return how many iterations of the loop were used; 0 for a loop that the task does not have."""
    names = [each.name for each in machine.loops]
    return state.used[names.index(loop)] if loop in names else 0


def step(machine: Machine, state: TaskState, event: Event, context: JsonMapping) -> MachineStep:
    """Return the step that `event` causes; guards are evaluated over `context`, which has no `loop`.

    Raises StateError for an event that the place does not expect, as all do after COMPLETED or FAILED.
    """
    here = machine.place(state.place)
    undecided: list[str] = []

    def holds(guard: Guard) -> bool:
        met, reasons = decide(guard, bindings(machine, state, guard, context))
        undecided.extend(reasons)
        return met

    limits = {loop.name: loop.max_iterations for loop in machine.loops}
    counts = dict(zip(limits, state.used, strict=True))
    transition = select(machine.transitions_on(here.name, event), holds, lambda loop: counts[loop] < limits[loop])
    if transition is None:
        raise StateError(f"a task that is {here.status} (at `{here.name}`) can't take the event `{event}`")
    after = machine.place(transition.target)
    count = tuple(n + (name in transition.counts) for name, n in counts.items())
    return MachineStep(TaskState(after.name, count), here.status, after.status, transition, tuple(undecided))


def select(
    transitions: Iterable[MachineTransition], holds: Callable[[Guard], bool], has_left: Callable[[LoopName], bool]
) -> MachineTransition | None:
    """Return the first open transition: its guard holds, and all the loops it counts have an iteration left."""
    for each in transitions:
        if (each.guard is None or holds(each.guard)) and all(map(has_left, each.counts)):
            return each
    return None


def bindings(machine: Machine, state: TaskState, guard: Guard, context: JsonMapping) -> JsonMapping:
    """Return the bindings of the guard's expressions: the context, and in a loop its iteration."""
    if guard.loop is None:
        return context
    return {**context, "loop": {"iteration": iterations_used(machine, state, guard.loop)}}


def decide(guard: Guard, names: JsonMapping) -> tuple[bool, tuple[str, ...]]:
    """Return whether the guard holds, and the reason for each expression that could not be decided."""
    decisions = [decide(names) for decide in guard.prepared]
    reasons = tuple(each.undecided for each in decisions if each.undecided is not None)
    return (any if guard.mode == "any" else all)(each.holds for each in decisions), reasons
