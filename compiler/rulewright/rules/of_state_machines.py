"""The rules that look at state machines, in the order they run."""

from __future__ import annotations

from typing import Final

from rulewright.documents.state_machine import read_state_machine
from rulewright.rules import DocumentKind, rules_named
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS

STATE_MACHINE: Final = (
    *CONDITIONS,
    *EXPRESSIONS,
    *rules_named(
        "transition_never_made",
        "state_ends_twice",
    ),
)

KINDS: Final = {"state_machine": DocumentKind(lambda root, name, _: (read_state_machine(root, name),), STATE_MACHINE)}
