"""The state machines of a plan: states over turns and sessions, cues, transitions, forbidden paths.

`rulewright_runtime.verify.trace` executes them.
"""

from typing import Annotated, Literal

from msgspec import Meta

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart, Verdict


class Transition(PlanPart, frozen=True):
    """From one of `before` to `to`, in a turn in which the lexicon `cue` hits, if `when` holds.

    `when` reads `turn` and `session` (the numbers), `elapsed_hours` (since the previous session; absent if unknown),
    `turns_in_state` and `sessions_in_state`. If it is undecided, the trace does not pass.
    """

    before: Annotated[tuple[str, ...], Meta(min_length=1)]
    to: str
    cue: str
    when: Program | None = None


class Forbidden(PlanPart, frozen=True):
    """States that must not be entered in this order, with or without others between them."""

    path: Annotated[tuple[str, ...], Meta(min_length=1)]
    code: str


class Ending(PlanPart, frozen=True):
    """The verdict of a trace that ends in a state."""

    state: str
    verdict: Verdict
    code: str


class StateMachine(PlanPart, frozen=True):
    """A machine and the verdicts of its traces: a forbidden path fails, else the last state's ending decides.

    A trace that never leaves `initial` has the verdict `silent`; a last state without an ending is a PASS.
    """

    initial: str
    states: Annotated[tuple[str, ...], Meta(min_length=1)]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Forbidden, ...] = ()
    endings: tuple[Ending, ...] = ()
    silent: Literal["PASS", "UNCLEAR", "NOT_APPLICABLE"] = "UNCLEAR"
