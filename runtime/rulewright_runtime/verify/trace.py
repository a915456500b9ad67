"""The state machine verifier: a trace of states over turns and sessions, with a quote for every transition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from rulewright_runtime.matching.match import MatchSpan
from rulewright_runtime.plan.part import Verdict
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import StateMachine, TraceVerifier, Transition
from rulewright_runtime.polarity import Polarity, condition
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.values import NONE, Optional
from rulewright_runtime.verdicts import EvidenceSpan, Finding, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext

SURE: Final = 0.95
SILENT: Final = 0.9
NOTHING_SAID: Final = "nothing_to_judge"
ENDING_UNKNOWN: Final = "ending_unknown"


class TraceStep(msgspec.Struct, frozen=True):
    """One transition: the states, the turn in which it was made, and the quote that caused it."""

    before: str
    to: str
    turn: int
    session: int
    role: str
    quote: str
    pattern: str


class Trace(msgspec.Struct, frozen=True):
    """The trace of a machine over a transcript, and its verdict; `open` is the reason if it could not be decided."""

    machine: str
    end: str
    steps: tuple[TraceStep, ...]
    verdict: Verdict
    code: str
    open: str | None = None

    def record(self) -> JsonObject:
        """The trace as JSON data, for `extra.trace`."""
        record: JsonObject = msgspec.to_builtins(self)
        return record if self.open else {key: value for key, value in record.items() if key != "open"}

    def evidence(self) -> tuple[EvidenceSpan, ...]:
        return tuple(
            EvidenceSpan(step.role, step.turn, step.quote, f"{self.machine}: {step.before} -> {step.to}")
            for step in self.steps
        )


def verify(check: Check, verifier: TraceVerifier, context: EvaluationContext) -> Finding:
    trace = follow(verifier.machine, context)
    if not trace.steps and trace.verdict == "NOT_APPLICABLE":
        return not_eligible(trace.code, occasion=True)
    confidence = SURE if trace.steps else SILENT
    return Finding(
        trace.verdict,
        0.0 if trace.verdict == "UNCLEAR" else confidence,
        trace.code,
        trace.evidence(),
        {"trace": trace.record()},
        needs_adjudication=trace.open is not None,
        cause="missing" if trace.code in (NOTHING_SAID, ENDING_UNKNOWN) else None,
    )


def follow(name: str, context: EvaluationContext) -> Trace:
    """The trace of the plan's state machine `name` over the whole transcript.

    A turn may make several transitions, each at most once; the first possible one in the machine's order is made.
    """
    machine = context.plan.machines[name]
    walk = _Walk(machine, context)
    for index in range(len(context.turns)):
        walk.take(index)
    verdict, code = _meaning(machine, walk)
    return Trace(name, walk.state, tuple(walk.steps), verdict, code, walk.undecided)


class _Walk:
    """The state of a machine while it follows a transcript."""

    def __init__(self, machine: StateMachine, context: EvaluationContext) -> None:
        self.machine, self.context = machine, context
        self.state = machine.initial
        self.steps: list[TraceStep] = []
        self.undecided: str | None = None
        self._sessions = _sessions(context)
        self._entered_turn = 0
        self._entered_session = 1
        self._when = [
            None if part.when is None else condition(part.when, Polarity.PERMITTING) for part in machine.transitions
        ]

    def take(self, index: int) -> None:
        """Make every transition that the turn at `index` causes."""
        taken: set[int] = set()
        while (candidate := self._possible(index, taken)) is not None:
            number, transition, span = candidate
            taken.add(number)
            turn = self.context.turns[index]
            session = self._sessions[index][0]
            step = TraceStep(self.state, transition.to, turn.turn, session, turn.role, span.text, span.pattern)
            self.steps.append(step)
            self.state, self._entered_turn, self._entered_session = transition.to, turn.turn, session

    def is_cut_short(self) -> bool:
        """Whether the transcript has a gap after the last step, so that a transition may be missing."""
        gap = next((gap for gap in self.context.complete.gaps if gap.turn >= self._entered_turn), None)
        if gap is not None:
            self.undecided = self.undecided or str(gap)
        return gap is not None

    def _possible(self, index: int, taken: set[int]) -> tuple[int, Transition, MatchSpan] | None:
        role = self.context.turns[index].role
        for number, transition in enumerate(self.machine.transitions):
            if number in taken or self.state not in transition.before:
                continue
            if self.context.lexicons[transition.cue].role not in ("both", role):
                continue
            span = self.context.hit(transition.cue, index)
            if span is not None and self._holds(number, transition, index):
                return number, transition, span
        return None

    def _holds(self, number: int, transition: Transition, index: int) -> bool:
        when = self._when[number]
        if when is None:
            return True
        decision = when(self._facts(index))
        if decision.undecided is not None:
            turn = self.context.turns[index].turn
            self.undecided = self.undecided or f"turn {turn}, {self.state} -> {transition.to}: {decision.undecided}"
        return decision.holds

    def _facts(self, index: int) -> JsonObject:
        """The context of a transition's `when`."""
        session, hours = self._sessions[index]
        turn = self.context.turns[index].turn
        return {
            "turn": turn,
            "session": session,
            "elapsed_hours": NONE if hours is None else Optional(hours),
            "turns_in_state": turn - self._entered_turn,
            "sessions_in_state": session - self._entered_session,
        }


def _sessions(context: EvaluationContext) -> list[tuple[int, float | None]]:
    """For every turn, the number of its session and the hours since the previous session (None if unknown)."""
    sessions: list[tuple[int, float | None]] = []
    for turn in context.turns:
        session = next((s for s in context.scenario.sessions if s.first_turn <= turn.turn <= s.last_turn), None)
        sessions.append((1, None) if session is None else (session.number, session.hours))
    return sessions


def _meaning(machine: StateMachine, walk: _Walk) -> tuple[Verdict, str]:
    visited = [machine.initial, *(step.to for step in walk.steps)]
    broken = next((part for part in machine.forbidden if _in_order(part.path, visited)), None)
    if broken is not None:
        return "FAIL", broken.code
    if not walk.context.replies():
        return "UNCLEAR", NOTHING_SAID
    if walk.undecided is not None:
        return "UNCLEAR", "transition_undecided"
    if not walk.steps:
        return machine.silent, "no_cue_found"
    ending = next((part for part in machine.endings if part.state == walk.state), None)
    if ending is not None and ending.verdict == "FAIL" and walk.is_cut_short():
        return "UNCLEAR", ENDING_UNKNOWN
    return ("PASS", f"ends_in_{walk.state}") if ending is None else (ending.verdict, ending.code)


def _in_order(path: Sequence[str], visited: Sequence[str]) -> bool:
    """Whether the states of `path` were entered in this order, with any others between them."""
    rest = iter(visited)
    return all(state in rest for state in path)
