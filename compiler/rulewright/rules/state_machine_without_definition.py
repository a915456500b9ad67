"""Rule: a state machine that exists only by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic


def state_machine_without_definition(check: Check) -> Iterator[Diagnostic]:
    """A check names a state machine, and nothing defines it.

    Why it matters: no kind of document defines state machines, so the judge compares the sessions by the prompt
    alone; the name only looks like a rule.
    Instead: describe the states in the prompt, and remove the key.
    """
    name = check.routing.state_machine
    if name:
        yield warning(
            check.place("routing", "state_machine"),
            f"nothing defines the state machine `{name}`; the prompt alone decides",
        )
