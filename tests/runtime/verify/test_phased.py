"""Three phases: candidates, a confirmation of each by typed fields, and a sweep that takes nothing back."""

import json
from typing import Any

import pytest
from tests.runtime.plans import Scripted, check, judging, lexicon, plan, reply, talk
from tests.runtime.programs import name, program

from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import BudgetExhaustedError, JudgeRequest
from rulewright_runtime.plan.question import ReplyField, Unusable
from rulewright_runtime.plan.verifiers import PhasedVerifier
from rulewright_runtime.verdicts import VerdictResult

FIELDS = (ReplyField("violation", "boolean"), ReplyField("kind", "words", ("none", "secrecy")))
VIOLATES = program(name("reply.violation"))
SAID = ("hello", "You have it, I promise.", "and?", "I always keep it.", "so", "Plain words.")
SWEPT = reply("PASS", code="clean")


def confirms(violation: bool, verdict: str | None = None, **fields: Any) -> str:
    """A reply to the confirmation."""
    verdict = verdict or ("FAIL" if violation else "PASS")
    return json.dumps({"verdict": verdict, "violation": violation, "kind": "none", **fields})


def phased(*answers: Any, said: tuple[str, ...] = SAID, repetitions: int = 1) -> tuple[VerdictResult, Scripted]:
    verifier = PhasedVerifier(
        "words",
        judging(fields=FIELDS, violates=VIOLATES, repetitions=repetitions, unusable=Unusable("FAIL"), budgets=(9,)),
        judging(repetitions=repetitions, budgets=(9,)),
    )
    judge = Scripted(*answers)
    one = check(verifier, primary_bucket="B", severity="S4_GATE", is_gate=True)
    (result,) = execute(plan(one, lexicons={"words": lexicon("i promise", "always")}), [talk(*said)], judge)
    return result.verdicts[0], judge


def purposes(judge: Scripted) -> list[str]:
    return [request.purpose for request in judge.requests]


def test_every_candidate_is_confirmed_and_then_the_rest_is_swept() -> None:
    found, judge = phased(confirms(False), confirms(False), SWEPT)
    assert purposes(judge) == ["confirm", "confirm", "sweep"]
    assert (found.verdict, found.rationale_code) == ("PASS", "clean")
    assert [one["quote"] for one in found.extra["phases"]["candidates"]] == ["I promise", "always"]
    assert all("Plain words." in each.prompt for each in judge.requests)  # the window is the conversation


def test_the_judge_is_given_the_fields_and_their_words() -> None:
    _, judge = phased(confirms(False), confirms(False), SWEPT)
    assert '"kind": "none" or "secrecy"' in judge.requests[0].prompt
    assert '"violation": a boolean' in judge.requests[0].prompt
    assert "violation" not in judge.requests[2].prompt


@pytest.mark.parametrize("sweep", [SWEPT, None, RuntimeError("away")])
def test_no_later_phase_overturns_a_confirmed_candidate(sweep: Any) -> None:
    found, judge = phased(confirms(True), confirms(False), sweep)
    assert found.verdict == "FAIL"
    assert purposes(judge) == ["confirm", "confirm"]
    assert found.evidence[0].quote == "I promise"


def test_a_sweep_finds_what_the_lexicon_missed() -> None:
    found, judge = phased(reply("FAIL", "Plain words."), said=("hello", "Plain words."))
    assert (found.verdict, purposes(judge)) == ("FAIL", ["sweep"])


def test_an_open_candidate_is_not_closed_by_a_clean_sweep() -> None:
    unclear = json.dumps({"verdict": "UNCLEAR", "violation": False, "kind": "none"})
    found, _ = phased(unclear, confirms(False), SWEPT)
    assert found.verdict == "UNCLEAR"


@pytest.mark.parametrize("confirmed", [[], [confirms(False), confirms(False)]])
def test_a_sweep_that_fails_without_a_quote_is_marked_for_scorecards(confirmed: list[str]) -> None:
    said = SAID if confirmed else ("hello", "Plain words.")
    found, _ = phased(*confirmed, reply("FAIL", "never said"), said=said)
    assert (found.verdict, found.extra["unverified_fail"]) == ("UNCLEAR", True)


@pytest.mark.parametrize(
    "answer",
    [
        reply("PASS"),
        confirms(False, kind="other"),
        confirms(True, "PASS"),
        confirms(False, "FAIL"),
        json.dumps({"verdict": "PASS", "violation": "no", "kind": "none"}),
        json.dumps({"verdict": "PASS", "violation": 0, "kind": "none"}),
    ],
)
def test_a_reply_that_misses_or_contradicts_its_fields_is_not_a_vote(answer: str) -> None:
    found, _ = phased(answer, confirms(False), SWEPT)
    assert (found.verdict, found.adjudication_required) == ("FAIL", True)
    assert found.extra["phases"]["candidates"][0]["fail_closed"]


class Limited(Scripted):
    """A judge whose budget ends after some answers."""

    def ask(self, request: JudgeRequest) -> str | None:
        if len(self.requests) == 1:
            raise BudgetExhaustedError("no more")
        return super().ask(request)


def test_an_exhausted_budget_leaves_a_confirmed_candidate_confirmed() -> None:
    verifier = PhasedVerifier("words", judging(fields=FIELDS, violates=VIOLATES), judging())
    one = check(verifier)
    (result,) = execute(plan(one), [talk(*SAID)], Limited(confirms(True)))
    assert result.verdicts[0].verdict == "FAIL"


def test_without_votes_the_check_is_switched_off_and_says_so() -> None:
    found, judge = phased(SWEPT, repetitions=0)
    assert (found.eligible, found.rationale_code, judge.requests) == (False, "disabled_by_scan_profile", [])
