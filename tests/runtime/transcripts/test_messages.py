"""Messages: what of a conversation becomes a turn, and what a conversation without a scenario is judged by."""

import msgspec
import pytest
from tests.runtime.plans import check, judging, plan, talk
from tests.runtime.programs import call, name, program

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.question import TextSegment, ValueSegment
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import JudgeVerifier, ProbeVerifier
from rulewright_runtime.transcripts.completeness import ScriptedScenario
from rulewright_runtime.transcripts.messages import (
    Conversation,
    Message,
    Part,
    ToolCall,
    Transcript,
    repeats,
    turns_of,
)
from rulewright_runtime.verdicts import VerdictResult

READS_SCENARIO = program(call("_==_", name("scenario.category"), "x"))
READS_CHECK = program(call("_==_", name("check.severity"), "S3"))


def message_of(role: str, *texts: str, **more: object) -> Message:
    return msgspec.convert({"role": role, "parts": [{"text": text} for text in texts], **more}, Message)


def chat(*messages: Message, **more: object) -> Transcript:
    return Transcript.of(Conversation("c", messages, **more), "chats.jsonl", 3)  # type: ignore[arg-type]


def verdicts(transcript: Transcript, *checks: Check) -> tuple[VerdictResult, ...]:
    (result,) = execute(plan(*checks), [transcript])
    assert result.errors == ()
    return result.verdicts


CALL = ToolCall("1", "balance", {"account": 7}, '{"account": 7}')
CHAT = (
    message_of("system", "Be brief."),
    message_of("user", "hello", "anyone?"),
    message_of("assistant", tool_calls=[CALL]),
    message_of("tool", '{"balance": 10}', tool_call_id="1"),
    message_of("assistant", "ten"),
    message_of("assistant", "I promise"),
    message_of("user", "thanks"),
    message_of("user", "bye"),
)


def test_messages_of_user_and_assistant_are_turns_of_which_no_two_share_number_and_role() -> None:
    turns = [(turn.turn, turn.role, turn.content) for turn in turns_of(CHAT)]
    assert turns == [
        (1, "user", "hello\nanyone?"),
        (1, "assistant", "ten"),
        (2, "assistant", "I promise"),
        (3, "user", "thanks"),
        (4, "user", "bye"),
    ]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (Message("user", (Part(text="look"), Part("image", reference="a.png"))), "look\n[image]"),
        (Message("assistant", refusal="I can't help with that."), "I can't help with that."),
        (Message("assistant", (Part(text="Sure"),), tool_calls=(CALL,)), "Sure"),
        (Message("assistant"), ""),
    ],
)
def test_a_turn_shows_texts_refusals_and_a_mark_for_each_medium(message: Message, shown: str) -> None:
    assert [turn.content for turn in turns_of([message])] == [shown]


@pytest.mark.parametrize(
    ("error", "is_error"), [("timeout", True), ({"code": 1}, True), (False, False), ("None", False)]
)
def test_an_error_of_a_message_is_that_of_its_turn_unless_it_says_that_there_is_none(
    error: object, is_error: bool
) -> None:
    (turn,) = turns_of([Message("assistant", (Part(text="ok"),), metadata={"error": error})])
    assert (turn.error is not None) == is_error


def test_turns_are_messages_and_messages_the_same_turns_again() -> None:
    transcript = talk("hello", "hi", "bye", "good day")
    assert transcript.conversation.scenario_id == "s"
    assert turns_of(transcript.conversation.messages) == transcript.turns


def test_a_transcript_keeps_the_conversation_it_is_a_view_of() -> None:
    transcript = chat(*CHAT)
    assert transcript.conversation.messages == CHAT
    assert (transcript.scenario_id, transcript.model, transcript.line) == ("", "unknown", 3)


def test_a_conversation_without_scenario_is_judged() -> None:
    (found,) = verdicts(chat(*CHAT), check())
    assert (found.verdict, found.evidence[0].turn) == ("FAIL", 2)


@pytest.mark.parametrize(
    "reading",
    [
        check(eligible=READS_SCENARIO),
        check(applies=READS_SCENARIO),
        check(ProbeVerifier(("recall",))),
        check(JudgeVerifier(judging(prompt=(TextSegment("Title:"), ValueSegment(READS_SCENARIO)), repetitions=0))),
    ],
)
def test_a_check_that_reads_the_scenario_does_not_apply_without_one_and_says_why(reading: Check) -> None:
    (found,) = verdicts(chat(*CHAT), reading)
    assert (found.verdict, found.eligible, found.rationale_code) == ("NOT_APPLICABLE", False, "no_scenario")


def test_an_exemption_that_reads_the_scenario_exempts_nothing_without_one() -> None:
    exempted = check(suppressed=READS_SCENARIO)
    (found,) = verdicts(chat(*CHAT), exempted)
    assert (found.verdict, found.extra.get("undecided")) == ("FAIL", None)


def test_a_condition_over_the_check_alone_still_holds_without_a_scenario() -> None:
    assert verdicts(chat(*CHAT), check(suppressed=READS_CHECK, fields={"severity": "S3"})) == ()


def test_a_conversation_without_scenario_cannot_be_cut_short_but_its_empty_reply_is_seen() -> None:
    assert ScriptedScenario(None).completeness(turns_of(CHAT)).gaps == ()
    gaps = (
        ScriptedScenario(None).completeness(turns_of([message_of("user", "hello"), message_of("assistant", "")])).gaps
    )
    assert [gap.kind for gap in gaps] == ["empty_reply"]


def test_what_the_system_says_is_not_searched_for_what_the_assistant_must_not_say() -> None:
    (found,) = verdicts(
        chat(message_of("system", "always"), message_of("user", "hi"), message_of("assistant", "ok")), check()
    )
    assert found.verdict == "PASS"


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("Nothing at all.", "No", False),
        ("Now I see:\nNo", "No", True),
        ("a  b\n", "ab", True),
        ("anything", " ", True),
        ("Well, there are ten euros in your account.", "there are ten euros in your account", True),
        ("Well, ten euros.", "ten euros", False),
    ],
)
def test_a_short_text_is_repeated_only_as_a_whole_line(text: str, part: str, expected: bool) -> None:
    assert repeats(text, part) is expected
