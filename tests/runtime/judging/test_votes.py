"""Votes: a strict majority, of the cast or of the planned ones, and no question that can change nothing."""

import json
from functools import cache
from typing import Any

import pytest
from tests.shared_data import folder

from rulewright_runtime.judging.votes import Cast, VoteOutcome, count, is_settled, next_round


def test_every_published_vote_is_counted_the_same() -> None:
    path = folder("invisiblebench") / "expected" / "unit" / "votes.json"
    for votes, verdict, confidence, kept in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        outcome = count(tuple(map(Cast, votes)))
        assert (outcome.verdict, outcome.evidence_index) == (verdict, kept)
        assert outcome.confidence == pytest.approx(confidence, abs=1e-12)


def test_an_unusable_reply_never_shrinks_the_denominator() -> None:
    assert count((Cast("FAIL"),), planned=3) == VoteOutcome("UNCLEAR", 0.0, 0, 0)
    assert count((Cast("PASS"), Cast("PASS")), planned=3) == VoteOutcome("PASS", 2 / 3, 0, 2)
    assert count((Cast("PASS"), Cast("PASS")), planned=4) == VoteOutcome("UNCLEAR", 0.0, 0, 0)


def test_the_evidence_of_the_first_winning_vote_is_kept() -> None:
    assert count((Cast("FAIL"), Cast("PASS"), Cast("PASS")), planned=3).evidence_index == 1


def test_no_votes_are_unclear() -> None:
    assert count((), planned=3) == VoteOutcome("UNCLEAR", 0.0, None, 0)
    assert count(()) == VoteOutcome("UNCLEAR", 0.0, None, 0)


def test_the_evidence_of_a_vote_that_holds_comes_first() -> None:
    votes = (Cast("FAIL", holds=False), Cast("FAIL"), Cast("PASS"))
    assert count(votes, planned=3) == VoteOutcome("FAIL", 2 / 3, 1, 2)


REPLIES = (Cast("PASS"), Cast("FAIL"), Cast("FAIL", holds=False), Cast("UNCLEAR"), Cast("NOT_APPLICABLE"), None)


def final(votes: tuple[Cast, ...], planned: int, unusable: Any, unverified: Any) -> str:
    """The verdict of a ballot that is complete, and whether it is a FAIL that nothing proves."""
    if not votes:
        return str(unusable)
    outcome = count(votes, planned)
    assert outcome.evidence_index is not None
    if outcome.verdict != "FAIL" or votes[outcome.evidence_index].holds:
        return outcome.verdict
    return "unproven" if unverified == "FAIL" else str(unverified)


@pytest.mark.parametrize("planned", range(1, 8))
@pytest.mark.parametrize(("unusable", "unverified"), [("FAIL", "FAIL"), ("UNCLEAR", "UNCLEAR"), ("FAIL", "UNCLEAR")])
def test_asking_stops_exactly_when_no_further_reply_can_change_the_verdict_or_prove_it(
    planned: int, unusable: Any, unverified: Any
) -> None:
    """Over all sequences of replies; the order of votes never matters, so each multiset is looked at once."""

    @cache
    def ends(votes: tuple[Cast, ...], left: int) -> frozenset[str]:
        if left == 0:
            return frozenset({final(votes, planned, unusable, unverified)})
        return frozenset().union(*(ends(added(votes, reply), left - 1) for reply in REPLIES))

    def added(votes: tuple[Cast, ...], reply: Cast | None) -> tuple[Cast, ...]:
        return votes if reply is None else tuple(sorted((*votes, reply), key=REPLIES.index))

    seen: set[tuple[tuple[Cast, ...], int]] = set()
    waiting: list[tuple[tuple[Cast, ...], int]] = [((), planned)]
    while waiting:
        votes, left = waiting.pop()
        if (votes, left) in seen:
            continue
        seen.add((votes, left))
        settled = is_settled(votes, left, planned, unusable, unverified)
        assert settled == (len(ends(votes, left)) == 1), (votes, left)
        if not settled:
            size = next_round(votes, left, planned)
            assert 1 <= size <= left
            waiting += [(added(votes, reply), left - 1) for reply in REPLIES]
            if size > 1:  # none of the questions that are asked at once turns out to be needless
                assert all(
                    not is_settled(added(votes, reply), left - 1, planned, unusable, unverified) for reply in REPLIES
                )
    assert len(seen) > planned
