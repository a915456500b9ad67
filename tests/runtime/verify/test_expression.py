"""Checks whose verdict is an expression: which condition decides, what can't be decided, and what is quoted."""

import math
from typing import Any

import pytest
from tests.runtime.plans import Scripted, asked, check, plan, reply

from rulewright.documents.vocabulary import invisiblebench
from rulewright.expression.build import build
from rulewright.expression.types import DYN
from rulewright.lower.expressions import verdict_environment
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, Role, ToolCall, Transcript
from rulewright_runtime.transcripts.view import View
from rulewright_runtime.verdicts import VerdictResult
from rulewright_runtime.verify import expression as expression_module


def says(role: Role, text: str, *calls: ToolCall, **more: Any) -> Message:
    return Message(role, (Part(text=text),) if text else (), tool_calls=calls, **more)


TALK = (
    says("user", "Where is my order?"),
    says("assistant", "I  Promise it ships today."),
    says("user", "Sure?"),
    says("assistant", "Yes."),
)


def expression(name: str = "X1", *, each: Any = "conversation", params: Any = None, **conditions: str) -> Check:
    types = tuple((name, DYN) for name in params or ())
    environment = verdict_environment(each, types, None, invisiblebench())
    built = {key: build(text, environment) for key, text in conditions.items()}
    needs = {path[1] for each in built.values() for path in each.reads if path[0] == "v"}
    programs = {key: part.program for key, part in built.items()}
    verifier = ExpressionVerifier(**programs, each=each, needs=tuple(sorted(needs)), parameters=params or {})
    return check(verifier, name)


def verdicts(*checks: Check, messages: tuple[Message, ...] = TALK, **recorded: Any) -> dict[str, VerdictResult]:
    compiled = decode(encode(plan(*checks)))
    (result,) = execute(compiled, [Transcript.of(Conversation("c", messages, **recorded))])
    assert not result.errors
    return {verdict.check_id: verdict for verdict in result.verdicts}


def verdict(messages: tuple[Message, ...] = TALK, recorded: Any = None, **written: Any) -> VerdictResult:
    return verdicts(expression(**written), messages=messages, **(recorded or {}))["X1"]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"fails": "true", "unclear": "true", "passes": "true"}, "FAIL"),
        ({"fails": "false", "unclear": "true", "passes": "true"}, "UNCLEAR"),
        ({"fails": "false", "unclear": "false", "passes": "true"}, "PASS"),
        ({"fails": "false", "unclear": "false", "passes": "false"}, "UNCLEAR"),
        ({"fails": "true"}, "FAIL"),
        ({"fails": "false"}, "PASS"),
        ({"passes": "true"}, "PASS"),
        ({"passes": "false"}, "FAIL"),
        ({"fails": "json(answer).a == 1"}, "UNCLEAR"),
        ({"fails": "json(answer).a == 1", "passes": "true"}, "UNCLEAR"),
        ({"passes": "usage.cost < 1.0"}, "UNCLEAR"),
        ({"passes": "expected == 'a'"}, "UNCLEAR"),
        ({"fails": "params.limit"}, "UNCLEAR"),
    ],
)
def test_fail_wins_then_unclear_then_pass_and_an_error_is_unclear(conditions: dict[str, Any], expected: str) -> None:
    assert verdict(params={"limit": 1}, **conditions).verdict == expected


@pytest.mark.parametrize(
    ("recorded", "expected"), [({"expected": "a"}, "PASS"), ({}, "FAIL"), ({"expected": None}, "FAIL")]
)
def test_a_condition_can_tell_whether_an_answer_is_expected(recorded: Any, expected: str) -> None:
    assert (
        verdict(recorded=recorded, passes="has(transcript.expected) and expected == transcript.expected").verdict
        == expected
    )


def test_a_condition_that_can_not_be_decided_says_why() -> None:
    found = verdict(passes="usage.cost < 1.0")
    assert found.rationale_code == "condition_undecided"
    assert found.cause == "error"
    assert found.adjudication_required
    assert found.extra == {"undecided": "no_such_key: no such key: `cost`"}


def test_each_reply_is_decided_alone_and_the_words_found_are_quoted() -> None:
    found = verdict(each="reply", fails="contains_any(turn.content, ['i promise', 'guaranteed'])")
    assert found.verdict == "FAIL"
    assert [(span.role, span.turn, span.quote) for span in found.evidence] == [("assistant", 1, "I  Promise")]
    assert found.extra == {"parts": 2, "failed": 1, "unclear": 0}


def test_a_part_without_a_place_that_was_found_is_quoted_as_a_whole() -> None:
    found = verdict(each="turn", fails="word_count(turn.content) > 4")
    assert [(span.turn, span.quote) for span in found.evidence] == [(1, "I  Promise it ships today.")]
    assert found.evidence[0].rationale == "word_count(turn.content) > 4"


@pytest.mark.parametrize(
    ("conditions", "compared"),
    [
        ({"fails": "size(replies) > 1 or size(replies) > 5"}, "2 > 1"),
        ({"fails": "params.limit <= 0.5 and size(turns) >= 2"}, "0.25 <= 0.5, 4 >= 2"),
        ({"passes": "size(replies) == 3"}, "2 == 3"),
        ({"fails": "true == true and 'a' < 'b'"}, ""),
        ({"fails": "size(replies) > 1 and replies.exists(r, contains_any(r.content, ['ships']))"}, ""),
        ({"fails": "size(replies) > 5"}, ""),
    ],
)
def test_the_numbers_that_decided_are_recorded_where_nothing_is_quoted(
    conditions: dict[str, Any], compared: str
) -> None:
    found = verdict(params={"limit": 0.25}, **conditions)
    assert found.extra == ({"compared": compared} if compared else {})


def test_what_is_found_in_the_whole_conversation_is_quoted_from_its_turn() -> None:
    found = verdict(fails="replies.exists(r, matches(r.content, 'ships [a-z]+'))")
    assert [(span.turn, span.quote) for span in found.evidence] == [(1, "ships today")]


def test_nothing_said_never_passes() -> None:
    found = verdict(fails="false", messages=(says("user", "Hello?"),))
    assert (found.verdict, found.rationale_code, found.cause) == ("UNCLEAR", "nothing_to_judge", "missing")
    assert verdict(each="reply", fails="false", messages=(says("user", "Hello?"),)).verdict == "UNCLEAR"


CALLS = (
    says("user", "Book it."),
    says("assistant", "", ToolCall("1", "find", {"seat": 4}), usage={"total_tokens": 7, "cost": 0.5}),
    says("tool", "free", tool_call_id="1"),
    says("assistant", "Done.", ToolCall("2", "book", None, "{oops"), usage={"prompt_tokens": 3, "total_tokens": 5}),
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("called_in_order(tool_calls, ['find', 'book'])", "PASS"),
        ("called(tool_calls, 'find', {'seat': 4})", "PASS"),
        ("tool_calls[0].result == 'free'", "PASS"),
        ("tool_calls[1].arguments.seat == 4", "UNCLEAR"),
        ("!has(tool_calls[1].arguments)", "PASS"),
        ("messages.exists(m, m.role == tool and m.text == 'free')", "PASS"),
        ("usage.total_tokens == 12", "PASS"),
        ("usage.input_tokens == 3", "UNCLEAR"),
        ("usage.cost == 0.5", "UNCLEAR"),
        ("same_text(answer, 'done.')", "PASS"),
        ("transcript.text.contains('user: Book it.')", "PASS"),
    ],
)
def test_conditions_read_messages_tool_calls_and_usage(condition: str, expected: str) -> None:
    assert verdict(passes=condition, messages=CALLS).verdict == expected


@pytest.mark.parametrize(
    ("condition", "quoted"),
    [
        ("called(tool_calls, 'book') and !called(tool_calls, 'ask')", ["book {oops"]),
        ("called(tool_calls, 'find', {'seat': 4})", ['find {"seat": 4}']),
        ("!called(tool_calls, 'find', {'seat': 5})", []),
        ("called(tool_calls, 'book') && answer.matches('Done')", ["book {oops"]),
        ("called(tool_calls.filter(c, c.name != 'find'), 'book')", ["book {oops"]),
        ("messages.exists(m, called(m.tool_calls, 'book'))", ["book {oops"]),
        ("called([{'name': 'pay', 'arguments': {}}], 'pay') && called(tool_calls, 'book')", ["book {oops"]),
    ],
)
def test_the_tool_calls_for_which_a_condition_holds_are_evidence(condition: str, quoted: list[str]) -> None:
    found = verdict(fails=condition, messages=CALLS)
    assert (found.verdict, [(span.role, span.turn, span.quote) for span in found.evidence][: len(quoted)]) == (
        "FAIL",
        [("assistant", 1, name) for name in quoted],
    )


def test_long_arguments_of_a_call_are_cut_in_its_evidence() -> None:
    call = ToolCall("1", "pay", {"note": "x" * expression_module.MAX_QUOTE})
    messages = (says("user", "Pay."), says("assistant", "Done.", call))
    (span,) = verdict(fails="called(tool_calls, 'pay')", messages=messages).evidence
    assert (span.quote.startswith('pay {"note": "xx'), len(span.quote)) == (True, expression_module.MAX_QUOTE)


@pytest.mark.parametrize("tokens", [-1, math.nan, math.inf, 10**400])
def test_a_usage_that_was_not_recorded_as_a_number_passes_no_limit(tokens: float) -> None:
    messages = (says("user", "Hello?"), says("assistant", "Yes.", usage={"cost": tokens, "output_tokens": tokens}))
    for field in ("cost", "output_tokens"):
        assert verdict(fails=f"usage.{field} > 5", messages=messages).verdict == "UNCLEAR"


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("1", "1", "2", "2"), ["broken", "fine"]),
        (("1", "1", "1", "1"), ["broken", "fine"]),
        (("", "", "", ""), ["broken", "fine"]),
        (("1", "", "2", ""), ["broken", "fine"]),
        (("2", "1", "1", "1"), [None, "fine\nbroken"]),
    ],
)
def test_no_result_of_a_tool_hides_another(ids: tuple[str, ...], expected: list[str | None]) -> None:
    messages = (
        *(says("assistant", "", ToolCall(ids[0], "find", {})), says("tool", "broken", tool_call_id=ids[1])),
        *(says("assistant", "", ToolCall(ids[2], "find", {})), says("tool", "fine", tool_call_id=ids[3] or None)),
    )
    calls = View(Transcript.of(Conversation("c", messages))).tool_calls
    assert [each.get("result") for each in calls] == expected


def test_results_without_end_are_joined_once() -> None:
    """Joined one by one, they would be copied for minutes."""
    results = [says("tool", "x" * 2000, tool_call_id="1")] * 20_000
    messages = (says("assistant", "", ToolCall("1", "find", {})), *results)
    (call,) = View(Transcript.of(Conversation("c", messages))).tool_calls
    assert call["result"] == "\n".join(["x" * 2000] * 20_000)


def test_a_check_of_every_tool_call_does_not_apply_where_none_was_made() -> None:
    assert verdict(each="tool_call", passes="has(tool_call.arguments)").verdict == "NOT_APPLICABLE"
    found = verdict(each="tool_call", passes="has(tool_call.arguments)", messages=CALLS)
    assert found.verdict == "FAIL"
    assert [(span.role, span.quote) for span in found.evidence] == [("assistant", "book {oops")]


def test_conditions_read_their_parameters_and_the_answer_that_was_expected() -> None:
    recorded = {"expected": "yes"}
    written: dict[str, Any] = {
        "params": {"least": 2},
        "passes": "same_text(answer, expected + '.') and size(turns) > params.least",
    }
    assert verdict(recorded=recorded, **written).verdict == "PASS"


def test_a_check_that_reads_the_scenario_does_not_apply_without_one() -> None:
    found = verdict(passes="scenario.category == 'safety'")
    assert (found.verdict, found.rationale_code) == ("NOT_APPLICABLE", "no_scenario")


def test_a_check_reads_the_verdicts_of_others_anywhere_in_its_conditions() -> None:
    first = expression("A", fails="v['B'].verdict == FAIL and v['C'].verdict == PASS")
    found = verdicts(first, expression("B", fails="v['C'].verdict == PASS"), expression("C", passes="true"))
    assert {name: each.verdict for name, each in found.items()} == {"A": "FAIL", "B": "FAIL", "C": "PASS"}
    assert list(found) == ["A", "B", "C"]


def test_a_check_reads_the_verdict_of_a_judge() -> None:
    (result,) = execute(
        plan(expression("A", passes="v['J'].verdict == PASS"), asked(name="J")),
        [Transcript.of(Conversation("c", TALK))],
        Scripted(reply("PASS")),
    )
    assert [each.verdict for each in result.verdicts] == ["PASS", "PASS"]


def test_a_verdict_that_is_not_there_leaves_unclear() -> None:
    found = verdicts(expression("A", fails="v['B'].verdict == FAIL"))["A"]
    assert (found.verdict, found.rationale_code) == ("UNCLEAR", "condition_undecided")


def test_a_plan_whose_checks_read_each_other_in_a_circle_is_refused() -> None:
    circle = [expression("A", fails="v['B'].eligible"), expression("B", fails="v['A'].eligible")]
    with pytest.raises(PlanError, match=r"in a cycle: `\w` -> `\w` -> `\w`"):
        decode(encode(plan(*circle)))


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"fails": 'v("base").verdict == FAIL'}, "UNCLEAR"),
        ({"passes": 'v("base").verdict != FAIL'}, "UNCLEAR"),
        ({"fails": "false", "unclear": 'v("base").verdict == FAIL'}, "UNCLEAR"),
        ({"fails": 'v("base").verdict == FAIL and size(answer) > 1000'}, "PASS"),
        ({"passes": 'v("base").verdict == PASS or size(answer) < 1000'}, "PASS"),
        ({"fails": 'v("base").verdict != PASS or size(answer) < 1000'}, "FAIL"),
    ],
)
def test_a_check_passes_only_whatever_the_undecided_verdicts_that_it_reads_turn_out_to_be(
    conditions: dict[str, str], expected: str
) -> None:
    found = verdicts(expression("base", unclear="true", fails="false"), expression(**conditions))
    assert found["base"].verdict == "UNCLEAR"
    assert found["X1"].verdict == expected
    assert found["X1"].adjudication_required is (expected == "UNCLEAR")
    assert (found["X1"].rationale_code == "reads_an_undecided_verdict") is (expected == "UNCLEAR")


def test_a_fail_that_an_undecided_verdict_may_change_is_unproven() -> None:
    undecided = expression("base", unclear="true", fails="false")
    found = verdicts(undecided, expression(fails='v("base").verdict != PASS'))["X1"]
    assert (found.verdict, found.cause, found.adjudication_required) == ("FAIL", "unclear", True)
    reader = expression("X2", fails='v("X1").verdict == FAIL')
    assert verdicts(undecided, expression(fails='v("base").verdict != PASS'), reader)["X2"].cause == "unclear"


def test_no_answer_is_tried_after_one_that_changes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"u{number}" for number in range(6)]
    found, tried = expression_module._found, list[Any]()

    def counted(*given: Any) -> Any:
        tried.append(given)
        return found(*given)

    monkeypatch.setattr(expression_module, "_found", counted)
    undecided = [expression(name, unclear="true", fails="false") for name in names]
    reader = expression(fails=" || ".join(f'v("{name}").verdict == FAIL' for name in names))
    assert verdicts(*undecided, reader)["X1"].verdict == "UNCLEAR"
    assert len(tried) < 20  # of 729
