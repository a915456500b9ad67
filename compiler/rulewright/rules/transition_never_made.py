"""Rule: a transition of a state machine that an earlier one hides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.proving.hidden_transitions import hidden_transitions

if TYPE_CHECKING:
    from rulewright.documents.state_machine import StateMachineDocument


def transition_never_made(machine: StateMachineDocument) -> Iterator[Diagnostic]:
    """A transition is never made: earlier ones from the same states are made on the same cue whenever it could be.

    Why it matters: of the transitions that a turn may make the first in the file is made, so what the machine says of
    the way that is hidden - another state, an ending, a forbidden path - never comes true.
    Instead: move it before the earlier one, give that a stricter `when`, or remove it.
    """
    if len(machine.transitions) < 2:
        return
    for transition, earlier in hidden_transitions(machine):
        states = " and ".join(f"`{state}`" for state in transition.before)
        message = f"this transition from {states} on `{transition.cue}` is never made: an earlier one always is"
        notes = [(each.span, "an earlier transition") for each in earlier]
        yield warning(transition.span, message, notes=notes)
