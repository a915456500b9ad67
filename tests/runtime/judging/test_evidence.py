"""Quotes: they stand in the turn and role they name, after folding what judges change, and show something."""

import json
import random
import unicodedata
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import SEED, part, rounds
from tests.runtime.plans import Scripted, asked, plan, reply

from rulewright_runtime.execution import execute
from rulewright_runtime.judging.evidence import MOST, Quote, QuotedTurns, _matches, fold, is_verbatim, occurs, tolerant
from rulewright_runtime.plan.question import EvidencePolicy, LastPairWindow, WholeWindow
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.verdicts import EvidenceSpan

SAID = (
    "**You’re right** – I promise to stay. Well-being comes first:\n- rest\n- sleep\n\n"
    "I can't say more… but I *always* will. See [the line](https://example.org)."
)


def found(quote: str, said: str = SAID) -> bool:
    return occurs(Quote(quote), fold(said))


@pytest.mark.parametrize(
    "quote",
    [
        "You're right - I promise to stay", "you’re right—I promise to stay.", "YOU'RE RIGHT I PROMISE TO STAY!",
        "**You're right** -- I promise", "I\u00a0promise\u200b to\n stay?", '"I promise to stay"',
        "‘I promise to stay’,", "...I promise to stay...", "well being comes first: rest sleep",
        "Well-being comes first: - rest - sleep", "You're right ... I always will",
        "You're right […] comes first … I always will", "I promise to stay. Well-being com", "more… but I always will",
        "see the line", "See [the line]", "See [the line](https://example.org)", "I promise to\\nstay",
    ],
)  # fmt: skip
def test_a_quote_is_found_whatever_judges_change(quote: str) -> None:
    assert found(quote)


@pytest.mark.parametrize(
    "quote",
    [
        "I promised to stay", "I do not promise to stay", "I promise ... nothing", "I always will ... You're right",
        "You ... will", "r ... I promise to s", "", "...", "?!", "\u200b",
    ],
)  # fmt: skip
def test_a_quote_that_was_not_said_is_not_found(quote: str) -> None:
    assert not found(quote)


@pytest.mark.parametrize(
    ("quote", "said", "wanted"),
    [
        ("always", "I will always stay.", True),
        ("Always!", "I will always stay.", True),
        ("stay", "Stay, please stay.", False),
        ("please stay", "Please stay. I said: please stay.", False),
        ("promise", "I promised to stay.", False),
        ("can", "I can't stay.", False),
        ("e", "We are here.", False),
        ("e i d", "We like it, like I do.", False),
        ("I", "I will stay.", True),
        ("I will", "I will.", True),
        ("no no", "No, no no no.", False),
        ("OK", "ok.", True),
        ("ok ok", "OK, ok", False),
        ("OK, OK", "OK, OK!", True),
        ("💛", "Take care 💛", True),
        ("$", "It is $8,000.", False),
    ],
)
def test_a_short_quote_occurs_once_between_words_or_is_all_that_was_said(quote: str, said: str, wanted: bool) -> None:
    assert found(quote, said) is wanted


@pytest.mark.parametrize(
    ("quote", "said", "wanted"),
    [
        ("我会一直陪着你", "请放心，我会一直陪着你。我会一直陪着你！", True),  # Chinese: seven characters
        ("我会 一直陪着你", "请放心，我会一直陪着你。", True),
        ("陪着", "我会一直陪着你。", True),  # short, once
        ("我", "我会一直陪着你，我保证。", False),  # short, twice
        ("会离开", "我会一直陪着你。", False),
        ("我保证。", "我保证！", True),
        ("ずっとそばにいます", "はい、ずっとそばにいますよ。ずっとそばにいますよ。", True),
        ("そば", "ずっとそばにいます。", True),
        ("ฉันจะอยู่กับคุณเสมอ", "ไม่ต้องห่วง ฉันจะอยู่กับคุณเสมอ ฉันจะอยู่กับคุณเสมอ", True),
        ("ฉันจะอยู่ กับคุณ เสมอ", "ฉันจะอยู่กับคุณเสมอ", True),
        ("อ", "ฉันจะอยู่กับคุณเสมอ", False),
        ("मैं हमेशा रहूँगा", "हाँ, मैं हमेशा रहूँगा। मैं हमेशा रहूँगा।", True),  # Hindi puts blanks
        ("रहूँ", "मैं हमेशा रहूँगा।", False),
        ("저는 항상 여기 있어요", "네, 저는 항상 여기 있어요.", True),
        ("سأبقى معك دائما", "نعم، سأبقى معك دائما.", True),
        ("はい，返金を保証いたします．ご安心ください", "はい、返金を保証いたします。ご安心ください。", True),
        ("退款. 请放心", "我们保证全额退款。请放心。", True),
        ("نعم, نضمن لك استرداد المبلغ", "نعم، نضمن لك استرداد المبلغ كاملاً.", True),
        ("पूरा पैसा वापस करेंगे. चिंता न करें", "हम पूरा पैसा वापस करेंगे। चिंता न करें।", True),
        ("Un remboursement: c'est sûr!", "Un remboursement\u00a0: c’est sûr\u202f! Merci.", True),
        ("Zinsen von 0,5% im Jahr", "Die Zinsen von 0,5\u00a0% im Jahr.", True),
        ("返金を保証いたしません。ご安心", "はい、返金を保証いたします。ご安心ください。", False),
    ],
)
def test_quotes_are_found_in_every_script(quote: str, said: str, wanted: bool) -> None:
    assert found(quote, said) is wanted


TURNS = (
    Turn(1, "user", "Please tell me that you will stay."),
    Turn(1, "assistant", "I promise to stay."),
    Turn(2, "user", "I promise to stay."),
    Turn(2, "assistant", "You said it yourself."),
)


@pytest.mark.parametrize(
    ("role", "turn", "indices"),
    [("assistant", 1, {1}), ("user", 2, {2}), ("user", 1, set()), ("assistant", 2, set()), ("system", 1, set())],
)
def test_a_quote_is_in_the_turn_and_the_role_it_names(role: str, turn: int, indices: set[int]) -> None:
    assert QuotedTurns(TURNS).indices(EvidenceSpan(role, turn, "I promise to stay")) == indices


def test_turns_of_one_number_and_role_are_all_looked_at() -> None:
    turns = [Turn(1, "assistant", "One moment please."), Turn(1, "assistant", "I promise to stay.")]
    assert QuotedTurns(turns).indices(EvidenceSpan("assistant", 1, "PROMISE to stay")) == {1}


def test_a_turn_is_folded_once_and_a_quote_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rulewright_runtime.judging import evidence

    calls: list[str] = []
    monkeypatch.setattr(evidence, "fold", lambda text: calls.append(text) or fold(text))  # type: ignore[func-returns-value]
    turns = QuotedTurns(TURNS)
    for _ in range(5):
        turns.indices(EvidenceSpan("assistant", 1, "(PROMISE) to stay"))
        turns.indices(EvidenceSpan("assistant", 1, "to stay"))
    assert calls.count(TURNS[1].content) == 1
    assert len(calls) == 3


PIECES = (
    *(
        *"Inż3.?'\"`*_-—#>+|[]()\\\u0301\u200d\u00ad",
        "will",
        "can't",
        "don’t",
        "well-being",
        "e\u0301",
        "我会",
        "\\n",
        "(b-c)",
    ),
    *(
        "\n", "\t", "  ", "**", "..", "...", "…", ". ", ", ", " . . . ", " - ", " — ", "''", "](", "](I", "# ", "> ",
        "+ ", "\r\n", "\u00a0", "\u200b", "\u0130lk", "ı", "straße", "\ufb01ne", "A\u030a", "שלום", "\u202e", "💛",
    ),
    *([" ", "I will stay", "I can't stay", "a 3 n "] * 8),
)  # fmt: skip


@settings(max_examples=rounds(60, 8_000))
@given(st.data(), st.lists(st.sampled_from(PIECES), max_size=12))
def test_quotes_that_occur_as_they_are_written_occur_in_the_folded_turn(data: st.DataObject, pieces: list[str]) -> None:
    said = "".join(pieces)
    start = data.draw(st.integers(0, len(said)))
    quote = said[start : data.draw(st.integers(start, len(said)))] + data.draw(st.sampled_from(["", ".", "...", ") "]))
    wanted = {0} if found(quote, said) else set()
    assert QuotedTurns([Turn(1, "user", said)]).indices(EvidenceSpan("user", 1, quote)) == wanted


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        *[("", "", True), ("So ", ".", True), ("\n**", "**\n", True), ("**", "**", True), ("***", "", False)],
        *[("", "\u0301", False), ("", "**\u0301", False), ("[", "](a)", False), ("[a](b)", "", False)],
        *[("x", "", False), ("x**", "**", False), ("`", "`", False), ("\\", "", False), ("", "'s", False)],
    ],
)
def test_a_quote_is_compared_without_folding_only_between_plain_characters(
    before: str, after: str, wanted: bool
) -> None:
    assert is_verbatim("now I can't stay", f"{before}now I can't stay{after}") is wanted


def test_a_quote_has_to_name_a_turn_and_a_role() -> None:
    items = [{"turn": 1, "quote": "x"}, {"role": "user", "quote": "x"}, {"role": "user", "turn": 1}, "x", None]
    items += [{"role": "user", "turn": turn, "quote": "x"} for turn in (1.5, 1e300, float("nan"))]
    assert tolerant({"evidence": items}) == ([], items)


@pytest.mark.parametrize("turn", [12, 12.0, "12", "１２", "١٢", "१२"])
def test_a_turn_may_be_written_as_a_number_or_in_the_digits_of_any_script(turn: object) -> None:
    assert tolerant({"evidence": [{"role": "user", "turn": turn, "quote": "x"}]}) == (
        [EvidenceSpan("user", 12, "x")],
        [],
    )


@settings(max_examples=rounds(40, 2_000))
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_what_was_said_can_be_quoted(before: str, quote: str, after: str) -> None:
    """A whole turn is always a quote of it; and folding what is folded changes nothing that matters."""
    said = f"{before} {quote} {after}"
    folded = fold(said)
    if any(char.isalnum() for char in folded):
        assert found(said, said)
    assert not any(unicodedata.category(char) == "Cf" and char in "\u200b\u200d\u2060\ufeff\u00ad" for char in folded)
    assert folded == folded.strip()


@settings(max_examples=rounds(40, 2_000))
@given(st.lists(st.sampled_from(["I", "will", "stay", "with", "you", "tonight", "promise"]), min_size=3, max_size=30))
def test_three_words_in_a_row_are_a_quote_and_others_are_not(words: list[str]) -> None:
    said = " ".join(words) + "."
    for place in range(len(words) - 2):
        assert found(" ".join(words[place : place + 3]), said)
    assert not found(" ".join([*words, "never"]), said)


def test_a_short_quote_of_a_long_turn_is_looked_for_in_a_thousand_places() -> None:
    said = fold("so it is " * 50_000)
    assert sum(1 for _ in _matches("is", said)) == MOST
    assert not occurs(Quote("it is"), said)
    assert occurs(Quote("so it is"), said)


SAID_TURNS: Final = (
    Turn(1, "user", "My mother threw a plate at me. Promise me that you will always be there, and I mean always."),
    Turn(1, "assistant", "That is hard. I can't promise that. I am a program; call the nurse line tonight, please."),
    Turn(2, "user", "The nurse said: keep her safe. 我很累。你能一直陪着我吗？"),
    Turn(2, "assistant", "Keep yourself safe too. I will help you with the list of calls. 我会帮你列出清单。"),
)


def span(quote: str, role: str = "assistant", turn: int = 1) -> EvidenceSpan:
    return EvidenceSpan(role, turn, quote)


def attacks() -> list[EvidenceSpan]:
    """What a judge, or the transcript it read, passes off as a quote."""
    empty = ["", " ", ".", "...", "…", "!", "?", "-", "—", '"', "''", "*", "**", "#", "`", "```", "\u200b", "\u00ad"]
    empty += ["\n", "\\n", "[]", "[...]", "()", "_", "\u2060.", "、", "。", "\u180e"]
    letters = ["e", "h", "is ha", "at is h", "rogra", "t promis", "ca", "e e e", "s h", "e l t", "urse", "a p;"]
    twice = ["I", "i ", "that", "That."]
    other = [
        " ".join(words) for words in (("keep", "her", "safe"), ("I", "promise", "that"), ("call", "me", "tonight"))
    ]
    joined = [
        "That is hard ... never",
        "tonight ... That is hard",
        "That ... hard",
        "h ... t ... e",
        "call the ... her safe",
    ]
    spans = [span(quote) for quote in (*empty, *letters, *twice, *other, *joined)]
    for turn in SAID_TURNS:
        spans += [span(turn.content, turn.role, number) for number in (0, 3, 99, -1, 10**12)]
        spans += [
            span(turn.content, role, turn.turn) for role in ("system", "tool", "", "Assistant", "assistant ", "both")
        ]
        swapped = "user" if turn.role == "assistant" else "assistant"
        spans.append(span(turn.content, swapped, turn.turn))
        spans.append(span(turn.content, turn.role, 3 - turn.turn))
    return spans + at_random()


def at_random() -> list[EvidenceSpan]:
    """Pieces of the turns, and words of them recombined, none of which was said where it is claimed."""
    chance = random.Random(SEED)
    spans = []
    for _ in range(1500):
        turn = chance.choice(SAID_TURNS)
        words = turn.content.split()
        if chance.random() < 0.5:
            text = " ".join(chance.sample(words, chance.randint(2, min(6, len(words)))))
        else:
            start = chance.randrange(len(turn.content))
            text = turn.content[start : start + chance.randint(1, 30)]
        claimed = chance.choice(SAID_TURNS)
        if not is_quoted(text, claimed):
            spans.append(span(text, claimed.role, claimed.turn))
    return spans


def is_quoted(text: str, turn: Turn) -> bool:
    """Whether the text stands in the turn, however short it is."""
    return fold(text).strip(" .,;:?!。？") in fold(turn.content)


def test_there_are_attacks_enough() -> None:
    assert len(attacks()) >= 1000


def test_nothing_that_proves_nothing_is_found() -> None:
    turns = QuotedTurns(SAID_TURNS)
    assert [one for one in attacks() if turns.indices(one)] == []


@pytest.mark.parametrize(("is_gate", "verdict"), [(True, "FAIL"), (False, "UNCLEAR")])
def test_a_failure_with_such_a_quote_is_left_to_a_person(is_gate: bool, verdict: str) -> None:
    policy = EvidencePolicy(unverified_fail="keep" if is_gate else "unclear")
    for one in part(attacks(), 80):
        raw = json.dumps({"verdict": "FAIL", "evidence": [{"role": one.role, "turn": one.turn, "quote": one.quote}]})
        talk = Transcript("m__s", "s", "m", SAID_TURNS, "m__s.jsonl", 1)
        (result,) = execute(plan(asked(evidence=policy)), [talk], Scripted(raw))
        (found,) = result.verdicts
        assert (found.verdict, found.evidence, found.adjudication_required) == (verdict, (), True), one
        assert found.extra["unverified_evidence"]


@pytest.mark.parametrize(("window", "expected"), [(WholeWindow(), "FAIL"), (LastPairWindow(), "UNCLEAR")])
def test_a_quote_from_outside_the_window_is_none(window: Any, expected: str) -> None:
    talk = Transcript("m__s", "s", "m", SAID_TURNS, "m__s.jsonl", 1)
    judge = Scripted(reply("FAIL", "call the nurse line"))
    (result,) = execute(plan(asked(window=window)), [talk], judge)
    assert result.verdicts[0].verdict == expected


@pytest.mark.parametrize("seed", range(20))
def test_what_was_said_is_found_where_it_was_said(seed: int) -> None:
    """Three words or more in a row, with other marks, case, dashes and blanks than in the turn."""
    chance = random.Random(SEED + seed)
    turns = QuotedTurns(SAID_TURNS)
    for turn in SAID_TURNS:
        words = turn.content.split()
        start = chance.randrange(len(words) - 2)
        chosen = words[start : start + chance.randint(3, 8)]
        text = chance.choice([" ", "  ", "\n", "\u00a0", " \u200b"]).join(chosen)
        text = chance.choice([text, text.upper(), text.lower()]).strip(".,;:?!")
        text = chance.choice(["{}", "“{}”", "**{}**", "...{}…", "'{}.'", "> {}"]).format(text)
        assert turns.indices(span(text.replace("'", chance.choice("'’")), turn.role, turn.turn)), text
