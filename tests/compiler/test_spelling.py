"""Slips of the hand, and the words that they lead back to."""

import difflib
import random

import pytest
from tests.rounds import rounds

from rulewright.spelling import CloseMatches, did_you_mean, is_slip_of, slips_of


@pytest.mark.parametrize("slip", ["inevst", "ivest", "imvest", "invvest", "inbvest", "invets"])
def test_a_slip_of_the_hand_leads_back_to_its_word(slip: str) -> None:
    assert "invest" in slips_of(slip)


@pytest.mark.parametrize(("word", "other"), [("Prüfung", "Pruefung"), ("strasse", "straße"), ("smoerbrød", "smørbrød")])
def test_a_letter_that_is_written_as_two_is_one_slip(word: str, other: str) -> None:
    assert is_slip_of(word, other)
    assert is_slip_of(other, word)
    assert not is_slip_of("groesse", "größe")


@pytest.mark.parametrize("other", ["invest", "inlest", "nvest", "investor"])
def test_another_letter_is_no_slip_of_the_hand(other: str) -> None:
    assert "invest" not in slips_of(other)


@pytest.mark.parametrize(("known", "meant"), [(["word"], None), (["word", "sword"], "sword"), (["Word"], "Word")])
def test_no_word_is_meant_by_itself(known: list[str], meant: str | None) -> None:
    guess = did_you_mean("word", known)
    assert (guess and guess.meant) == meant


def names_at_random(count: int) -> list[str]:
    chance = random.Random(7)
    return ["gate_" + "".join(chance.choices("abcdefghij", k=8)) for _ in range(count)]


@pytest.mark.parametrize(("most", "cutoff"), [(1, 0.65), (3, 0.7), (5, 0.2)])
def test_close_matches_are_those_of_difflib(most: int, cutoff: float) -> None:
    names = [*names_at_random(rounds(20, 60)), "gate", "etag", "a", "aa", "x" * 250]
    words = CloseMatches(names)
    for name in names:
        for word in (name, name[1:], name[:-2], name[:3] + "ab" + name[4:], name[::-1], f"{name}{name}"):
            assert words.of(word, most, cutoff) == difflib.get_close_matches(word, names, most, cutoff)


def test_of_many_names_only_the_most_similar_are_compared_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    class Counted(difflib.SequenceMatcher[str]):
        def ratio(self) -> float:
            compared.append(self)
            return super().ratio()

    monkeypatch.setattr(difflib, "SequenceMatcher", Counted)
    names = names_at_random(1_000)
    words = CloseMatches(names)
    for name in names[:20]:
        assert words.of(name[:-1], 1, 0.65) == [name]
    assert len(compared) < 200
