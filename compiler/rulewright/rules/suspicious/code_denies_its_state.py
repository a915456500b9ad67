from rulewright.diagnostics import Findings, warning
from rulewright.documents.state_machine import StateMachineDocument


def code_denies_its_state(machine: StateMachineDocument) -> Findings:
    """The code of an ending says that its own state was not reached, such as `not_helped` for the state `helped`.

    Why it matters: the verdict was meant for another state, so what should pass fails under a code that is not true.
    Instead: name the state that was meant.
    """
    ended = {each.state for each in machine.endings}
    for ending in machine.endings:
        if ending.code.endswith((f"not_{ending.state}", f"never_{ending.state}")):
            others = [each for each in machine.states if each not in ended and each in ending.code.split("_not_")[0]]
            help = f"did you mean `{others[0]}`?" if others else None
            yield warning(ending.place("state"), f"`{ending.code}` denies that `{ending.state}` was reached", help=help)
