from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import repeated
from rulewright.documents.state_machine import StateMachineDocument
from rulewright_runtime.english import ticked


def state_ends_twice(machine: StateMachineDocument) -> Findings:
    """A state machine has two endings for the same state.

    Why it matters: only one of them decides, and the state that was meant gets the verdict of a state without an
    ending.
    Instead: name the other state, or remove one of them.
    """
    for ending, earlier in repeated(machine.endings, lambda each: each.state):
        others = [state for state in machine.states if state not in {each.state for each in machine.endings}]
        help = f"without an ending: {ticked(others)}" if others else None
        notes = [(earlier.place("state"), "the first")]
        yield warning(ending.place("state"), f"`{ending.state}` has two endings", help=help, notes=notes)
