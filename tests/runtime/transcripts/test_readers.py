"""Readers: the chats of every format, distinguished by their content, and the errors for other files."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.folders import json_lines
from tests.runtime.plans import check, plan
from tests.runtime.transcripts.formats import (
    ANSWER,
    ASKED,
    ATIF,
    BANK,
    BATCH,
    CHATS,
    CLAUDE,
    CODEX,
    EVENTS,
    GOOD,
    LOGGED,
    NATIVE,
    NO_NAME,
    OTLP,
    PROMISED,
    RESPONSE,
    SAID,
    SHAREGPT,
    SYSTEM,
    WITH_TOOL,
    conversations,
    lines,
    refusals,
    written,
)

from rulewright_runtime.execution import execute
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader


def test_a_chat_of_another_version_of_our_format_is_refused(tmp_path: Path) -> None:
    line = '{"format": "rulewright-chat", "version": 9, "messages": [{"role": "user", "content": "hi"}]}'
    (refused,) = refusals(tmp_path, line, "chat.jsonl")
    assert "version 9 of `rulewright-chat`; expected 1" in refused


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("inspect.eval", "inspect", [SYSTEM, *PROMISED]),
        ("inspect.json", "inspect", [SYSTEM, *PROMISED]),
        ("messages.parquet", "openai", PROMISED),
        ("messages.arrow", "openai", PROMISED),
        ("messages.jsonl", "openai", PROMISED),
        ("openinference.json", "otel", BANK),
        ("genai.json", "otel", BANK),
        ("langsmith.jsonl", "langsmith", BANK),
    ],
)
def test_what_a_tool_has_written_is_read(name: str, source: str, said: list[str]) -> None:
    found = conversations(CHATS / name)[-1]
    assert (found.source, lines(found)) == (source, said)


def test_of_the_spans_of_a_conversation_the_last_is_read_and_whatever_it_does_not_repeat(tmp_path: Path) -> None:
    def span(start: int, *texts: str) -> dict[str, Any]:
        said = [{"role": "user", "content": text} for text in texts]
        about = {"session.id": "s", "gen_ai.input.messages": said}
        return {"traceId": str(start), "spanId": "a", "startTimeUnixNano": start, "attributes": about}

    found = conversations(written(tmp_path, [span(3, "a", "b", "c"), span(1, "a"), span(2, "b"), span(4, "a", "b")]))
    assert [(chat.id, lines(chat)[-2]) for chat in found] == [
        ("s#1", "user: b"),
        ("s#2", "user: c"),
        ("s#3", "user: b"),
    ]


def test_a_sample_of_inspect_keeps_its_target_its_usage_and_its_tool_calls() -> None:
    found = conversations(CHATS / "inspect.eval")[0]
    assert (found.id, found.model, found.expected) == ("inspect:balance_1", "mockllm/model", "10")
    assert found.usage["total_tokens"] == 28
    assert [call.arguments for message in found.messages for call in message.tool_calls] == [{"account": "7"}]


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_a_result_of_promptfoo_is_a_conversation_with_its_expected_answer(name: str) -> None:
    first, second, *others = conversations(CHATS / name)
    asked = "Answer a customer of a bank: What is in account 7?"
    assert lines(first) == [f"user: {asked}", f"assistant: {asked}"]
    assert lines(second)[:2] == [SYSTEM, ASKED]
    assert (first.model, first.expected, len(others)) == ("echo", "There are 10 euros in your account.", 2)
    assert {name: first.usage[name] for name in ("cost", "latencyMs")} == {"cost": 0, "latencyMs": 2}


def test_a_cached_response_of_promptfoo_has_no_latency(tmp_path: Path) -> None:
    result = {"prompt": {"raw": "Hi"}, "vars": {}, "response": {"output": "Ho", "cached": True}, "latencyMs": 3}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": [result]}}), encoding="utf-8")
    (found,) = conversations(path)
    assert found.usage == {}


DEEPEVAL_USAGE = {"input_tokens": 20, "output_tokens": 8, "cost": 0.002}


@pytest.mark.parametrize(
    ("name", "expected", "usage", "kept"),
    [
        ("deepeval.json", ANSWER[11:], DEEPEVAL_USAGE, "additional_metadata"),
        ("deepeval-run.json", ANSWER[11:], DEEPEVAL_USAGE, "metricsData"),
        ("deepeval-conversations.jsonl", "The customer is told that this is a bank.", {}, "scenario"),
    ],
)
def test_a_case_of_deepeval_keeps_its_tools_its_passages_its_expected_answer_and_its_usage(
    name: str, expected: str, usage: dict[str, Any], kept: str
) -> None:
    (found,) = conversations(CHATS / name)
    talks = name == "deepeval-conversations.jsonl"
    *asked, answer = BANK[1:]
    assert lines(found) == [*asked, "tool retrieval: Account 7 holds 10 euros.", answer, *(PROMISED if talks else [])]
    assert (found.source, found.expected, found.usage) == ("deepeval", expected, usage)
    assert found.messages[1].reasoning == "Look it up."
    assert found.scenario_id == ("bank-night" if talks else None)
    assert kept in found.metadata


def test_the_latest_test_run_of_deepeval_is_read_as_the_run_in_it(tmp_path: Path) -> None:
    run = json.loads((CHATS / "deepeval-run.json").read_text())
    latest = {"testRunData": run, "testRunLink": None}
    (found,) = conversations(written(tmp_path, json.dumps(latest), ".latest_test_run.json"))
    assert (found.source, lines(found)) == ("deepeval", lines(conversations(CHATS / "deepeval-run.json")[0]))


def output_item(answer: str | None, **sample: Any) -> dict[str, Any]:
    """An output item of a run of OpenAI's Evals API."""
    said = [{"role": "assistant", "content": answer}] if answer else []
    held = {"input": [{"role": "user", "content": "2+2?"}], "output": said, "model": "m-1", "finish_reason": "stop"}
    results = [{"name": "string check", "passed": answer == "4", "score": 1.0}]
    about = {"object": "eval.run.output_item", "id": f"item_{answer}", "status": "pass", "results": results}
    return {**about, "datasource_item": {"question": "2+2?", "ideal": "4"}, "sample": {**held, "error": None, **sample}}


def test_output_items_of_openais_evals_are_read_as_a_page_or_one_per_line(tmp_path: Path) -> None:
    items = [output_item("4", usage={"prompt_tokens": 5}), output_item("5", error={"code": "", "message": ""})]
    page = json.dumps({"object": "list", "data": items, "has_more": False})
    for path in (written(tmp_path, items), written(tmp_path, page, "page.json")):
        first, second = conversations(path)
        assert (first.source, first.id, first.model, first.expected) == ("openai-evals", "item_4", "m-1", "4")
        assert (lines(second), first.usage) == (["user: 2+2?", "assistant: 5"], {"prompt_tokens": 5})
        assert first.metadata["results"][0]["passed"] is True


@pytest.mark.parametrize(
    "item",
    [
        output_item(None),
        output_item("4", error={"message": "timeout"}),
        output_item("4", error={"code": "server_error", "message": ""}),
        output_item("4", error="timeout"),
        output_item("4", error={"details": [1]}),
        output_item("4", finish_reason="length"),
    ],
)
def test_an_output_item_that_is_not_whole_passes_nothing(item: dict[str, Any], tmp_path: Path) -> None:
    (found,) = execute(plan(check()), [written(tmp_path, [item])])
    assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]


def test_a_golden_without_an_answer_passes_nothing(tmp_path: Path) -> None:
    (case,) = json.loads((CHATS / "deepeval.json").read_text())
    (found,) = execute(plan(check()), [written(tmp_path, [{**case, "actual_output": None}])])
    assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]


def test_what_only_resembles_an_export_is_read_as_what_it_is(tmp_path: Path) -> None:
    table = {"input": "hi", "actual_output": "hello", "expected_output": "hi", "retrieval_context": "greetings"}
    (row,) = conversations(written(tmp_path, [table]))
    assert row.expected == "hi"
    (talk,) = conversations(written(tmp_path, [{**NATIVE, "scenario": "A greeting."}]))
    assert (row.source, talk.source) == ("table", "turns")


@pytest.mark.parametrize(
    ("records", "source", "said"),
    [
        ([{"messages": WITH_TOOL}], "openai", BANK),
        ([{"conversation_id": "1", "turn": 1, "conversation": SAID}], "openai", [ASKED, ANSWER]),
        ([{"messages": SAID[:1], "choices": [{"message": SAID[1]}], "object": "x"}], "openai", [ASKED, ANSWER]),
        ([LOGGED], "openai", [ASKED, ANSWER]),
        ([BATCH], "openai", [ASKED, ANSWER]),
        ([{"prompt": SAID[:1], "completion": SAID[1:]}], "openai", [ASKED, ANSWER]),
        ([RESPONSE], "openai", BANK),
        (SAID, "openai", [ASKED, ANSWER]),
        ([SHAREGPT], "sharegpt", NO_NAME),
        (CLAUDE, "coding-agent", BANK[1:]),
        (CODEX, "coding-agent", BANK[1:]),
        ([ATIF], "atif", BANK[1:]),
        ([OTLP], "otel", [ASKED, ANSWER]),
        ([EVENTS], "otel", [ASKED, ANSWER]),
    ],
)
def test_every_shape_becomes_the_same_messages(
    tmp_path: Path, records: list[Any], source: str, said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, records))
    assert (found.source, lines(found)) == (source, said)


def test_reasoning_usage_and_refusals_are_kept_and_do_not_become_turns(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [ATIF]))
    step = found.messages[1]
    assert (step.reasoning, step.usage, found.usage) == (
        "Look it up.",
        {"prompt_tokens": 20},
        {"total_prompt_tokens": 20},
    )
    (unnamed,) = conversations(written(tmp_path, [{**ATIF, "agent": {"name": "teller"}}]))
    assert (found.model, unnamed.model) == ("m-1", "teller")
    refusing = {"role": "assistant", "content": None, "refusal": "I can't."}
    (found,) = conversations(written(tmp_path, [{"messages": [SAID[0], refusing]}]))
    assert found.messages[1].refusal == "I can't."


def test_two_parts_of_one_message_of_a_coding_agent_are_one_message(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, CLAUDE))
    assert (found.id, found.model) == ("s1", "opus")
    assert (found.messages[1].reasoning, len(found.messages[1].tool_calls)) == ("Look it up.", 1)


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "image https://example.org/a.png"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, "image data:image/png;base64"),
        ({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}, "audio wav"),
        ({"type": "file", "file": {"file_id": "f-1"}}, "file f-1"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}, "image image/png"),
        ({"type": "uri", "modality": "image", "uri": "https://example.org/b.png"}, "image https://example.org/b.png"),
    ],
)
def test_a_medium_is_kept_by_its_address_and_the_digest_of_its_bytes(tmp_path: Path, part: Any, shown: str) -> None:
    asked = {"role": "user", "content": [{"type": "text", "text": "Look"}, part]}
    (found,) = conversations(written(tmp_path, [{"messages": [asked, SAID[1]]}]))
    medium = found.messages[0].parts[1]
    assert f"{medium.kind} {medium.reference}" == shown
    assert bool(medium.digest) == ("aGk=" in json.dumps(part))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"text": "hello"}, "2: unknown shape: an object with the keys `text`; expected `messages`"),
        ({}, "2: unknown shape: an empty object"),
        ([1, 2], "2: the line must be one JSON object"),
        ({"messages": []}, "2: `messages` is empty"),
        ({"messages": [{"role": "user"}]}, "2: messages[0] has no `content`"),
        (
            {"messages": [*SAID, {"role": "wizard", "content": "x"}]},
            "2: messages[2].role is `wizard`; expected `system`",
        ),
        ({"messages": [{"role": "user", "content": 5}]}, "2: messages[0].content is `5`; expected a list"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "2: messages[0].content[0] has neither"),
        (
            {"messages": [{"role": "assistant", "content": "", "tool_calls": [{}]}]},
            "2: messages[0].tool_calls[0] has no",
        ),
        ({"messages": [{"role": "system", "content": "x"}]}, "2: the conversation has no message of a user"),
        ({"conversations": [{"from": "human", "value": "x"}, {"from": "gpt"}]}, "2: conversations[1] has no `value`"),
        ({**ATIF, "steps": [{"source": "cat"}]}, "2: steps[0].source is cat; expected user, agent or system"),
        (
            {"scenario": "x", "turns": [SAID[0], {"role": "wizard", "content": "x"}]},
            "2: turns[1].role is `wizard`; expected `system`",
        ),
        ({"scenario": "x", "turns": []}, "2: `turns` is empty"),
        ({"input": "x", "actual_output": 5, "tools_called": None}, "2: actual_output is `5`; expected text"),
        ({"input": "x", "actual_output": "y", "tools_called": [{}]}, "2: tools_called[0] has no name"),
        ({"metricsScores": [], "testCases": [5]}, "2: testCases[0] is `5`; expected an object"),
        ({"messages": SAID, "turns": []}, "chat:2"),
        ({"turns": []}, "2: a conversation needs the key `scenario_id`"),
    ],
)
def test_what_cannot_be_read_is_reported_with_its_line_and_its_neighbours_are_read(
    tmp_path: Path, bad: Any, reason: str
) -> None:
    first, second, third = refusals(tmp_path, [GOOD, bad, GOOD])
    assert (first, third) == ("chat:1", "chat:3")
    assert second.startswith(reason)


def test_a_session_of_which_a_line_is_lost_is_refused(tmp_path: Path) -> None:
    text = json_lines(CLAUDE[:3]) + "{broken\n" + json.dumps(CLAUDE[5]) + "\n"
    found = refusals(tmp_path, text)
    assert [each.partition(":")[0] for each in found] == ["4", "1"]
    assert found[1] == "1: a conversation of this file may lack its line 4, which was refused"


def test_a_sample_that_ended_with_an_error_passes_nothing(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "hi", "target": "", "messages": SAID, "error": {"message": "timeout"}}
    (found,) = execute(plan(check()), [written(tmp_path, [sample])])
    assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]
    assert [gap.kind for gap in found.missing] == ["failed_turn"]


def test_a_number_of_turns_next_to_messages_is_a_note(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [{**GOOD, "turns": 1}]))
    assert (found.source, lines(found)) == ("openai", [ASKED, ANSWER])


def test_numbered_messages_of_named_conversations_are_not_native_turns(tmp_path: Path) -> None:
    rows = [{"conversation_id": name, "turn": 1, **said} for name in "ab" for said in SAID]
    found = conversations(written(tmp_path, rows))
    assert [(chat.id, lines(chat)) for chat in found] == [(f"chat:{name}", [ASKED, ANSWER]) for name in "ab"]
    native = [{**row, "conversation_id": "a", "note": "x" * 2**19} for row in rows[:2]]
    (read,) = Reader().read([written(tmp_path, native, "m__s.jsonl")])
    assert isinstance(read, Transcript)
    assert (read.id, read.recorded) == ("m__s", None)
