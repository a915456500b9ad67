"""The standing attacks are as many as the page on trust says: what is generated can't shrink unseen."""

from __future__ import annotations

from tests.attack import (
    test_cases,
    test_evidence,
    test_kills,
    test_races,
    test_random_scorecards,
    test_scorecards,
    test_terminal,
    test_transcripts,
)


def test_no_class_of_attacks_is_smaller_than_promised() -> None:
    promised = {
        "mutations of transcripts": (len(test_transcripts.ATTACKS), 150),
        "mutations of cases in the smallest shape": (min(len(test_cases.attacks(s)) for s in test_cases.SHAPES), 100),
        "scorecards": (len(test_scorecards.ATTACKS), 60),
        "random scorecards": (test_random_scorecards.CARDS, 100),
        "evidence files": (len(test_evidence.LIES), 70),
        "hostile texts through groups of commands": (len(test_terminal.CASES), 20),
        "kills of processes": (test_kills.KILLS, 60),
        "races of two writers": (len(test_races.RACES), 10),
    }
    assert {name: found for name, (found, least) in promised.items() if found < least} == {}
