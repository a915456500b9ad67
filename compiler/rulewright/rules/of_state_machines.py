"""The rules that look at state machines, in the order they run."""

from typing import Final

from rulewright.documents.state_machine import StateMachineDocument
from rulewright.documents.typed_reader import read_named
from rulewright.rules import DocumentKind, Rule
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS
from rulewright.rules.suspicious.code_denies_its_state import code_denies_its_state
from rulewright.rules.suspicious.ending_never_reached import ending_never_reached
from rulewright.rules.suspicious.state_ends_twice import state_ends_twice
from rulewright.rules.suspicious.transition_never_made import transition_never_made

STATE_MACHINE: Final[tuple[Rule[StateMachineDocument], ...]] = (
    *CONDITIONS,
    *EXPRESSIONS,
    transition_never_made,
    state_ends_twice,
    ending_never_reached,
    code_denies_its_state,
)

KINDS: Final = {
    "state_machine": DocumentKind(lambda root, name, _: (read_named(StateMachineDocument, root, name),), STATE_MACHINE)
}
