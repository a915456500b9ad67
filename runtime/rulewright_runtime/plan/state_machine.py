"""The part of a plan that holds state machines: states over turns and sessions, cues, transitions, forbidden paths.

`rulewright_runtime.verify.trace` follows them.
"""

from typing import Annotated, Literal

from msgspec import Meta

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart, Verdict


class Transition(PlanPart, frozen=True):
    """From one of `before` to `to`, in a turn in which the lexicon `cue` hits, where `when` holds.

    `when` sees `turn` and `session` (the numbers), `elapsed_hours` (since the session before; absent where nobody said
    it), `turns_in_state` and `sessions_in_state`. Where it can't be decided, the trace is not a pass.
    """

    before: Annotated[tuple[str, ...], Meta(min_length=1)]
    to: str
    cue: str
    when: Program | None = None


class Forbidden(PlanPart, frozen=True):
    """States that must not be entered in this order; others may lie between them."""

    path: Annotated[tuple[str, ...], Meta(min_length=1)]
    code: str


class Ending(PlanPart, frozen=True):
    """What it means that the trace ends in a state."""

    state: str
    verdict: Verdict
    code: str


class StateMachine(PlanPart, frozen=True):
    """A machine and what its traces mean: a forbidden path fails, else the last state's ending decides.

    A trace that never leaves `initial` says `silent`; the last state without an ending is a PASS.
    """

    initial: str
    states: Annotated[tuple[str, ...], Meta(min_length=1)]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Forbidden, ...] = ()
    endings: tuple[Ending, ...] = ()
    silent: Literal["PASS", "UNCLEAR", "NOT_APPLICABLE"] = "UNCLEAR"
