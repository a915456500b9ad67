"""The task's finite state machine: places and transitions as data, and the pure function that takes one step.

A machine is made by the compiler, one for each task. Its places carry the six statuses; what an overlay adds is a
place and a few transitions. The transitions of a place and an event are tried in the order they are written, and the
first that is open is taken; guards are expressions whose polarity is permitting, so what can't be decided is not met.

    PENDING -> RUNNING -> COMPLETED                 HIL_PENDING -> RUNNING or FAILED
            -> HIL_PENDING   -> HIL_PENDING         NEEDS_REWORK -> RUNNING, HIL_PENDING or FAILED
                             -> NEEDS_REWORK
                             -> FAILED              COMPLETED, FAILED: nothing leads on
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from rulewright_runtime.errors import StateError
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.polarity import Polarity as Polarity
from rulewright_runtime.polarity import condition
from rulewright_runtime.strict_json import JsonMapping

Status = Literal["PENDING", "RUNNING", "NEEDS_REWORK", "HIL_PENDING", "COMPLETED", "FAILED"]
TERMINAL: Final[frozenset[Status]] = frozenset({"COMPLETED", "FAILED"})

# Which status may follow which; a task may stay in RUNNING from place to place.
FOLLOWS: Final[Mapping[Status, frozenset[Status]]] = {
    "PENDING": frozenset({"RUNNING", "HIL_PENDING"}),
    "RUNNING": frozenset({"RUNNING", "NEEDS_REWORK", "HIL_PENDING", "COMPLETED", "FAILED"}),
    "NEEDS_REWORK": frozenset({"RUNNING", "HIL_PENDING", "FAILED"}),
    "HIL_PENDING": frozenset({"RUNNING", "FAILED"}),
    "COMPLETED": frozenset(),
    "FAILED": frozenset(),
}

# What the engine does while a task is at a place. `decide` is nothing but the next step, `none` is the end.
Activity = Literal["wait", "agent", "score", "challenge", "review", "gate", "human", "decide", "none"]

# What the engine tells the machine. `failed` says that an activity can't be carried out (retries used up, outputs
# that break their contract), `escalated` that a person has to look at a pair's session first; `decide` is the event of
# a place that decides by itself.
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

# The event with which each activity ends.
ENDS: Final[Mapping[str, Event]] = {
    "wait": "ready",
    "agent": "worked",
    "score": "scored",
    "challenge": "challenged",
    "review": "reviewed",
    "gate": "gated",
    "human": "resolved",
    "decide": "decide",
}

LoopName = Literal["loop", "agentic_review", "paired_workflow", "confidence_loop"]
Bound = Annotated[int, Meta(ge=1, le=1_000_000)]


class Guard(PlanPart, frozen=True):
    """A condition of a transition: any or all of some expressions. `loop` is the loop they belong to, whose iteration
    they see as `loop.iteration`. No expression at all: `all` holds, `any` does not."""

    conditions: tuple[Program, ...]
    mode: Literal["any", "all"] = "all"
    loop: LoopName | None = None


class StateEffect(PlanPart, frozen=True):
    """What a step means beyond its new place.

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
    """Where a task can be: its status, and what is done there."""

    name: str
    status: Status
    activity: Activity


class MachineTransition(PlanPart, frozen=True):
    """From `source` to `target` on `event`, open where the guard holds and every loop of `counts` has an iteration
    left. Taking it uses one iteration of each of them, and what the roots in `forgets` said of earlier outputs is
    dropped from the context."""

    source: str
    event: Event
    target: str
    guard: Guard | None = None
    counts: tuple[LoopName, ...] = ()
    forgets: tuple[str, ...] = ()
    effects: tuple[StateEffect, ...] = ()


class MachineLoop(PlanPart, frozen=True):
    """A loop of the task, and how often it may run in all; its count is never reset."""

    name: LoopName
    max_iterations: Bound


class Machine(PlanPart, frozen=True):
    """The state machine of one task. `loops` are listed from the outermost; the first place is the start."""

    places: tuple[MachineState, ...]
    transitions: tuple[MachineTransition, ...]
    loops: tuple[MachineLoop, ...] = ()

    def place(self, name: str) -> MachineState:
        """The place called `name`; StateError when the machine has none."""
        for place in self.places:
            if place.name == name:
                return place
        raise StateError(f"the machine has no place `{name}`")


class TaskState(PlanPart, frozen=True):
    """Where a task is, and how many iterations of each loop it has used, in the order of the machine's loops."""

    place: str
    used: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineStep:
    """A step that was taken. `undecided` says of each expression that could not be decided why."""

    state: TaskState
    before: Status
    after: Status
    transition: MachineTransition
    undecided: tuple[str, ...] = ()

    @property
    def effects(self) -> tuple[StateEffect, ...]:
        """What the step means beyond the new place."""
        return self.transition.effects


def start(machine: Machine) -> TaskState:
    """The state of a task that has not begun."""
    return TaskState(machine.places[0].name, (0,) * len(machine.loops))


def status(machine: Machine, state: TaskState) -> Status:
    """The status of a task in this state."""
    return machine.place(state.place).status


def activity(machine: Machine, state: TaskState) -> Activity:
    """What is to be done next for a task in this state."""
    return machine.place(state.place).activity


def used(machine: Machine, state: TaskState, loop: LoopName) -> int:
    """How many iterations of the loop were used; 0 for a loop the task does not have."""
    names = [each.name for each in machine.loops]
    return state.used[names.index(loop)] if loop in names else 0


def step(machine: Machine, state: TaskState, event: Event, context: JsonMapping) -> MachineStep:
    """The one step that `event` causes, decided over `context` (the bindings of the guards, without `loop`).

    Raises StateError where the event does not fit: after COMPLETED or FAILED, or one that nobody waits for.
    """
    here = machine.place(state.place)
    undecided: list[str] = []

    def holds(guard: Guard) -> bool:
        met, reasons = decide(guard, bindings(machine, state, guard, context))
        undecided.extend(reasons)
        return met

    limits = {loop.name: loop.max_iterations for loop in machine.loops}
    counts = dict(zip(limits, state.used, strict=True))
    taken = select(leaving(machine, here.name, event), holds, lambda loop: counts[loop] < limits[loop])
    if taken is None:
        raise StateError(f"a task that is {here.status} (at `{here.name}`) can't take the event `{event}`")
    after = machine.place(taken.target)
    count = tuple(n + (name in taken.counts) for name, n in counts.items())
    return MachineStep(TaskState(after.name, count), here.status, after.status, taken, tuple(undecided))


def events_of(place: MachineState) -> tuple[Event, ...]:
    """Every event that can happen at a place."""
    end = ENDS.get(place.activity)
    if end is None:
        return ()
    if place.activity == "human":
        return (end, "rejected")
    if place.activity == "challenge":
        return (end, "failed", "escalated")
    return (end,) if place.activity in ("wait", "decide") else (end, "failed")


def leaving(machine: Machine, place: str, event: Event) -> Iterator[MachineTransition]:
    """The transitions of a place on an event, in the order they are tried."""
    return (each for each in machine.transitions if each.source == place and each.event == event)


def select(
    transitions: Iterator[MachineTransition], holds: Callable[[Guard], bool], left: Callable[[LoopName], bool]
) -> MachineTransition | None:
    """The first open transition: its guard holds, and all the loops it counts have an iteration left."""
    for each in transitions:
        if (each.guard is None or holds(each.guard)) and all(map(left, each.counts)):
            return each
    return None


def bindings(machine: Machine, state: TaskState, guard: Guard, context: JsonMapping) -> JsonMapping:
    """What the guard's expressions see: the context, and inside a loop its iteration."""
    if guard.loop is None:
        return context
    return {**context, "loop": {"iteration": used(machine, state, guard.loop)}}


def decide(guard: Guard, names: JsonMapping) -> tuple[bool, tuple[str, ...]]:
    """Whether the guard holds, and why each expression that could not be decided could not be."""
    decisions = [condition(program, Polarity.PERMITTING)(names) for program in guard.conditions]
    reasons = tuple(each.undecided for each in decisions if each.undecided is not None)
    return (any if guard.mode == "any" else all)(each.holds for each in decisions), reasons
