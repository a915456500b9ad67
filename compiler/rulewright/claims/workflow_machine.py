"""Every state that a task can reach: its machine explored place by place, for the claims that are made about it.

Whether a loop was passed, the gate gave PASS or a person signed is decided from the context of each step and the
conditions of the document, never from the machine. So a machine with one transition too many is detected.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rulewright.lower.workflow_machine import LoweredTask
from rulewright.proving.workflow_values import TooManyContextsError, Truths, World, worlds
from rulewright_runtime.workflow.machine import EVENTS, Event, LoopName, Machine, MachineTransition, select

MOST_STATES: Final = 50_000


class History(NamedTuple):
    """What has happened to the present outputs: the loops that were passed, whether confidence was scored, the gate's
    PASS, the sign-off; and whether the task was released. `asked` is what a person is asked: trigger and loop."""

    passed: frozenset[str] = frozenset()
    scored: bool = False
    gate: bool = False
    signed: bool = False
    released: bool = False
    asked: tuple[str, str] = ("", "")


class StateNode(NamedTuple):
    """A place, its history, and the iterations used: of each loop or, abstractly, 1 where any was used."""

    place: str
    history: History
    used: tuple[int, ...]


class StateEdge(NamedTuple):
    """A step. Transition and target are None where no transition of the machine applies."""

    event: Event
    world: World
    transition: MachineTransition | None
    target: StateNode | None


class GuardAnswer(NamedTuple):
    """What one context decides at a place: which guards hold, which loops are passed, whether the gate passes."""

    world: World
    holds: tuple[bool, ...]
    passed: frozenset[str]
    gate: bool


@dataclass(slots=True)
class Graph:
    """The reachable nodes, nearest first. `complete` is false where there were more than `MOST_STATES`."""

    edges: dict[StateNode, list[StateEdge]] = field(default_factory=dict)
    parents: dict[StateNode, tuple[StateNode, StateEdge]] = field(default_factory=dict)
    complete: bool = True

    def path_to(self, node: StateNode) -> list[tuple[StateNode, StateEdge]]:
        """The shortest path from the start to a node, as pairs of a node and the step that leaves it."""
        found = []
        while node in self.parents:
            before, edge = self.parents[node]
            found.append((before, edge))
            node = before
        return found[::-1]


@dataclass(slots=True)
class Explorer:
    """Explores one machine. Abstractly a loop that has begun may or may not have an iteration left, so that the size of
    its bound does not matter; with `concrete` iterations are counted."""

    machine: Machine
    shape: LoweredTask
    truths: Truths
    concrete: bool = False
    possible: Callable[[World], bool] = lambda _: True  # whether a context can occur
    known_answers: dict[tuple[str, Event], list[GuardAnswer]] = field(default_factory=dict)

    def explore(self) -> Graph:
        """Everything reachable from the start."""
        graph = Graph()
        first = StateNode(
            self.machine.places[0].name, History(), (0,) * (len(self.machine.loops) if self.concrete else 1)
        )
        waiting = deque([first])
        graph.edges[first] = []
        while waiting and graph.complete:
            node = waiting.popleft()
            try:
                graph.edges[node] = list(self.steps(node))
            except TooManyContextsError:
                graph.complete = False
                break
            for edge in graph.edges[node]:
                if edge.target is not None and edge.target not in graph.edges:
                    graph.edges[edge.target] = []
                    graph.parents[edge.target] = (node, edge)
                    waiting.append(edge.target)
            graph.complete = len(graph.edges) <= MOST_STATES
        return graph

    def steps(self, node: StateNode) -> Iterator[StateEdge]:
        """Every step that can be taken from a node, each once."""
        for event in EVENTS[self.machine.place(node.place).activity]:
            known: set[tuple[int, StateNode | None]] = set()
            for answer in self.answers(node.place, event):
                for left in self.iterations_left(node, event):
                    edge = self.edge(node, event, answer, left)
                    key = (id(edge.transition), edge.target)
                    if key not in known:
                        known.add(key)
                        yield edge

    def edge(self, node: StateNode, event: Event, answer: GuardAnswer, left: dict[LoopName, bool]) -> StateEdge:
        transitions = self.machine.transitions_on(node.place, event)
        open_ = (each for each, holds in zip(transitions, answer.holds, strict=True) if holds)
        chosen = select(open_, lambda _: True, left.__getitem__)
        if chosen is None:
            return StateEdge(event, answer.world, None, None)
        history = _after(node.history, event, answer, chosen)
        return StateEdge(event, answer.world, chosen, StateNode(chosen.target, history, self.count(node.used, chosen)))

    def count(self, used: tuple[int, ...], taken: MachineTransition) -> tuple[int, ...]:
        if not self.concrete:
            return (1,) if taken.counts else used
        return tuple(
            number + (loop.name in taken.counts) for number, loop in zip(used, self.machine.loops, strict=True)
        )

    def iterations_left(self, node: StateNode, event: Event) -> list[dict[LoopName, bool]]:
        """Which loops have an iteration left: as counted, or every combination once a loop has begun."""
        names = [loop.name for loop in self.machine.loops]
        if self.concrete:
            pairs = zip(node.used, self.machine.loops, strict=True)
            return [{loop.name: number < loop.max_iterations for number, loop in pairs}]
        counted = {name for each in self.machine.transitions_on(node.place, event) for name in each.counts}
        if node.used == (0,) or not counted:
            return [dict.fromkeys(names, True)]
        free = [name for name in names if name in counted]
        base = dict.fromkeys(names, True)
        return [
            {**base, **dict(zip(free, falls, strict=True))}
            for falls in itertools.product((True, False), repeat=len(free))
        ]

    def answers(self, place: str, event: Event) -> list[GuardAnswer]:
        """What the possible contexts decide at a place, each different answer once."""
        key = (place, event)
        if key not in self.known_answers:
            self.known_answers[key] = list(self._answers(self.machine.transitions_on(place, event), event))
        return self.known_answers[key]

    def _answers(self, transitions: Sequence[MachineTransition], event: Event) -> Iterator[GuardAnswer]:
        claimed = {effect.subject for each in transitions for effect in each.effects if effect.kind == "pass"}
        exits = [loop for loop in self.shape.loops if loop.name in claimed] if event == "decide" else []
        verdict = self.shape.passed if event == "gated" else None
        programs = [program for each in transitions if each.guard for program in each.guard.conditions]
        programs += [program for loop in exits if loop.exit for program in loop.exit.conditions]
        programs += [verdict] if verdict is not None else []
        known = set()
        contexts: list[World] = worlds(programs, self.truths) if programs else [{}]
        for world in filter(self.possible, contexts):
            holds = tuple(self.truths.met(each.guard, world) for each in transitions)
            passed = frozenset(loop.name for loop in exits if self.truths.met(loop.exit, world))
            gate = verdict is not None and self.truths.holds(verdict, world)
            if (holds, passed, gate) not in known:
                known.add((holds, passed, gate))
                yield GuardAnswer(world, holds, passed, gate)


def _after(history: History, event: Event, answer: GuardAnswer, taken: MachineTransition) -> History:
    """The history after a step."""
    if event == "worked":
        history = History(released=history.released)
    elif event == "scored":
        history = history._replace(scored=True)
    elif event == "gated":
        history = history._replace(gate=answer.gate)
    elif event == "decide":
        claims = {effect.subject for effect in taken.effects if effect.kind == "pass"}
        history = history._replace(passed=history.passed | (claims & answer.passed))
    elif event == "resolved":
        trigger, loop = history.asked
        history = history._replace(
            passed=history.passed | ({loop} if trigger == "loop_exhaustion" else frozenset()),
            signed=history.signed or trigger == "t2_gate",
            released=history.released or trigger == "requires_human",
        )
    ask = next((effect.subject for effect in taken.effects if effect.kind == "ask"), "")
    loop = next((effect.subject for effect in taken.effects if effect.kind == "exceeded"), "")
    return history._replace(asked=(ask, loop if ask else ""))
