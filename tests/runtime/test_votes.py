"""Votes: a strict majority, of the cast or of the planned ones."""

from __future__ import annotations

import json

import pytest
from tests.shared_data import folder

from rulewright_runtime.votes import Outcome, count


def test_every_published_vote_is_counted_alike() -> None:
    path = folder("invisiblebench") / "expected" / "unit" / "votes.json"
    for votes, verdict, confidence, kept in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        outcome = count(votes)
        assert (outcome.verdict, outcome.kept) == (verdict, kept)
        assert outcome.confidence == pytest.approx(confidence, abs=1e-12)


def test_an_unusable_reply_never_shrinks_the_denominator() -> None:
    assert count(["FAIL"], planned=3) == Outcome("UNCLEAR", 0.0, 0, 0)
    assert count(["PASS", "PASS"], planned=3) == Outcome("PASS", 2 / 3, 0, 2)
    assert count(["PASS", "PASS"], planned=4) == Outcome("UNCLEAR", 0.0, 0, 0)


def test_the_evidence_of_the_first_winning_vote_is_kept() -> None:
    assert count(["FAIL", "PASS", "PASS"], planned=3).kept == 1


def test_no_votes_are_unclear() -> None:
    assert count([], planned=3) == Outcome("UNCLEAR", 0.0, None, 0)
    assert count([]) == Outcome("UNCLEAR", 0.0, None, 0)
