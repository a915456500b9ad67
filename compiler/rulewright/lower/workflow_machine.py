"""Builds a task's state machine: a chain of activities, each followed by the loops that can be decided after it.

See `docs/decisions/workflow-machine.md` for the states and the reasons for their order.
"""

import itertools
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from rulewright_runtime.ir import Program
from rulewright_runtime.workflow.machine import (
    EVENTS,
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

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
STAGE_OF_LOOP: Final[dict[str, Stage]] = {
    "confidence_loop": "score",
    "paired_workflow": "challenge",
    "agentic_review": "review",
}
STAGE_OF_ROOT: Final[dict[str, Stage]] = {  # the root of an expression: the stage after which it is known
    "confidence_score": "score",
    "metrics": "score",
    "pair": "challenge",
    "review": "review",
    "policy_gate": "gate",
    "hil": "sign_off",
}
OUTPUT_FACTS: Final = ("confidence_score", "metrics", "pair", "review", "policy_gate")
EXCEEDED: Final = "max_iterations_exceeded"
INCONSISTENT: Final = "the session of the pair is inconsistent"
GATE_EXCEEDED: Final = f"{EXCEEDED}: the policy gate failed"


class LoopShape(Struct, frozen=True):
    """A loop for the machine: its bound, its exit guard (None: always met), and the roots that its conditions read."""

    name: LoopName
    bound: int
    exit: Guard | None
    reads: frozenset[str]


class LoweredTask(Struct, frozen=True):
    """A task of the plan, its loops from the outermost, and the condition that its gate passes (None: no gate)."""

    task: TaskPlan
    loops: tuple[LoopShape, ...]
    passed: Program | None

    @property
    def hil(self) -> bool:
        """Whether the `hil` overlay is enabled."""
        return "hil" in self.task.overlays

    @property
    def sign_off(self) -> bool:
        """Whether the gate requires a person's sign-off."""
        return self.task.gate is not None and self.task.gate.sign_off


def machine_of(shape: LoweredTask) -> Machine:
    """Build the state machine of a task; its present machine is ignored."""
    return _Builder(shape).machine()


class _Builder:
    """Collects the states and transitions of one task."""

    def __init__(self, shape: LoweredTask) -> None:
        self.shape, self.task = shape, shape.task
        self.states: dict[str, MachineState] = {}
        self.transitions: list[MachineTransition] = []
        task, gate = self.task, shape.passed is not None
        scored, paired, reviewed = task.confidence is not None, task.pair is not None, task.review is not None
        enabled = (True, scored, paired, reviewed, gate, shape.sign_off)
        self.stages = list(itertools.compress(STAGES, enabled))
        self.loop_stages = {loop.name: self.stage_of(loop) for loop in shape.loops}
        self.loop_names: tuple[LoopName, ...] = tuple(loop.name for loop in shape.loops)
        self.forgets = tuple(itertools.compress(OUTPUT_FACTS, (scored, scored, paired, reviewed, gate)))
        self.chain = [name for stage in self.stages for name in self.steps_of(stage)]

    def stage_of(self, loop: LoopShape) -> Stage:
        """The stage after which the loop is decided: that of its overlay, or a later one that its conditions read."""
        inner = [stage for stage in self.stages if stage not in ("gate", "sign_off")]
        default = STAGE_OF_LOOP.get(loop.name, inner[-1])
        read = [
            STAGE_OF_ROOT[root] for root in loop.reads if root in STAGE_OF_ROOT and STAGE_OF_ROOT[root] in self.stages
        ]
        return max([default, *read], key=STAGES.index)

    def steps_of(self, stage: Stage) -> Iterable[str]:
        """The states of a stage in order: its activity, then the loops decided after it, innermost first."""
        yield stage
        if stage == "sign_off":
            yield "signed"
        for loop in reversed(self.shape.loops):
            if self.loop_stages[loop.name] == stage:
                yield f"decide:{loop.name}"

    def after(self, state: str) -> str:
        """The state that follows a state when it has passed."""
        number = self.chain.index(state) + 1
        return self.chain[number] if number < len(self.chain) else "done"

    def machine(self) -> Machine:
        self.begin()
        for stage in self.stages:
            self.stage(stage)
            for loop in reversed(self.shape.loops):
                if self.loop_stages[loop.name] == stage:
                    self.loop(loop)
        self.state("done", "COMPLETED", "none")
        self.state("failed", "FAILED", "none")
        loops = tuple(MachineLoop(loop.name, loop.bound) for loop in self.shape.loops)
        return Machine(tuple(self.states.values()), tuple(self.transitions), loops)

    def state(self, name: str, status: Status, activity: Activity) -> None:
        self.states[name] = MachineState(name, status, activity)
        if activity in ("agent", "score", "challenge", "review", "gate"):
            self.transition(name, "failed", "failed", effects=(StateEffect("fail", words=f"{activity}_failed"),))
        if activity == "human":
            self.transition(name, "rejected", "failed", effects=(StateEffect("fail", words="rejected"),))

    def transition(
        self, source: str, event: Event, target: str, effects: tuple[StateEffect, ...] = (), **more: Any
    ) -> None:
        if target == "sign_off":
            effects = (*effects, StateEffect("ask", "t2_gate", "a T2 gate requires a person's sign-off"))
        self.transitions.append(MachineTransition(source, event, target, effects=effects, **more))

    def begin(self) -> None:
        self.state("start", "PENDING", "wait")
        through = (StateEffect("pass", "hil"),) if self.shape.hil else ()
        if self.task.requires_human and self.shape.hil:
            ask = StateEffect("ask", "requires_human", "the task requires a person's release")
            self.transition("start", "ready", "before", effects=(ask,))
            self.state("before", "HIL_PENDING", "human")
            self.transition("before", "resolved", "work", counts=self.loop_names, effects=through)
        else:
            self.transition("start", "ready", "work", counts=self.loop_names, effects=through)

    def stage(self, stage: Stage) -> None:
        """The activity of a stage, and where it leads."""
        if stage == "sign_off":
            self.state("sign_off", "HIL_PENDING", "human")
            self.transition("sign_off", "resolved", "signed")
            self.state("signed", "RUNNING", "decide")
            self.transition("signed", "decide", self.after("signed"))
            return
        activity: Activity = "agent" if stage == "work" else stage
        self.state(stage, "RUNNING", activity)
        if stage == "gate":
            self.gate()
            return
        confidence = self.task.confidence
        if stage == "score" and confidence is not None and confidence.met is not None:
            advise = (StateEffect("advise", "confidence_loop", ADVISORY),)
            self.transition("score", "scored", self.after("score"), advise, guard=Guard((confidence.met,)))
        self.transition(stage, EVENTS[activity][0], self.after(stage))
        if stage == "challenge":
            self.escalation()

    def escalation(self) -> None:
        """A pair's session that contradicts itself: ask a person, or fail the task."""
        if not self.shape.hil:
            self.transition("challenge", "escalated", "failed", (StateEffect("fail", words=INCONSISTENT),))
            return
        ask = (StateEffect("ask", "overlay_escalation", INCONSISTENT),)
        self.transition("challenge", "escalated", "inconsistent", ask)
        self.state("inconsistent", "HIL_PENDING", "human")
        self.transition("inconsistent", "resolved", self.after("challenge"))

    def gate(self) -> None:
        """The gate's verdict; after a person has corrected the evidence, it is judged once more."""
        assert self.shape.passed is not None
        passed, through = Guard((self.shape.passed,)), (StateEffect("pass", "policy_gate"),)
        self.transition("gate", "gated", self.after("gate"), through, guard=passed)
        self.transition("gate", "gated", "rework")
        self.rework()
        if self.shape.hil:
            self.state("gate_again", "RUNNING", "gate")
            self.transition("gate_again", "gated", self.after("gate"), through, guard=passed)
            again = (StateEffect("fail", words="the policy gate failed again"),)
            self.transition("gate_again", "gated", "failed", again)

    def rework(self) -> None:
        """After a failed gate: another iteration of the outermost loop and so of all loops, else exhausted."""
        self.state("rework", "NEEDS_REWORK", "decide")
        if self.loop_names:
            swap = self.swap("subtask", "checkpoint")
            self.transition("rework", "decide", "work", counts=self.loop_names, forgets=self.forgets, effects=swap)
            self.exhausted("rework", "exhausted:gate", self.loop_names[0], "loop_exhaustion", GATE_EXCEEDED)
        else:
            self.exhausted("rework", "exhausted:gate", "", "overlay_escalation", "the policy gate failed")
        if self.shape.hil:
            self.transition("exhausted:gate", "resolved", "gate_again", forgets=("policy_gate",))

    def loop(self, loop: LoopShape) -> None:
        """A loop's decision: exit, one more iteration of it and the loops inside it, or exhausted."""
        name = f"decide:{loop.name}"
        self.state(name, "RUNNING", "decide")
        lock = (StateEffect("lock"),) if loop.name == "agentic_review" else ()
        passed = () if loop.name == "loop" else (StateEffect("pass", loop.name),)
        self.transition(name, "decide", self.after(name), guard=loop.exit, effects=passed + lock)
        if loop.exit is None:
            return
        again = self.inside(loop)
        effects = self.swap("subtask") if "paired_workflow" in again else ()
        self.transition(name, "decide", "work", counts=again, forgets=self.forgets, effects=effects)
        state = f"exhausted:{loop.name}"
        self.exhausted(name, state, loop.name, "loop_exhaustion", EXCEEDED)
        if self.shape.hil:
            self.transition(state, "resolved", self.accepted(loop.name), effects=passed)

    def accepted(self, loop: LoopName) -> str:
        """The state after a person accepts an exhausted loop: the next one, through a RUNNING state where the end or
        another question would follow the question directly."""
        target, state = self.after(f"decide:{loop}"), f"accepted:{loop}"
        if target not in ("done", "sign_off"):
            return target
        self.state(state, "RUNNING", "decide")
        self.transition(state, "decide", target)
        return state

    def inside(self, loop: LoopShape) -> tuple[LoopName, ...]:
        """The loop and the loops inside it: all whose activities are repeated with it, wherever they are decided, so
        that no activity runs more often than its loop allows. The task's own loop, which has no activity, is around
        those that are decided after the same stage."""
        stage = STAGES.index(self.loop_stages[loop.name])

        def is_inside(name: LoopName) -> bool:
            repeated = STAGES.index(STAGE_OF_LOOP.get(name, self.loop_stages[name]))
            return name == loop.name or repeated < stage or (repeated == stage and name != "loop")

        return tuple(filter(is_inside, self.loop_names))

    def exhausted(self, source: str, state: str, loop: str, trigger: str, words: str) -> None:
        """No iteration is left: ask a person, or fail the task."""
        flag = (StateEffect("exceeded", loop, EXCEEDED),) if loop else ()
        if self.shape.hil:
            self.transition(source, "decide", state, effects=(*flag, StateEffect("ask", trigger, words)))
            self.state(state, "HIL_PENDING", "human")
        else:
            self.transition(source, "decide", "failed", effects=(*flag, StateEffect("fail", words=words)))

    def swap(self, *kinds: str) -> tuple[StateEffect, ...]:
        """The effect that driver and challenger swap roles, where the pair's `role_switch` is one of `kinds`."""
        return (StateEffect("swap"),) if self.task.pair is not None and self.task.pair.role_switch in kinds else ()
