"""Votes: how the usable verdicts of one check's repetitions become one verdict with its confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.plan import Verdict


class Outcome(msgspec.Struct, frozen=True):
    """A verdict; the share of votes for it; whose evidence counts (an index into the votes, None without votes)."""

    verdict: Verdict
    confidence: float
    kept: int | None
    votes_for: int


def count(votes: Sequence[Verdict], planned: int | None = None) -> Outcome:
    """The verdict that a strict majority voted for, of `planned` votes or (None) of those that were cast.

    An unusable reply is no vote: with `planned` it stays in the denominator. Without a majority the verdict is
    UNCLEAR with confidence 0 and the evidence of the first vote. No votes: UNCLEAR.
    """
    denominator = len(votes) if planned is None else max(planned, len(votes))
    for verdict in dict.fromkeys(votes):
        votes_for = votes.count(verdict)
        if 2 * votes_for > denominator:
            return Outcome(verdict, votes_for / denominator, votes.index(verdict), votes_for)
    return Outcome("UNCLEAR", 0.0, 0 if votes else None, 0)
