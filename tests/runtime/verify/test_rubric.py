"""Criteria of rubrics: binary, ordinal and autofail, put to a judge about one answer."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runtime.plans import Scripted, check, judging, plan, talk
from tests.runtime.programs import call, name, program

from rulewright_runtime.execution import execute
from rulewright_runtime.judging.replies import reader, why_unusable
from rulewright_runtime.plan.question import ReplyField
from rulewright_runtime.plan.verifiers import RubricVerifier
from rulewright_runtime.verdicts import VerdictResult

LEVELS = ("0", "1", "2", "3")


def criterion(kind: str = "binary", repetitions: int = 1, **settings: Any) -> RubricVerifier:
    asked = judging(repetitions=repetitions)
    if kind == "ordinal":
        lowest = program(call("_==_", name("reply.level"), "0"))
        asked = replace(asked, fields=(ReplyField("level", "level", LEVELS),), violates=lowest)
        settings.setdefault("levels", LEVELS)
    return RubricVerifier(**{"judging": asked, "turn": 1, "kind": kind, **settings})


def verdict_for(
    verifier: RubricVerifier, *answers: Any, texts: tuple[str, ...] = ("Hi", "Hello there")
) -> VerdictResult:
    judge = Scripted(*answers)
    (result,) = execute(plan(check(verifier)), [talk(*texts)], judge)
    assert all("[turn 2" not in request.prompt for request in judge.requests)
    return result.verdicts[0]


def answer(verdict: str, **fields: Any) -> str:
    quotes = [{"role": "assistant", "turn": 1, "quote": "Hello"}]
    return json.dumps({"verdict": verdict, "evidence": quotes, **fields})


@pytest.mark.parametrize(("verdict", "points"), [("PASS", 1), ("FAIL", 0)])
def test_a_binary_criterion_is_worth_one_point(verdict: str, points: int) -> None:
    found = verdict_for(criterion(weight=2.0, dimension="safety"), answer(verdict))
    assert (found.extra["points"], found.extra["of"], found.extra["weight"]) == (points, 1, 2.0)


@pytest.mark.parametrize(("level", "verdict", "points"), [("0", "FAIL", 0), ("2", "PASS", 2), ("3", "PASS", 3)])
def test_an_ordinal_criterion_is_worth_its_level(level: str, verdict: str, points: int) -> None:
    found = verdict_for(criterion("ordinal"), answer(verdict, level=level))
    assert (found.verdict, found.extra["points"], found.extra["of"]) == (verdict, points, 3)


def test_of_several_levels_the_one_most_votes_named_counts_and_of_equals_the_lowest() -> None:
    votes = [answer("PASS", level=level) for level in ("3", "2", "2")]
    assert verdict_for(criterion("ordinal", 3), *votes).extra["points"] == 2
    votes = [answer("PASS", level=level) for level in ("3", "1", "2")]
    assert verdict_for(criterion("ordinal", 3), *votes).extra["points"] == 1


def test_a_level_that_contradicts_the_verdict_makes_the_reply_unusable() -> None:
    found = verdict_for(criterion("ordinal"), answer("PASS", level="0"))
    assert (found.verdict, "points" in found.extra) == ("UNCLEAR", False)


@pytest.mark.parametrize("verdict", ["UNCLEAR", "NOT_APPLICABLE"])
@pytest.mark.parametrize("fields", [{}, {"level": "0"}, {"level": "2"}, {"level": None}])
def test_a_reply_that_decides_nothing_needs_no_level(verdict: str, fields: dict[str, str | None]) -> None:
    found = verdict_for(criterion("ordinal"), answer(verdict, **fields))
    assert (found.verdict, found.rationale_code, "points" in found.extra) == (verdict, None, False)


def test_a_level_may_be_written_as_a_number() -> None:
    reply = json.dumps({"verdict": "PASS", "level": 2, "evidence": []})
    assert verdict_for(criterion("ordinal"), reply).extra["points"] == 2
    assert verdict_for(criterion("ordinal"), reply.replace("2", "0")).verdict == "UNCLEAR"


def test_a_reply_that_decides_needs_a_level() -> None:
    found = verdict_for(criterion("ordinal"), answer("PASS"), answer("FAIL"), answer("PASS", level="much"))
    assert (found.verdict, found.rationale_code) == ("UNCLEAR", "verifier_infrastructure_failure")


def test_a_verdict_without_a_level_is_worth_nothing() -> None:
    found = verdict_for(criterion("ordinal", judging=judging()), answer("PASS"))
    assert (found.verdict, found.extra["points"], found.extra["of"]) == ("PASS", 0, 3)


def test_a_criterion_that_a_profile_disables_does_not_apply() -> None:
    found = verdict_for(criterion(repetitions=0))
    assert (found.eligible, found.rationale_code) == (False, "disabled_by_scan_profile")


def test_an_autofail_has_no_points() -> None:
    found = verdict_for(criterion("autofail"), answer("FAIL"))
    assert (found.verdict, "points" in found.extra) == ("FAIL", False)


def test_an_unclear_criterion_has_no_points() -> None:
    assert "points" not in verdict_for(criterion(), answer("UNCLEAR")).extra


def test_only_the_turn_of_the_criterion_is_judged() -> None:
    assert verdict_for(criterion(), answer("PASS"), texts=("Hi", "Hello there", "More", "Secret")).verdict == "PASS"


def test_a_turn_that_was_not_answered_is_unclear() -> None:
    assert verdict_for(criterion(turn=2), answer("PASS")).rationale_code == "nothing_to_judge"


def test_a_criterion_of_a_branch_counts_only_where_it_was_taken() -> None:
    assert verdict_for(criterion(branch="b"), answer("PASS")).eligible is False
    assert verdict_for(criterion(unless=("b",)), answer("PASS")).eligible is True


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"verdict": "PASS", "level": 2}, "the reply's field `count` is not of the type `integer`"),
        ({"verdict": "PASS", "level": 4}, "the reply's field `level` is not `0`, `1`, `2` or `3`"),
        ({"verdict": "PASS", "level": 2.0}, "the reply's field `level` is not `0`, `1`, `2` or `3`"),
        ({"verdict": "PASS", "level": "1", "count": "two"}, "the reply's field `count` is not of the type `integer`"),
    ],
)
def test_a_reply_with_another_value_says_what_was_expected(reply: dict[str, object], why: str) -> None:
    asked = criterion("ordinal").judging
    asked = replace(asked, fields=(*asked.fields, ReplyField("count", "integer")))
    assert why_unusable(json.dumps({"evidence": [], **reply}), "", [reader(asked)]) == why
