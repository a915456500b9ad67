"""Rule: a transition that earlier ones always pre-empt."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.proving.hidden_transitions import hidden_transitions


def transition_never_made(machine: StateMachineDocument) -> Iterator[Diagnostic]:
    """A transition is never made: whenever it could be, an earlier one from the same states on the same cue is made.

    Why it matters: of the possible transitions, the first one in the file is made, so the hidden one's target, ending
    or forbidden path never takes effect.
    Instead: move it before the earlier one, give that one a stricter `when`, or remove it.
    """
    if len(machine.transitions) < 2:
        return
    for transition, earlier in hidden_transitions(machine):
        states = " and ".join(f"`{state}`" for state in transition.before)
        message = f"this transition from {states} on `{transition.cue}` is never made: an earlier one always is"
        notes = [(each.span, "an earlier transition") for each in earlier]
        yield warning(transition.span, message, notes=notes)
