from rulewright.diagnostics import Findings, warning
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.lower.machines import leading_to, reached_from


def ending_never_reached(machine: StateMachineDocument) -> Findings:
    """An ending names the initial state, and no transition returns to it.

    Why it matters: endings decide only after a transition. A conversation without one gets the verdict of `silent`, so
    a chat that stays in the initial state is not judged by this ending. One with the verdict of `silent` is left alone.
    Instead: add the transition that returns to the initial state, or set `silent` to that verdict. `silent` can't be
    FAIL: begin with another state, from which a cue leads to this one.
    """
    targets = {part.to for part in machine.transitions}
    is_misspelt = not targets.issubset(machine.states)
    if is_misspelt or machine.initial in reached_from(leading_to(machine.transitions), machine.initial):
        return
    for ending in machine.endings if targets else ():
        if ending.state == machine.initial and ending.verdict != machine.silent:
            message = f"this ending never decides: no transition returns to the initial state `{machine.initial}`"
            help = f"without a transition the verdict is that of `silent`: {machine.silent}"
            yield warning(ending.place("state"), message, help=help)
