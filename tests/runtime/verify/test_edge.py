"""The edge: only windows that hold a hit are asked about, each with its own hits as evidence."""

from typing import Any

import pytest
from tests.runtime.plans import Scripted, check, judging, lexicon, plan, reply, talk

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.question import AnchoredWindow, EachReplyWindow, ExchangeWindow, WholeWindow, Window
from rulewright_runtime.plan.scan import CueAnchor, Scenario
from rulewright_runtime.plan.verifiers import Edge, LexiconVerifier
from rulewright_runtime.verdicts import VerdictResult

PASS = reply("PASS", code="quoted_only")
TALK = talk("hello", "Nothing here.", "again", "I promise to stay.", "and?", "Plain words.", "so", "I always do.")


def edged(window: Window, scenario: Scenario | None = None, *answers: Any) -> tuple[VerdictResult, Scripted]:
    """The verdict on a check whose hits go to a judge, and the judge with what it was asked."""
    own = window if isinstance(window, EachReplyWindow) else WholeWindow()
    one = check(LexiconVerifier("words", window=own, edge=Edge(judging(window=window))))
    judge = Scripted(*(answers or (PASS,)))
    (result,) = execute(plan(one, scenario=scenario), [TALK], judge)
    return result.verdicts[0], judge


def test_only_windows_with_a_hit_are_asked_about_each_with_its_own_hits() -> None:
    _, judge = edged(EachReplyWindow())
    assert [request.window for request in judge.requests] == [1, 3]
    first, second = (request.prompt for request in judge.requests)
    assert ("I promise" in first, "always" in first) == (True, False)
    assert ("I promise" in second, "always" in second) == (False, True)


def test_evidence_of_a_confirmed_window_is_in_that_window() -> None:
    fail = reply("FAIL", "I always do.", code="promised", turn=4)
    found, _ = edged(EachReplyWindow(), None, PASS, fail)
    assert found.verdict == "FAIL"
    assert [(span.turn, span.quote) for span in found.evidence] == [(4, "always"), (4, "I always do.")]


def test_an_edge_that_a_profile_disables_leaves_the_finding() -> None:
    one = check(LexiconVerifier("words", edge=Edge(judging(repetitions=0))))
    (result,) = execute(plan(one), [TALK], Scripted(PASS))
    assert [(each.verdict, each.rationale_code) for each in result.verdicts] == [("FAIL", "detected")]


def test_an_unknown_lexicon_is_asked_about_in_every_window_where_the_edge_says_so() -> None:
    one = check(LexiconVerifier("gone", edge=Edge(judging(window=EachReplyWindow()), on=("unclear",))))
    judge = Scripted(PASS)
    (result,) = execute(plan(one), [TALK], judge)
    assert [request.window for request in judge.requests] == [0, 1, 2, 3]
    assert result.verdicts[0].extra["edge"] == {"asked_on": "unclear", "verdict_before": "UNCLEAR"}


def test_all_hits_of_one_window_are_candidates_of_one_question() -> None:
    found, judge = edged(WholeWindow())
    assert len(judge.requests) == 1
    assert all(word in judge.requests[0].prompt for word in ('"I promise"', '"always"'))
    assert found.extra["edge"] == {"asked_on": "hit", "verdict_before": "FAIL"}


def test_exchanges_are_windows_like_any_other() -> None:
    found, judge = edged(ExchangeWindow())
    assert (found.verdict, len(judge.requests)) == ("PASS", 1)


def test_a_hit_outside_every_window_is_asked_about_at_its_place() -> None:
    scenario = Scenario(cue_anchors=(CueAnchor(1, 2),))
    found, judge = edged(AnchoredWindow(), scenario)
    assert [request.window for request in judge.requests] == [0, 1]
    assert "I always do." in judge.requests[1].prompt
    assert "Nothing here." not in judge.requests[1].prompt
    assert "| so\n" in judge.requests[1].prompt  # what the user said before it
    assert found.verdict == "PASS"


def test_an_unconfirmed_hit_anywhere_fails() -> None:
    scenario = Scenario(cue_anchors=(CueAnchor(1, 2),))
    found, _ = edged(AnchoredWindow(), scenario, PASS, reply("FAIL", "I always do.", turn=4))
    assert found.verdict == "FAIL"


@pytest.mark.parametrize("silent", [None, RuntimeError("away")])
def test_a_silent_edge_never_passes(silent: Any) -> None:
    found, _ = edged(EachReplyWindow(), None, silent)
    assert found.verdict == "UNCLEAR"
    assert found.adjudication_required


def test_a_user_s_hit_is_asked_about_with_its_answer() -> None:
    scenario = Scenario(cue_anchors=(CueAnchor(4, 4),))
    one = check(LexiconVerifier("cue", edge=Edge(judging(window=AnchoredWindow()))))
    judge = Scripted(PASS)
    list(execute(plan(one, scenario=scenario, lexicons={"cue": lexicon("hello", role="user")}), [TALK], judge))
    assert "Nothing here." in judge.requests[0].prompt
    assert "Plain words." not in judge.requests[0].prompt
