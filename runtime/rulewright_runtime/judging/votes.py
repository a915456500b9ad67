"""Votes: combines the verdicts of a check's repetitions, and detects when further ones can't change the result."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from rulewright_runtime.plan.part import VERDICTS, Verdict

UNPROVEN: Final = "unproven"  # a FAIL without a vote that holds, which a further vote may still prove


class Cast(msgspec.Struct, frozen=True, cache_hash=True):
    """One usable vote; `holds` is False for a FAIL without a verified quote, if one is required."""

    verdict: Verdict
    holds: bool = True


class VoteOutcome(msgspec.Struct, frozen=True):
    """The verdict, the share of votes for it, and the index of the vote whose evidence counts (None without votes)."""

    verdict: Verdict
    confidence: float
    evidence_index: int | None
    votes_for: int


@lru_cache  # as of the other functions: there are few different ballots
def count(votes: tuple[Cast, ...], planned: int | None = None) -> VoteOutcome:
    """The verdict of a strict majority of the `planned` votes, or of the votes cast if `planned` is None.

    An unusable reply is not a vote, but with `planned` it stays in the denominator. The evidence is that of the first
    vote for the verdict that holds, else of the first vote for it. Without a majority the verdict is UNCLEAR with
    confidence 0 and the evidence of the first vote. Without votes it is UNCLEAR.
    """
    verdicts = [vote.verdict for vote in votes]
    denominator = len(votes) if planned is None else max(planned, len(votes))
    for verdict in dict.fromkeys(verdicts):
        votes_for = verdicts.count(verdict)
        if 2 * votes_for > denominator:
            chosen = [index for index, vote in enumerate(votes) if vote.verdict == verdict]
            evidence = next((index for index in chosen if votes[index].holds), chosen[0])
            return VoteOutcome(verdict, votes_for / denominator, evidence, votes_for)
    return VoteOutcome("UNCLEAR", 0.0, 0 if votes else None, 0)


@lru_cache
def is_settled(votes: tuple[Cast, ...], left: int, planned: int, unusable: Verdict, unverified: Verdict) -> bool:
    """Whether every result of the `left` repetitions gives the same verdict, and leaves the same FAIL unproven.

    `unusable` is the verdict if no reply is usable, `unverified` that of a majority for FAIL without a vote that holds.
    """
    return len(_attainable(votes, left, planned, unusable, unverified)) == 1


def _attainable(votes: tuple[Cast, ...], left: int, planned: int, unusable: Verdict, unverified: Verdict) -> set[str]:
    counts = _counts(votes)
    attainable: set[str] = set()
    if all(2 * votes_for <= planned for votes_for in counts.values()):  # all remaining replies may be unusable
        attainable.add("UNCLEAR" if votes else unusable)
        if not votes and left and planned > 1:
            attainable.add("UNCLEAR")
    for verdict, votes_for in counts.items():
        if 2 * (votes_for + left) <= planned:
            continue
        if verdict != "FAIL" or any(vote.holds for vote in votes if vote.verdict == "FAIL"):
            attainable.add(verdict)
        else:
            open_fail = UNPROVEN if unverified == "FAIL" else unverified
            attainable |= {open_fail, "FAIL"} if left else {open_fail}
    return attainable


@lru_cache
def next_round(votes: tuple[Cast, ...], left: int, planned: int) -> int:
    """The number of repetitions to request at once: the most that are needed whatever they answer, at least one.

    The verdict is UNCLEAR without a majority, so it is open until another verdict has won or can no longer win.
    """
    shortfall = planned // 2 + 1 - max(n for verdict, n in _counts(votes).items() if verdict != "UNCLEAR")
    return max(1, min(shortfall, left - shortfall + 1))


def fewest(planned: int) -> int:
    """The lowest number of replies that may decide `planned` votes."""
    majority = planned // 2 + 1
    return min(majority, planned - majority + 1) if planned else 0


def _counts(votes: tuple[Cast, ...]) -> dict[Verdict, int]:
    counts = dict.fromkeys(VERDICTS, 0)
    for vote in votes:
        counts[vote.verdict] += 1
    return counts
