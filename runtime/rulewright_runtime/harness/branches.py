"""Branches: the choice of the user's message by the assistant's replies."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rulewright_runtime.harness.harness_plan import ScriptTurn
from rulewright_runtime.polarity import Polarity, condition


class Choice(msgspec.Struct, frozen=True):
    """The user's message, its branch (None: the turn's own message), and the branches with undecidable conditions, with
    the reasons."""

    message: str
    branch_id: str | None = None
    undecided: dict[str, str] = {}


def choose(turn: ScriptTurn, replies: Sequence[str]) -> Choice:
    """Choose the message of `turn` by the assistant's last reply.

    The branches are tried in order, and the first whose condition holds wins. Without a previous reply, or after an
    empty one, the turn's own message is sent. An undecidable condition does not hold (seed 004, conditional branching).
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
