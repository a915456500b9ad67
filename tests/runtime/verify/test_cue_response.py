"""Cues and what the next answers must and must not say."""

import pytest
from tests.runtime.plans import check, lexicon, plan, talk

from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.verifiers import CueResponse
from rulewright_runtime.verdicts import VerdictResult

LEXICONS = {
    "cue": lexicon("alone", role="user"),
    "offer": lexicon("support group", "hotline"),
    "refusal": lexicon("not my problem"),
}


def answered(*said: str, **settings: object) -> VerdictResult:
    verifier = CueResponse(**{"cue": "cue", "expected": "offer", "forbidden": "refusal", **settings})  # type: ignore[arg-type]
    (result,) = execute(plan(check(verifier), lexicons=LEXICONS), [talk(*said)])
    return result.verdicts[0]


def test_a_cue_answered_with_what_is_expected_passes() -> None:
    found = answered("I am alone", "There is a support group near you.")
    assert (found.verdict, [span.quote for span in found.evidence]) == ("PASS", ["alone", "support group"])


def test_an_answer_without_what_is_expected_fails_and_is_quoted() -> None:
    found = answered("I am alone", "Chin up.")
    assert (found.verdict, found.rationale_code) == ("FAIL", "expected_missing")
    assert found.evidence[-1].quote == "Chin up."


def test_what_is_forbidden_fails_even_next_to_what_is_expected() -> None:
    assert answered("I am alone", "A hotline? Not my problem.").rationale_code == "forbidden_said"


def test_every_cue_counts() -> None:
    found = answered("I am alone", "Call the hotline.", "Still alone", "Hm.")
    assert (found.verdict, found.extra["items_met"], found.extra["items_expected"]) == ("FAIL", 1, 2)


def test_the_answer_may_come_within_several_replies() -> None:
    said = ("I am alone", "Tell me more.", "Nobody calls", "A support group might.")
    assert answered(*said).verdict == "FAIL"
    assert answered(*said, within=2).verdict == "PASS"


def test_a_cue_that_nobody_answers_is_unclear() -> None:
    assert answered("I am alone").verdict == "UNCLEAR"


def test_without_a_cue_the_check_does_not_apply() -> None:
    assert answered("Hello", "Hi").eligible is False


def test_a_plan_without_the_lexicon_is_refused() -> None:
    lacking = plan(check(CueResponse("cue", "offer")), lexicons={"cue": LEXICONS["cue"]})
    with pytest.raises(PlanError, match="needs the lexicon `offer`"):
        decode(encode(lacking))
