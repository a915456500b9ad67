"""Branches: which message the user sends, given what the assistant has said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rulewright_runtime.polarity import Polarity, condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.harness.harness_plan import ScriptTurn


class Choice(msgspec.Struct, frozen=True):
    """The user's message, the branch it comes from (None: the turn's own), and conditions that had no answer."""

    message: str
    branch_id: str | None = None
    undecided: dict[str, str] = {}


def choose(turn: ScriptTurn, replies: Sequence[str]) -> Choice:
    """The message of `turn` after the assistant's messages so far, the last of which decides.

    The branches are tried in order and the first whose condition holds wins. Without a previous message, or where it
    is empty, the turn's own message is sent; a condition that can't be decided does not hold (seed 004, conditional
    branching).
    """
    undecided: dict[str, str] = {}
    reply = replies[-1] if replies else ""
    if reply:
        bindings = {"reply": reply, "replies": list(replies), "turn": turn.number}
        for branch in turn.branches:
            decision = condition(branch.condition, Polarity.PERMITTING)(bindings)
            if decision.holds:
                return Choice(branch.user_message, branch.id, undecided)
            if decision.undecided is not None:
                undecided[branch.id] = decision.undecided
    return Choice(turn.user_message, None, undecided)
