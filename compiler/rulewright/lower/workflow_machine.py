"""From a task to its state machine: a chain of activities, and after each the loops that can be decided there.

See `docs/decisions/workflow-machine.md` for the places and why they stand in this order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from rulewright_runtime.ir import Program
from rulewright_runtime.workflow.machine import (
    Activity,
    Event,
    Guard,
    LoopName,
    Machine,
    MachineLoop,
    MachineState,
    MachineTransition,
    StateEffect,
    Status,
)
from rulewright_runtime.workflow.workflow_plan import ADVISORY, TaskPlan

Stage = Literal["work", "score", "challenge", "review", "gate", "sign_off"]

STAGES: Final[tuple[Stage, ...]] = ("work", "score", "challenge", "review", "gate", "sign_off")
OWN: Final[dict[str, Stage]] = {
    "confidence_loop": "score",
    "paired_workflow": "challenge",
    "agentic_review": "review",
}
SAID_AT: Final[dict[str, Stage]] = {  # a root of an expression: the stage at which it is known
    "confidence_score": "score",
    "metrics": "score",
    "pair": "challenge",
    "review": "review",
    "policy_gate": "gate",
    "hil": "sign_off",
}
SAID_OF_OUTPUTS: Final = ("confidence_score", "metrics", "pair", "review", "policy_gate")
EXCEEDED: Final = "max_iterations_exceeded"
INCONSISTENT: Final = "the session of the pair is inconsistent"
GATE_EXCEEDED: Final = f"{EXCEEDED}: the policy gate failed"


@dataclass(frozen=True, slots=True)
class LoopShape:
    """A loop as the machine needs it: its bound, what ends it (None: always), and the roots its conditions read."""

    name: LoopName
    bound: int
    exit: Guard | None
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class LoweredTask:
    """A task of the plan, with its loops from the outermost, and when its gate's verdict is PASS (None: no gate)."""

    task: TaskPlan
    loops: tuple[LoopShape, ...]
    passed: Program | None

    @property
    def hil(self) -> bool:
        """Whether people are asked."""
        return "hil" in self.task.overlays

    @property
    def sign_off(self) -> bool:
        """Whether a person signs the gate."""
        return self.task.gate is not None and self.task.gate.sign_off


def machine_of(shape: LoweredTask) -> Machine:
    """The state machine of a task, whatever machine it has so far."""
    return _Builder(shape).machine()


class _Builder:
    """Collects places and transitions; one for each task."""

    def __init__(self, shape: LoweredTask) -> None:
        self.shape, self.task = shape, shape.task
        self.places: dict[str, MachineState] = {}
        self.transitions: list[MachineTransition] = []
        task, gate = self.task, shape.passed is not None
        scored, paired, reviewed = task.confidence is not None, task.pair is not None, task.review is not None
        on = (True, scored, paired, reviewed, gate, shape.sign_off)
        self.stages = list(itertools.compress(STAGES, on))
        self.at = {loop.name: self.stage_of(loop) for loop in shape.loops}
        self.every: tuple[LoopName, ...] = tuple(loop.name for loop in shape.loops)
        self.forgets = tuple(itertools.compress(SAID_OF_OUTPUTS, (scored, scored, paired, reviewed, gate)))
        self.chain = [name for stage in self.stages for name in self.steps_of(stage)]

    def stage_of(self, loop: LoopShape) -> Stage:
        """Where the loop is decided: after its own overlay has spoken, and after whatever its conditions read has."""
        inner = [stage for stage in self.stages if stage not in ("gate", "sign_off")]
        own = OWN.get(loop.name, inner[-1])
        known = [SAID_AT[root] for root in loop.reads if root in SAID_AT and SAID_AT[root] in self.stages]
        return max([own, *known], key=STAGES.index)

    def steps_of(self, stage: Stage) -> Iterable[str]:
        """The places of a stage in order: its activity, then the loops decided there, from the inside out."""
        yield stage
        if stage == "sign_off":
            yield "signed"
        for loop in reversed(self.shape.loops):
            if self.at[loop.name] == stage:
                yield f"decide:{loop.name}"

    def after(self, place: str) -> str:
        """What follows a place when it has passed."""
        number = self.chain.index(place) + 1
        return self.chain[number] if number < len(self.chain) else "done"

    def machine(self) -> Machine:
        self.begin()
        for stage in self.stages:
            getattr(self, f"stage_{stage}")()
            for loop in reversed(self.shape.loops):
                if self.at[loop.name] == stage:
                    self.loop(loop)
        self.place("done", "COMPLETED", "none")
        self.place("failed", "FAILED", "none")
        loops = tuple(MachineLoop(loop.name, loop.bound) for loop in self.shape.loops)
        return Machine(tuple(self.places.values()), tuple(self.transitions), loops)

    def place(self, name: str, status: Status, activity: Activity) -> None:
        self.places[name] = MachineState(name, status, activity)
        if activity in ("agent", "score", "challenge", "review", "gate"):
            self.go(name, "failed", "failed", effects=(StateEffect("fail", words=f"{activity}_failed"),))
        if activity == "human":
            self.go(name, "rejected", "failed", effects=(StateEffect("fail", words="rejected"),))

    def go(self, source: str, event: Event, target: str, effects: tuple[StateEffect, ...] = (), **more: Any) -> None:
        if target == "sign_off":
            effects = (*effects, StateEffect("ask", "t2_gate", "a T2 gate requires a person's sign-off"))
        self.transitions.append(MachineTransition(source, event, target, effects=effects, **more))

    def begin(self) -> None:
        self.place("start", "PENDING", "wait")
        through = (StateEffect("pass", "hil"),) if self.shape.hil else ()
        if self.task.requires_human and self.shape.hil:
            ask = StateEffect("ask", "requires_human", "the task requires a person's release")
            self.go("start", "ready", "before", effects=(ask,))
            self.place("before", "HIL_PENDING", "human")
            self.go("before", "resolved", "work", counts=self.every, effects=through)
        else:
            self.go("start", "ready", "work", counts=self.every, effects=through)

    def stage_work(self) -> None:
        self.place("work", "RUNNING", "agent")
        self.go("work", "worked", self.after("work"))

    def stage_score(self) -> None:
        self.place("score", "RUNNING", "score")
        if self.task.confidence is not None and self.task.confidence.met is not None:
            advise = StateEffect("advise", "confidence_loop", ADVISORY)
            self.go("score", "scored", self.after("score"), guard=Guard((self.task.confidence.met,)), effects=(advise,))
        self.go("score", "scored", self.after("score"))

    def stage_challenge(self) -> None:
        self.place("challenge", "RUNNING", "challenge")
        self.go("challenge", "challenged", self.after("challenge"))
        if not self.shape.hil:
            self.go("challenge", "escalated", "failed", effects=(StateEffect("fail", words=INCONSISTENT),))
            return
        ask = StateEffect("ask", "overlay_escalation", INCONSISTENT)
        self.go("challenge", "escalated", "inconsistent", effects=(ask,))
        self.place("inconsistent", "HIL_PENDING", "human")
        self.go("inconsistent", "resolved", self.after("challenge"))

    def stage_review(self) -> None:
        self.place("review", "RUNNING", "review")
        self.go("review", "reviewed", self.after("review"))

    def stage_gate(self) -> None:
        assert self.shape.passed is not None
        passed = Guard((self.shape.passed,))
        through = (StateEffect("pass", "policy_gate"),)
        self.place("gate", "RUNNING", "gate")
        self.go("gate", "gated", self.after("gate"), guard=passed, effects=through)
        self.go("gate", "gated", "rework")
        self.rework()
        if self.shape.hil:
            self.place("gate_again", "RUNNING", "gate")
            self.go("gate_again", "gated", self.after("gate"), guard=passed, effects=through)
            again = StateEffect("fail", words="the policy gate failed again")
            self.go("gate_again", "gated", "failed", effects=(again,))

    def rework(self) -> None:
        """A gate that failed: another iteration of the outermost loop and so of all, else nothing is left."""
        self.place("rework", "NEEDS_REWORK", "decide")
        if self.every:
            swap = self.swap("subtask", "checkpoint")
            self.go("rework", "decide", "work", counts=self.every, forgets=self.forgets, effects=swap)
            self.exhausted("rework", "exhausted:gate", self.every[0], "loop_exhaustion", GATE_EXCEEDED)
        else:
            self.exhausted("rework", "exhausted:gate", "", "overlay_escalation", "the policy gate failed")
        if self.shape.hil:
            self.go("exhausted:gate", "resolved", "gate_again", forgets=("policy_gate",))

    def stage_sign_off(self) -> None:
        self.place("sign_off", "HIL_PENDING", "human")
        self.go("sign_off", "resolved", "signed")
        self.place("signed", "RUNNING", "decide")
        self.go("signed", "decide", self.after("signed"))

    def loop(self, loop: LoopShape) -> None:
        """Exit, one more iteration of this loop and those inside it, or exhausted."""
        name = f"decide:{loop.name}"
        self.place(name, "RUNNING", "decide")
        lock = (StateEffect("lock"),) if loop.name == "agentic_review" else ()
        passed = () if loop.name == "loop" else (StateEffect("pass", loop.name),)
        self.go(name, "decide", self.after(name), guard=loop.exit, effects=passed + lock)
        if loop.exit is None:
            return
        again = self.inside(loop)
        effects = self.swap("subtask") if "paired_workflow" in again else ()
        self.go(name, "decide", "work", counts=again, forgets=self.forgets, effects=effects)
        place = f"exhausted:{loop.name}"
        self.exhausted(name, place, loop.name, "loop_exhaustion", EXCEEDED)
        if self.shape.hil:
            self.go(place, "resolved", self.accepted(loop.name), effects=passed)

    def accepted(self, loop: LoopName) -> str:
        """Where a person's acceptance of an exhausted loop leads: onwards, by way of RUNNING where neither the end nor
        another question may follow a question at once."""
        target, place = self.after(f"decide:{loop}"), f"accepted:{loop}"
        if target not in ("done", "sign_off"):
            return target
        self.place(place, "RUNNING", "decide")
        self.go(place, "decide", target)
        return place

    def inside(self, loop: LoopShape) -> tuple[LoopName, ...]:
        """The loop and those whose iterations are part of its own: all that are decided no later."""
        stage = STAGES.index(self.at[loop.name])
        return tuple(name for name in self.every if STAGES.index(self.at[name]) <= stage)

    def exhausted(self, source: str, place: str, loop: str, trigger: str, words: str) -> None:
        """No iteration is left: a person is asked, or the task has failed."""
        flag = (StateEffect("exceeded", loop, EXCEEDED),) if loop else ()
        if self.shape.hil:
            self.go(source, "decide", place, effects=(*flag, StateEffect("ask", trigger, words)))
            self.place(place, "HIL_PENDING", "human")
        else:
            self.go(source, "decide", "failed", effects=(*flag, StateEffect("fail", words=words)))

    def swap(self, *kinds: str) -> tuple[StateEffect, ...]:
        """Driver and challenger change roles, where the pair switches at this occasion."""
        return (StateEffect("swap"),) if self.task.pair is not None and self.task.pair.role_switch in kinds else ()
