"""Negation: words that are denied in a text are distinguished from words that are said."""

import pytest

from rulewright_runtime.cases.second_opinions import is_negated

DENIED = [
    "no [fever]", "[no fever] at night", "There was no evidence of [fever].", "Patient denied any [chest pain]",
    "without [a new fracture]", "The [consent form] was not signed", "[fever] was ruled out", "[fever]: absent",
    "[infection] has been excluded", "She hadn't [fallen]", "She hadn’t [fallen]", "[can't walk]",
    "negative for [influenza]", "free of [pain]", "an [infection] is unlikely",
]  # fmt: skip
SAID = [
    "[fever] at night", "no cough, but [fever]", "No cough. [Fever] since Monday", "not sleeping; [fever]",
    "[fever] and no cough", "no cough, no chills however [fever] rose", "[notable fever]", "[fever] was noted",
    "It was not without [fever]",
    "the family was informed long ago about it, not that anybody of them had then asked for a [report]",
]  # fmt: skip


def split(text: str) -> tuple[str, int, int]:
    start, end = text.index("["), text.index("]") - 1
    return text.replace("[", "").replace("]", ""), start, end


@pytest.mark.parametrize("text", DENIED)
def test_words_are_denied_before_in_and_after_them(text: str) -> None:
    assert is_negated(*split(text))


@pytest.mark.parametrize("text", SAID)
def test_a_denial_in_another_clause_or_far_away_is_none(text: str) -> None:
    assert not is_negated(*split(text))


def test_a_phrase_by_itself_may_be_a_denial() -> None:
    assert is_negated("no recovery bed")
    assert not is_negated("recovery bed")
