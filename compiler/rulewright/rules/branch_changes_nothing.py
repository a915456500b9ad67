"""Rule: a branch that says what the turn says."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument


def branch_changes_nothing(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A branch sends the very message that the turn sends without it.

    Why it matters: the conversation goes on the same way whether the branch is taken or not.
    Instead: write another message, or remove the branch.
    """
    for turn in scenario.turns:
        for branch in turn.branches:
            if branch.user_message and branch.user_message == turn.user_message:
                yield warning(
                    branch.place("user_message"),
                    f"`{branch.branch_id}` sends the turn's own message",
                    notes=[(turn.place("user_message"), "the same message")],
                )
