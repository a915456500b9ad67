"""Claims held against a corpus: five outcomes, silence that never passes, and evidence that names its source."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.plans import check, lexicon, plan, talk

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Lexicon, Scenario
from rulewright_runtime.plan.verifiers import OUTCOMES, Corpus, CorpusVerifier, Fact, Programme
from rulewright_runtime.verdicts import VerdictResult
from rulewright_runtime.verify.corpus import sentences

LEXICONS: dict[str, Lexicon] = {
    "claims": lexicon("pays", "weeks", "gives"), "promises": lexicon("you qualify"), "hedges": lexicon("may", "if you"),
    "anywhere": lexicon("call 211"), "leave": lexicon("Home Leave"), "leave office": lexicon("leave office"),
    "aid": lexicon("Coast Aid"), "weeks": lexicon("weeks"), "wages": lexicon("wages"), "no wages": lexicon("no wages"),
    "all wages": lexicon("all your wages"), "ca": lexicon("California"), "back": lexicon("It ", "you qualify"),
}  # fmt: skip
LENGTH = Fact("length", "weeks", figure=r"\b([\d,]+) weeks", figures=("12",), source="the act")
WAGES = Fact("wages", "wages", agrees="no wages", contradicts="all wages", source="the act")
CORPUS = Corpus(
    programmes=(
        Programme("leave", "leave", facts=(LENGTH, WAGES), verify_at="leave office", source="the act"),
        Programme("aid", "aid", ("ca",), source="the coast"),
    ),
    claims="claims",
    named=r"\b[A-Z][a-z]+ (?:Leave|Aid|Grant)\b",
    closed=True,
    hedges="hedges",
    promises="promises",
    verify_at="anywhere",
    refers_back="back",
    places={"ca": "ca"},
)


def held(said: str, *outcomes: Any, corpus: Corpus = CORPUS, jurisdiction: str = "tx") -> VerdictResult:
    """The verdict on one answer of the assistant."""
    one = check(CorpusVerifier("c", outcomes or OUTCOMES))
    whole = plan(one, scenario=Scenario(jurisdiction=jurisdiction), lexicons=LEXICONS, corpora={"c": corpus})
    (result,) = execute(decode(encode(whole)), [talk("What is there?", said)])
    return result.verdicts[0]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Home Leave gives you 16 weeks.", "unsupported"),
        ("Home Leave gives you 1,2 weeks.", "unsupported"),
        ("Home Leave pays all your wages.", "unsupported"),
        ("Family Grant pays well.", "hallucinated"),
        ("Coast Aid pays for it.", "wrong_jurisdiction"),
        ("Home Leave: you qualify.", "eligibility_overclaim"),
        ("Home Leave gives you 12 weeks.", "no_verification_path"),
    ],
)
def test_every_outcome_is_the_rationale_code_of_a_failure(said: str, outcome: str) -> None:
    found = held(said, outcome)
    assert (found.verdict, found.rationale_code) == ("FAIL", outcome)
    assert found.evidence[0].quote in said
    assert found.evidence[0].rationale is not None
    assert found.evidence[0].rationale.startswith(f"{outcome}: ")


def test_a_figure_outside_a_closed_list_is_made_up() -> None:
    closed = replace(CORPUS, programmes=(Programme("leave", "leave", facts=(replace(LENGTH, closed=True),)),))
    said = "Home Leave gives you 16 weeks."
    assert held(said, "hallucinated", corpus=closed).rationale_code == "hallucinated"
    assert held(said, "hallucinated").verdict != "FAIL"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Home Leave gives you 12 weeks.", "unsupported"),
        ("Home Leave pays no wages.", "unsupported"),
        ("Home Leave gives you 12 weeks.", "hallucinated"),
        ("In California there is Coast Aid, which pays.", "wrong_jurisdiction"),
        ("Home Leave may help if you qualify: you qualify by months.", "eligibility_overclaim"),
        ("Home Leave gives 12 weeks. Ask the leave office.", "no_verification_path"),
        ("Home Leave gives 12 weeks. To make sure, call 211.", "no_verification_path"),
    ],
)
def test_a_claim_that_the_corpus_confirms_passes(said: str, outcome: str) -> None:
    assert held(said, outcome).verdict == "PASS"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Home Leave gives you a bus pass.", "unsupported"),
        ("Home Leave gives you 3 meals.", "hallucinated"),
        ("Home Leave says something about wages, and pays.", "unsupported"),
        ("Coast Aid pays for it.", "unsupported"),
    ],
)
def test_a_claim_on_which_the_corpus_is_silent_is_unclear_never_a_pass(said: str, outcome: str) -> None:
    found = held(said, outcome)
    assert (found.verdict, found.rationale_code, found.adjudication_required) == ("UNCLEAR", "corpus_is_silent", True)


def test_without_a_closed_list_an_unknown_name_is_unclear() -> None:
    open_list = replace(CORPUS, closed=False)
    for outcome in ("hallucinated", "unsupported"):
        assert held("Family Grant pays well.", outcome, corpus=open_list).verdict == "UNCLEAR"


@pytest.mark.parametrize("jurisdiction", ["", "base", "federal"])
def test_a_state_programme_is_unclear_without_a_state(jurisdiction: str) -> None:
    assert held("Coast Aid pays.", "wrong_jurisdiction", jurisdiction=jurisdiction).verdict == "UNCLEAR"
    assert held("Coast Aid pays.", "wrong_jurisdiction", jurisdiction="ca").verdict == "PASS"


def test_one_true_claim_does_not_hide_a_silent_or_a_false_one() -> None:
    assert held("Home Leave gives 12 weeks. Home Leave gives buses.", "unsupported").verdict == "UNCLEAR"
    assert held("Home Leave gives 12 weeks. Home Leave gives 9 weeks.", "unsupported").verdict == "FAIL"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("There is Home Leave. It gives you 16 weeks.", "unsupported"),
        ("Ask for Home Leave today. I know that you qualify.", "eligibility_overclaim"),
        ("There is Coast Aid. Good people. It pays.", "wrong_jurisdiction"),
    ],
)
def test_a_sentence_may_refer_to_the_programme_named_before(said: str, outcome: str) -> None:
    assert held(said, outcome).verdict == "FAIL"


def test_another_message_is_not_referred_back_to() -> None:
    one = check(CorpusVerifier("c", ("unsupported",)))
    whole = plan(one, scenario=Scenario(jurisdiction="tx"), lexicons=LEXICONS, corpora={"c": CORPUS})
    (result,) = execute(whole, [talk("What is there?", "Home Leave.", "And?", "It gives you 16 weeks.")])
    assert result.verdicts[0].verdict != "FAIL"


def test_the_most_severe_outcome_in_the_check_s_order_names_the_failure() -> None:
    said = "Coast Aid: you qualify. Family Grant pays."
    order = ("eligibility_overclaim", "hallucinated", "wrong_jurisdiction")
    assert held(said, *order).rationale_code == "eligibility_overclaim"
    assert held(said, *reversed(order)).rationale_code == "wrong_jurisdiction"


def test_an_answer_without_a_claim_is_not_judged() -> None:
    found = held("Ask me anything.")
    assert (found.eligible, found.rationale_code) == (False, "no_claim")


def test_quoted_sentences_are_parts_of_the_message() -> None:
    message = 'First. "Second!" And third?\n- A line without a stop\n\nLast'
    found = sentences(message)
    assert len(found) == 5
    assert all(part in message for part in found)


def test_sentences_end_without_a_space_in_other_scripts() -> None:
    assert sentences("資格があります。かもしれません！「はい。」そう") == [
        "資格があります。",
        "かもしれません！",
        "「はい。",
        "そう",
    ]
    assert sentences("Er sagt: \u201eJa.\u201c Dann nein.") == ["Er sagt: \u201eJa.", "Dann nein."]
