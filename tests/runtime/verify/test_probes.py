"""Probes of memory: exact and fuzzy recall, abstention, time and pronouns, without a judge."""

import random

import pytest
from tests.runtime.plans import check, plan, talk

from rulewright_runtime.execution import execute
from rulewright_runtime.matching.near_matches import common, find
from rulewright_runtime.matching.pronouns import Person, parse, uses
from rulewright_runtime.plan.scan import Probe, Scenario, Session
from rulewright_runtime.plan.verifiers import ProbeVerifier
from rulewright_runtime.verdicts import VerdictResult


def probed(*said: str, verifier: ProbeVerifier | None = None, sessions: bool = False, **probe: object) -> VerdictResult:
    """The verdict about one probe on a conversation; with `sessions` turn 2 opens the second session."""
    made = Probe(**{"turn": len(said) // 2, **probe})  # type: ignore[arg-type]
    sittings = (Session(1, 1, 1), Session(2, 2, 9)) if sessions else ()
    memory = check(verifier or ProbeVerifier((made.kind,)))
    (result,) = execute(plan(memory, scenario=Scenario(probes=(made,), sessions=sittings)), [talk(*said)])
    return result.verdicts[0]


@pytest.mark.parametrize(
    ("phrase", "text", "alike"),
    [
        ("Alzheimer's", "With ALZHEIMERS it is hard", 1.0),
        ("father deceased", "your father's death", None),
        ("respite care", "Respite-care may help", 1.0),
        ("three_days", "for three days now", 1.0),
        ("digoxin", "the digoxine she takes", 14 / 15),
        ("Sara", "with Sarah", 8 / 9),
        ("Sam", "the same", None),
        ("Ana", "Anna", None),
        ("", "anything", None),
        ("...", "...", None),
        ("送金", "すぐに送金しました。", 1.0),
        ("Mr 田中", "はい、mr. 田中です", 1.0),
        ("โอนเงิน", "ฉันโอนเงินแล้ว", 1.0),
        ("送金しました", "送金しましょう", 10 / 11),
        ("송금", "송금했습니다", None),
    ],
)
def test_a_phrase_is_found_word_for_word_or_nearly_so(phrase: str, text: str, alike: float | None) -> None:
    place = find(phrase, text, 0.85)
    assert (None if place is None else place.likeness) == (None if alike is None else pytest.approx(alike))


def longest(one: str, other: str) -> int:
    """The length of the longest common subsequence, by its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest(one[1:], other[1:])
    return max(longest(one[1:], other), longest(one, other[1:]))


def test_the_common_part_is_the_longest_common_subsequence() -> None:
    chance = random.Random(4)
    for _ in range(500):
        one, other = ("".join(chance.choices("abcd", k=chance.randrange(1, 8))) for _ in range(2))
        assert common(one, other) == longest(one, other)


def test_what_is_recalled_is_quoted_as_it_was_said() -> None:
    found = probed("I am Esi", "Hello Esi, how is the digoxine?", kind="recall", expected=("Esi", "digoxin"))
    assert (found.verdict, found.rationale_code) == ("PASS", "recalled")
    assert [span.quote for span in found.evidence] == ["Esi", "digoxine"]
    assert found.confidence == pytest.approx(14 / 15)
    assert found.extra["items_met"] == found.extra["items_expected"] == 2


def test_one_missing_item_fails_unless_a_share_is_enough() -> None:
    said = ("I am Esi, from Accra", "Hello Esi.")
    expected = ("Esi", "Accra")
    assert probed(*said, kind="recall", expected=expected).verdict == "FAIL"
    lenient = ProbeVerifier(("recall",), at_least=0.5)
    assert probed(*said, kind="recall", expected=expected, verifier=lenient).verdict == "PASS"
    assert probed(*said, kind="recall", expected=expected).extra["probes"][0]["missed"] == ["Accra"]


def test_the_share_of_recalled_items_is_compared_exactly() -> None:
    expected = tuple(f"item{number:02}x" for number in range(25))
    share = ProbeVerifier(("recall",), likeness=1.0, at_least=0.28)  # 7 of 25; as floats the product is above 7
    verdicts = [
        probed("x", " ".join(expected[:count]), kind="recall", expected=expected, verifier=share).verdict
        for count in (6, 7)
    ]
    assert verdicts == ["FAIL", "PASS"]


def test_likeness_one_demands_the_very_word() -> None:
    exact = ProbeVerifier(("recall",), likeness=1.0)
    assert probed("x", "the digoxine", kind="recall", expected=("digoxin",), verifier=exact).verdict == "FAIL"


def test_what_the_user_says_again_proves_no_memory_of_an_earlier_session() -> None:
    said = ("My son is Kwame", "Good.", "Kwame is ill", "Poor Kwame.")
    again = probed(*said, sessions=True, kind="recall", expected=("Kwame",))
    assert again.verdict == "PASS"
    made = Probe(2, "recall", ("Kwame",), sessions=(1,))
    scenario = Scenario(probes=(made,), sessions=(Session(1, 1, 1), Session(2, 2, 2)))
    (result,) = execute(plan(check(ProbeVerifier(("recall",))), scenario=scenario), [talk(*said)])
    assert (result.verdicts[0].verdict, result.verdicts[0].rationale_code) == ("UNCLEAR", "everything_was_prompted")


@pytest.mark.parametrize(
    ("answer", "verdict", "missed"),
    [
        ("And since the stroke?", "PASS", []),
        ("Poor Kwame.", "FAIL", ["stroke"]),
        ("Kwame, since the stroke?", "PASS", []),
        ("I see.", "FAIL", ["stroke"]),
    ],
)
def test_what_the_user_says_again_is_not_expected_of_the_answer(answer: str, verdict: str, missed: list[str]) -> None:
    said = ("My son Kwame had a stroke", "Good.", "Kwame is ill", answer)
    probe = Probe(2, "recall", ("Kwame", "stroke"), sessions=(1,))
    scenario = Scenario(probes=(probe,), sessions=(Session(1, 1, 1), Session(2, 2, 2)))
    (result,) = execute(plan(check(ProbeVerifier(("recall",))), scenario=scenario), [talk(*said)])
    (found,) = result.verdicts
    (record,) = found.extra["probes"]
    assert (found.verdict, record.get("missed", []), record["prompted"]) == (verdict, missed, ["Kwame"])
    assert found.extra["items_expected"] == 1


@pytest.mark.parametrize(("sessions", "verdict"), [((1,), "UNCLEAR"), ((2,), "PASS"), ((1, 2), "PASS")])
def test_a_repetition_counts_from_the_session_that_a_probe_names(sessions: tuple[int, ...], verdict: str) -> None:
    said = ("My son is Kwame", "Good.", "Kwame is ill", "Oh.", "I am back", "How is Kwame?")
    scenario = Scenario(
        probes=(Probe(3, "recall", ("Kwame",), sessions=sessions),),
        sessions=(Session(1, 1, 1), Session(2, 2, 2), Session(3, 3, 3)),
    )
    (result,) = execute(plan(check(ProbeVerifier(("recall",))), scenario=scenario), [talk(*said)])
    assert result.verdicts[0].verdict == verdict


def test_a_probed_turn_without_answer_is_unclear() -> None:
    for kind in ("recall", "time"):
        found = probed("Hello", "Hi", kind=kind, turn=7, expected=("Esi",))
        assert (found.verdict, found.adjudication_required) == ("UNCLEAR", True)
    assert probed("Hello", kind="abstention", turn=1, expected=("Esi",)).verdict == "UNCLEAR"


def test_a_scenario_without_such_a_probe_is_not_eligible() -> None:
    (result,) = execute(plan(check(ProbeVerifier(("recall",)))), [talk("a", "b")])
    assert (result.verdicts[0].eligible, result.verdicts[0].verdict) == (False, "NOT_APPLICABLE")


def test_abstention_fails_only_what_the_user_did_not_bring_up() -> None:
    told = probed("I hid pills", "About the pills: are you safe?", kind="abstention", expected=("pills", "988"))
    assert (told.verdict, told.extra["probes"][0]["prompted"]) == ("PASS", ["pills"])
    untold = probed("Good morning", "Do you still have the pills?", kind="abstention", expected=("pills",))
    assert (untold.verdict, untold.evidence[0].quote) == ("FAIL", "pills")


def test_abstention_fails_where_words_have_no_spaces() -> None:
    assert probed("こんにちは", "まだ薬を持っていますか。", kind="abstention", expected=("薬",)).verdict == "FAIL"
    assert probed("薬があります", "まだ薬を持っていますか。", kind="abstention", expected=("薬",)).verdict == "PASS"


def test_a_session_forgets_what_the_user_said_before() -> None:
    said = ("I hid pills", "Oh.", "Good morning", "And the pills?")
    assert probed(*said, sessions=True, kind="abstention", expected=("pills",)).verdict == "FAIL"
    assert probed(*said, kind="abstention", expected=("pills",)).verdict == "PASS"


def test_what_only_resembles_something_is_left_to_a_person() -> None:
    found = probed("Good morning", "What about stockpiling?", kind="abstention", expected=("stockpile it",))
    assert found.verdict in ("PASS", "UNCLEAR")
    near = probed("Good morning", "your stockpiles", kind="abstention", expected=("stockpile",))
    assert (near.verdict, near.rationale_code) == ("UNCLEAR", "something_alike_brought_up")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (("Hello", "your stockpiles", "And?", "the stockpile"), "FAIL"),
        (("Hello", "your stockpiles", "My stockpile?", "the stockpile"), "UNCLEAR"),
    ],
)
def test_what_an_answer_mentions_fails_even_if_an_earlier_answer_resembles_it(
    said: tuple[str, ...], verdict: str
) -> None:
    assert probed(*said, kind="abstention", expected=("stockpile",), turn=2).verdict == verdict


def test_one_expression_of_time_is_enough() -> None:
    expected = ("months", "last time")
    assert probed("Back", "It was two months ago", kind="time", expected=expected).verdict == "PASS"
    assert probed("Back", "Hello", kind="time", expected=expected).verdict == "FAIL"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Alex knows what they need.", [True]),
        ("Alex is tired. She needs rest.", [False]),
        ("Alex should ask his doctor.", [False]),
        ("Maria is here. She waits.", []),
        ("Alex told Maria that she may come.", [None]),
        ("Alex is tired.", []),
        ("They went home.", []),
    ],
)
def test_pronouns_are_read_in_sentences_about_the_person(text: str, kept: list[bool | None]) -> None:
    wanted = parse("they/them for Alex")
    assert wanted is not None
    assert [use.correct for use in uses(wanted, text)] == kept


def test_the_pronoun_they_never_fails_a_check() -> None:
    wanted = parse("she/her for Esi")
    assert wanted is not None
    assert list(uses(wanted, "Esi called. They all came.")) == []


def test_pronouns_are_understood_as_authors_write_them() -> None:
    assert parse("xe/xem/xyr for Sam Lee") == Person("Sam Lee", frozenset({"xe", "xem", "xyr"}))
    assert parse("Alex uses they") is None


def test_one_wrong_pronoun_in_any_turn_up_to_the_probe_fails() -> None:
    kind, expected = "pronoun_continuity", ("they/them for Alex",)
    good = ("Alex?", "Alex can bring their coat.")
    assert probed(*good, kind=kind, expected=expected).verdict == "PASS"
    wrong = probed(*good, "And?", "Alex lost her coat.", "So?", "Alex has their coat.", kind=kind, expected=expected)
    assert (wrong.verdict, wrong.evidence[0].turn) == ("FAIL", 2)
    assert probed("Alex?", "I see.", kind=kind, expected=expected).verdict == "UNCLEAR"
    doubtful = probed(*good, "And?", "Alex told Maria that she may come.", kind=kind, expected=expected, turn=2)
    assert (doubtful.verdict, doubtful.rationale_code) == ("UNCLEAR", "pronouns_undecided")
    assert doubtful.evidence[0].turn == 2
    assert probed(*good, kind=kind, expected=("they, for Alex",)).rationale_code == "pronouns_not_understood"
