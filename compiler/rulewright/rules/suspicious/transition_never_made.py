from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.proving.hidden_transitions import hidden_transitions
from rulewright.spelling import suggest


def transition_never_made(machine: StateMachineDocument) -> Findings:
    """A transition is never made, because an earlier one always is, or a cue causes no transition.

    Why it matters: of the possible transitions, the first one in the file is made, so the hidden one's target, ending
    or forbidden path never takes effect. A cue without a transition has no effect.
    Instead: move it before the earlier one, give that one a stricter `when`, or remove it.
    """
    used = {transition.cue for transition in machine.transitions}
    for entry in entries(machine.node, "cues") if machine.transitions and "" not in used else ():
        if entry.name not in used and not any(suggest(each, [entry.name]) for each in used):
            yield warning(entry.key, f"no transition is made on `{entry.name}`")
    if len(machine.transitions) < 2:
        return
    for transition, earlier in hidden_transitions(machine):
        states = " and ".join(f"`{state}`" for state in transition.before)
        message = f"this transition from {states} on `{transition.cue}` is never made: an earlier one always is"
        notes = [(each.span, "an earlier transition") for each in earlier]
        yield warning(transition.span, message, notes=notes)
