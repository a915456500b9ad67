"""What an expression says at a place, and what could be written there."""

import pytest

from rulewright.documents.vocabulary import invisiblebench
from rulewright.expression.environment import Environment
from rulewright.lower.expressions import scenario_environment, verdict_environment
from rulewright.lower.workflow_guards import TaskFeatures, loop_environment
from rulewright.lsp.cursor import MARK
from rulewright.lsp.expression_help import describe_at, suggestions_at

LOOP = loop_environment(TaskFeatures("composite", ("llm_judge",), pair=True, review=True, gate=True, hil=True))


def words(text: str, environment: Environment = LOOP) -> list[str]:
    return [word.text for word in suggestions_at(text.replace("|", MARK, 1), environment)]


def test_a_dot_offers_the_fields_of_a_record() -> None:
    assert words("review.|") == ["decision", "feedback", "iteration", "quality_checks"]


def test_a_comparison_with_an_enum_offers_its_members_first() -> None:
    assert words("review.decision == |")[:2] == ["GO", "NO_GO"]
    assert words("scenario.category in ['safety', |]", scenario_environment(invisiblebench()))[0] == "confidential"


def test_quotes_offer_the_members_of_an_enum_and_the_names_of_other_checks() -> None:
    assert words("scenario.category == '|'", scenario_environment(invisiblebench()))[0] == "confidential"
    checks = verdict_environment(None, (), ("no-promises", "brief"), invisiblebench())
    assert words("v('no-|').verdict == FAIL", checks) == ["no-promises", "brief"]
    assert words("v('brief').verdict == |", checks)[0] == "PASS"
    assert words("answer == '|'", checks) == []


def test_a_root_is_offered_next_to_constants_and_functions() -> None:
    offered = words("review.decision == GO && |")
    assert {"pair", "confidence_score", "metrics", "GO", "size", "mean"} <= set(offered)


def test_what_the_place_does_not_know_is_not_offered() -> None:
    assert "pair" not in words("|", scenario_environment(invisiblebench()))


def test_methods_are_those_of_the_type() -> None:
    of_text = words("review.feedback.|")
    assert "startsWith" in of_text
    assert "distinct" not in of_text
    of_list = words("scenario.tags.|", scenario_environment(invisiblebench()))
    assert {"exists", "distinct", "join"} <= set(of_list)
    assert "startsWith" not in of_list


def test_a_namespace_offers_its_functions() -> None:
    assert {"greatest", "abs"} <= set(words("math.|"))


def test_a_variable_of_a_macro_is_known_inside_it() -> None:
    assert words("scenario.tags.exists(t, |)", scenario_environment(invisiblebench()))[0] == "t"
    assert "cue_turn" in words("scenario.cue_anchors.exists(a, a.|)", scenario_environment(invisiblebench()))
    assert "t" not in words("scenario.tags.exists(t, t == 'a') && |", scenario_environment(invisiblebench()))


@pytest.mark.parametrize("text", ["(review.|", "size([review.|", "review.| == == ", "[1].exists(x, review.|"])
def test_what_is_still_open_is_closed_for_the_moment(text: str) -> None:
    assert "decision" in words(text)


@pytest.mark.parametrize("text", ["'a|'", "1 +* |", "b'|'", "nothing.|.x"])
def test_where_nothing_can_be_known_nothing_is_offered(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    ("text", "index", "said"),
    [
        ("review.decision == GO", 10, "decision: decision: GO | NO_GO"),
        ("review.decision == GO", 2, "review: review {decision, feedback, iteration, quality_checks}"),
        ("review.decision == GO", 20, "GO: a constant"),
        ("confidence_score >= 0.8", 3, "confidence_score: score"),
        ("confidence_score >= 0.8", 21, "score"),
        ("review.feedback.contains('a')", 18, "string.contains(string) -> bool"),
        ("size(review.feedback) > 1", 2, "size(string) -> int"),
    ],
)
def test_a_name_is_shown_with_its_type(text: str, index: int, said: str) -> None:
    found = describe_at(text, LOOP, index)
    assert found is not None
    assert found.text.splitlines()[1] == said


def test_the_place_of_a_meaning_is_the_name() -> None:
    text = "review.feedback.contains('a')"
    found = describe_at(text, LOOP, 18)
    assert found is not None
    assert text[found.start : found.end] == "contains"


@pytest.mark.parametrize(("text", "index"), [("a ==", 1), ("review.decision == GO", 17), ("nothing > 1", 3)])
def test_a_part_without_meaning_has_no_description(text: str, index: int) -> None:
    assert describe_at(text, LOOP, index) is None
