from rulewright.diagnostics import Findings, warning
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.lower.machines import leading_to, reached_from


def ending_never_reached(machine: StateMachineDocument) -> Findings:
    """An ending names the initial state, and no transition returns to it.

    Why it matters: endings decide only after a transition. A conversation without one gets the verdict of `silent`, so
    a chat that stays in the initial state is not judged by this ending.
    Instead: set `silent` to that verdict, or add the transition that returns to the initial state.
    """
    if machine.initial in reached_from(leading_to(machine.transitions), machine.initial):
        return
    for ending in machine.endings if machine.transitions else ():
        if ending.state == machine.initial:
            message = f"this ending never decides: no transition returns to the initial state `{machine.initial}`"
            help = f"without a transition the verdict is that of `silent`: {machine.silent}"
            yield warning(ending.place("state"), message, help=help)
