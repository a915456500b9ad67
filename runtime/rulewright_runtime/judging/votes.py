"""Votes: how the verdicts of one check's repetitions become one, and when no further repetition can change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright_runtime.plan.part import Verdict


class Cast(msgspec.Struct, frozen=True):
    """One usable vote; `holds` is False for a FAIL without a quote that could be verified, where one is required."""

    verdict: Verdict
    holds: bool = True


class VoteOutcome(msgspec.Struct, frozen=True):
    """A verdict; the share of votes for it; whose evidence counts (an index into the votes, None without votes)."""

    verdict: Verdict
    confidence: float
    kept: int | None
    votes_for: int


def count(votes: Sequence[Cast], planned: int | None = None) -> VoteOutcome:
    """The verdict that a strict majority voted for, of `planned` votes or (None) of those that were cast.

    An unusable reply is not a vote: with `planned` it stays in the denominator. The evidence is that of the first vote
    for the verdict that holds, else of the first one. Without a majority the verdict is UNCLEAR with confidence 0 and
    the evidence of the first vote. No votes: UNCLEAR.
    """
    verdicts = [vote.verdict for vote in votes]
    denominator = len(votes) if planned is None else max(planned, len(votes))
    for verdict in dict.fromkeys(verdicts):
        votes_for = verdicts.count(verdict)
        if 2 * votes_for > denominator:
            chosen = [index for index, vote in enumerate(votes) if vote.verdict == verdict]
            kept = next((index for index in chosen if votes[index].holds), chosen[0])
            return VoteOutcome(verdict, votes_for / denominator, kept, votes_for)
    return VoteOutcome("UNCLEAR", 0.0, 0 if votes else None, 0)


def is_settled(votes: Sequence[Cast], left: int, planned: int, unusable: Verdict, unverified: Verdict) -> bool:
    """Whether every way in which the `left` repetitions may still end gives the same verdict.

    `unusable` is the verdict where no reply at all is usable, `unverified` that of a majority for FAIL without a vote
    that holds.
    """
    return len(_attainable(votes, left, planned, unusable, unverified)) == 1


def _attainable(votes: Sequence[Cast], left: int, planned: int, unusable: Verdict, unverified: Verdict) -> set[Verdict]:
    counts = _counts(votes)
    found: set[Verdict] = set()
    if all(2 * votes_for <= planned for votes_for in counts.values()):  # all that is left may be unusable
        found.add("UNCLEAR" if votes else unusable)
        if not votes and left and planned > 1:
            found.add("UNCLEAR")
    for verdict, votes_for in counts.items():
        if 2 * (votes_for + left) <= planned:
            continue
        if verdict != "FAIL" or any(vote.holds for vote in votes if vote.verdict == "FAIL"):
            found.add(verdict)
        else:
            found |= {unverified, "FAIL"} if left else {unverified}
    return found


def next_round(votes: Sequence[Cast], left: int, planned: int) -> int:
    """How many repetitions to ask at once: as many as are needed whatever they answer, at least one.

    The verdict is open until another one than UNCLEAR, which it is without a majority, has won or can't win any more.
    """
    shortfall = planned // 2 + 1 - max(n for verdict, n in _counts(votes).items() if verdict != "UNCLEAR")
    return max(1, min(shortfall, left - shortfall + 1))


def fewest(planned: int) -> int:
    """The number of replies after which `planned` votes may be decided at the earliest."""
    majority = planned // 2 + 1
    return min(majority, planned - majority + 1) if planned else 0


def _counts(votes: Sequence[Cast]) -> dict[Verdict, int]:
    counts: dict[Verdict, int] = {"PASS": 0, "FAIL": 0, "UNCLEAR": 0, "NOT_APPLICABLE": 0}
    for vote in votes:
        counts[vote.verdict] += 1
    return counts
