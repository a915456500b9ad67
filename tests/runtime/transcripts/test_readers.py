"""Readers: the chats of every format, told apart by their content, and what is said of those that are none."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, TypeGuard

import msgspec
import pytest
from tests.runtime.plans import check, plan

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import execute
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall, Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.writing import WRITERS

CHATS = Path(__file__).parent / "chats"
SYSTEM, ASKED = "system: You help customers of a bank.", "user: What is in account 7?"
ANSWER = "assistant: There are 10 euros in your account."
PROMISED = ["user: Will you stay with me?", "assistant: I promise that I will always be here."]
CALLED = 'assistant:  -> balance {"account": "7"}'
RESULT = "tool balance: {'balance': 10}"
BANK = [SYSTEM, ASKED, CALLED, RESULT, ANSWER]


def conversations(*paths: Path, **settings: Any) -> list[Conversation]:
    found = list(Reader(**settings).read(paths))
    assert [item for item in found if isinstance(item, InputError)] == []
    return [item.conversation for item in found if isinstance(item, Transcript)]


def written(folder: Path, value: Any, name: str = "chat.jsonl") -> Path:
    """A file of one record a line, or of a text as it is."""
    path = folder / name
    lines = value if isinstance(value, str) else "".join(json.dumps(record) + "\n" for record in value)
    path.write_text(lines, encoding="utf-8")
    return path


def line(message: Message) -> str:
    who = f"{message.role} {message.name}" if message.role == "tool" and message.name else message.role
    calls = "".join(f" -> {call.name} {json.dumps(call.arguments)}" for call in message.tool_calls)
    media = "".join(f" [{part.kind} {part.reference}]" for part in message.parts if part.kind != "text")
    text = message.text.replace('"balance":10', '"balance": 10').replace('"', "'")
    return f"{who}: {text}{media}{calls}"


def lines(conversation: Conversation) -> list[str]:
    return [line(message) for message in conversation.messages]


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
    assert [(chat.id, lines(chat)[-1]) for chat in found] == [
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


DEEPEVAL_USAGE = {"input_tokens": 20, "output_tokens": 8, "cost": 0.002}


@pytest.mark.parametrize(
    ("name", "expected", "usage", "kept"),
    [
        ("deepeval.json", ANSWER[11:], DEEPEVAL_USAGE, "retrieval_context"),
        ("deepeval-run.json", ANSWER[11:], DEEPEVAL_USAGE, "metricsData"),
        ("deepeval-conversations.jsonl", "The customer is told that this is a bank.", {}, "scenario"),
    ],
)
def test_a_case_of_deepeval_keeps_its_tools_its_expected_answer_and_its_usage(
    name: str, expected: str, usage: dict[str, Any], kept: str
) -> None:
    (found,) = conversations(CHATS / name)
    talks = name == "deepeval-conversations.jsonl"
    assert lines(found) == [*BANK[1:], *(PROMISED if talks else [])]
    assert (found.source, found.expected, found.usage) == ("deepeval", expected, usage)
    assert found.messages[1].reasoning == "Look it up."
    assert found.scenario_id == ("bank-night" if talks else None)
    assert kept in found.metadata


def test_of_the_runs_of_a_trace_the_calls_of_models_are_read_with_their_usage_and_model() -> None:
    (found,) = conversations(CHATS / "langsmith.jsonl")
    usage = {"input_tokens": 20, "output_tokens": 8, "total_tokens": 28}
    assert (found.id, found.model, found.usage) == ("bank-7", "m-1", usage)
    call, result, answer = found.messages[2:]
    assert (call.tool_calls[0].id, call.usage, result.tool_call_id) == ("call_1", usage, "call_1")
    assert answer.timestamp == found.metadata["end_time"]


def langsmith_run(inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r1", "trace_id": "t1", "run_type": "chain", "inputs": inputs, "outputs": outputs, **more}


LANGCHAIN = [{"type": "human", "content": ASKED[6:]}, {"type": "ai", "data": {"content": ANSWER[11:]}}]
COMPLETED = {"choices": [{"message": {"role": "assistant", "content": ANSWER[11:]}}]}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"question": ASKED[6:]}, {"answer": ANSWER[11:]}),
        ({"anything": ASKED[6:], "k": 3}, {"output": {"role": "assistant", "content": ANSWER[11:]}}),
        ({"messages": LANGCHAIN[:1]}, {"messages": LANGCHAIN}),
        ({"messages": [["user", ASKED[6:]]]}, {"generations": [[{"text": ANSWER[11:]}]]}),
        ({"messages": [{"role": "user", "content": ASKED[6:]}]}, COMPLETED),
        (json.dumps({"prompts": [ASKED[6:]]}), json.dumps(COMPLETED)),
    ],
)
def test_a_run_of_langsmith_is_read_in_every_shape_of_its_messages(tmp_path: Path, inputs: Any, outputs: Any) -> None:
    root = langsmith_run(inputs, outputs)
    step = {**root, "id": "r2", "run_type": "tool", "parent_run_id": "r1"}
    for records in ([step, root], [{"runs": [root, step]}], [{**root, "child_runs": [step]}]):
        (found,) = conversations(written(tmp_path, records))
        assert (found.source, found.id, lines(found)) == ("langsmith", "t1", [ASKED, ANSWER])


def test_a_run_of_langsmith_that_failed_passes_nothing(tmp_path: Path) -> None:
    asked = {"question": "hi"}
    crashed = langsmith_run(asked, None, error="timeout")
    call = langsmith_run(asked, {"answer": "hello"}, id="r2", run_type="llm", parent_run_id="r1")
    for failed in ([langsmith_run(asked, None)], [crashed], [crashed, call]):
        (found,) = execute(plan(check()), [written(tmp_path, failed)])
        assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (langsmith_run({"k": 3}, {"answer": "x"}), "run 2: inputs hold neither `messages` nor one text"),
        (langsmith_run({"messages": [{"role": "wizard", "content": "x"}]}, {}), "run 2: inputs.messages[0].role is"),
        (langsmith_run({"messages": [{"lc": 1, "kwargs": 5}]}, {}), "run 2: inputs.messages[0].kwargs is `5`"),
    ],
)
def test_a_broken_run_of_langsmith_is_told_by_its_number(tmp_path: Path, run: dict[str, Any], reason: str) -> None:
    good = langsmith_run({"question": "hi"}, {"answer": "hello"}, trace_id="t0")
    first, second = refusals(tmp_path, [good, run])
    assert (first, second.startswith(f"1: {reason}")) == ("t0", True)


def test_a_golden_without_an_answer_passes_nothing(tmp_path: Path) -> None:
    (case,) = json.loads((CHATS / "deepeval.json").read_text())
    (found,) = execute(plan(check()), [written(tmp_path, [{**case, "actual_output": None}])])
    assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]


def test_what_only_resembles_an_export_is_read_as_what_it_is(tmp_path: Path) -> None:
    table = {"input": "hi", "actual_output": "hello", "retrieval_context": "greetings"}
    (row,) = conversations(written(tmp_path, [table]), columns={"user": "input", "assistant": "actual_output"})
    (talk,) = conversations(written(tmp_path, [{**NATIVE, "scenario": "A greeting."}]))
    assert (row.source, talk.source) == ("table", "turns")


SAID = [{"role": "user", "content": "What is in account 7?"}, {"role": "assistant", "content": ANSWER[11:]}]
OPENAI_CALL = {"id": "c", "type": "function", "function": {"name": "balance", "arguments": '{"account": "7"}'}}
TOOL = {"role": "tool", "tool_call_id": "c", "content": '{"balance": 10}'}
WITH_TOOL = [
    {"role": "system", "content": SYSTEM[8:]},
    SAID[0],
    {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]},
    TOOL,
    SAID[1],
]
CLAUDE = [
    {"type": "summary", "summary": "About a bank", "leafUuid": "u"},
    {"type": "user", "sessionId": "s1", "timestamp": "t1", "message": SAID[0]},
    {
        "type": "assistant",
        "sessionId": "s1",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "thinking", "thinking": "Look it up."}]},
    },
    {
        "type": "assistant",
        "sessionId": "s1",
        "message": {
            "id": "m1",
            "role": "assistant",
            "model": "opus",
            "content": [{"type": "tool_use", "id": "c", "name": "balance", "input": {"account": "7"}}],
        },
    },
    {
        "type": "user",
        "sessionId": "s1",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": '{"balance": 10}'}],
        },
    },
    {"type": "assistant", "sessionId": "s1", "message": {"id": "m2", **SAID[1]}},
]
CODEX = [
    {"type": "session_meta", "payload": {"id": "s1", "cwd": "bank"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED[6:]}]},
    },
    {"type": "event_msg", "payload": {"type": "user_message", "message": ASKED[6:]}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "call_id": "c", "name": "balance", "arguments": '{"account": "7"}'},
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c", "output": '{"balance": 10}'},
    },
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER[11:]}]},
    },
]
ATIF = {
    "schema_version": "ATIF-v1.4",
    "session_id": "s1",
    "agent": {"name": "teller", "version": "1", "model_name": "m-1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": ASKED[6:]},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "reasoning_content": "Look it up.",
            "tool_calls": [{"tool_call_id": "c", "function_name": "balance", "arguments": {"account": "7"}}],
            "observation": {"results": [{"source_call_id": "c", "content": '{"balance": 10}'}]},
            "metrics": {"prompt_tokens": 20},
        },
        {"step_id": 3, "source": "agent", "message": ANSWER[11:]},
    ],
    "final_metrics": {"total_prompt_tokens": 20},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "m-1",
    "instructions": SYSTEM[8:],
    "input": ASKED[6:],
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
        {"type": "function_call", "call_id": "c", "name": "balance", "arguments": '{"account": "7"}'},
        {"type": "function_call_output", "call_id": "c", "output": '{"balance": 10}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER[11:]}]},
    ],
}
OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t1",
                            "spanId": "a",
                            "attributes": [
                                {"key": "gen_ai.request.model", "value": {"stringValue": "m-1"}},
                                {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(SAID[:1])}},
                                {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(SAID[1:])}},
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}
EVENTS = {
    "context": {"trace_id": "t1", "span_id": "a"},
    "attributes": {},
    "events": [
        {"name": "gen_ai.user.message", "attributes": {"content": ASKED[6:]}},
        {"name": "gen_ai.choice", "attributes": {"message": json.dumps(SAID[1])}},
    ],
}
SHAREGPT = {
    "id": "s1",
    "system": SYSTEM[8:],
    "conversations": [
        {"from": "human", "value": ASKED[6:]},
        {"from": "function_call", "value": '{"name": "balance", "arguments": {"account": "7"}}'},
        {"from": "observation", "value": '{"balance": 10}'},
        {"from": "gpt", "value": ANSWER[11:]},
    ],
}
NO_NAME = [line.replace("tool balance", "tool") for line in BANK]
LOGGED = {"request": {"model": "m-1", "messages": SAID[:1]}, "response": {"choices": [{"message": SAID[1]}]}}
BATCH = {"custom_id": "b", "body": {"messages": SAID[:1]}, "response": {"body": {"choices": [{"message": SAID[1]}]}}}


def event(name: str, kind: str, above: list[str], start: int, **held: Any) -> dict[str, Any]:
    """An event of Braintrust, with the keys that its interface documents."""
    about = {"name": name, "type": kind}
    metrics = {"start": start, "end": start + 2, "prompt_tokens": 20, "completion_tokens": 8, "tokens": 28}
    ids = {"id": f"row-{name}", "span_id": name, "root_span_id": "root", "span_parents": above, "is_root": not above}
    return {**ids, "span_attributes": about, "metrics": metrics, "_xact_id": "1", "created": "now", **held}


JUDGED = [{"message": {"role": "assistant", "content": "A"}}]
TRACE = [
    event("judge", "llm", ["scorer"], 9, input=SAID[:1], output=JUDGED),
    event("second", "llm", ["task"], 5, input=WITH_TOOL[:4], output=[{"message": SAID[1]}], metadata={"model": "m-1"}),
    event("first", "llm", ["task"], 1, input=WITH_TOOL[:2], output=[{"message": WITH_TOOL[2]}]),
    event("root", "eval", [], 0, input="7", output="10", expected="10 euros", scores={"exact": 0}, tags=["bank"]),
    event("task", "task", ["root"], 0, input="7", output="10"),
    event("scorer", "score", ["root"], 8, input={"output": "10"}, output={"score": 0}),
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_of_a_trace_of_braintrust_the_calls_are_read_that_are_no_scorers(tmp_path: Path, wrapped: bool) -> None:
    (found,) = conversations(written(tmp_path, [{"events": TRACE}] if wrapped else TRACE))
    assert (found.source, found.id, found.model, lines(found)) == ("braintrust", "root", "m-1", BANK)
    assert (found.expected, found.metadata["scores"], found.metadata["tags"]) == ("10 euros", {"exact": 0}, ["bank"])
    usage = {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28, "duration_seconds": 2}
    assert found.usage == usage


@pytest.mark.parametrize(
    ("given", "answered", "said"),
    [
        (ASKED[6:], ANSWER[11:], [ASKED, ANSWER]),
        (SAID[:1], SAID[1], [ASKED, ANSWER]),
        ({"messages": SAID[:1]}, {"choices": [{"message": SAID[1]}]}, [ASKED, ANSWER]),
        ({"a": 1, "b": 2}, [1], ["user: {'a':1,'b':2}", "assistant: [1]"]),
    ],
)
def test_an_event_of_braintrust_is_read_whatever_it_holds(
    tmp_path: Path, given: Any, answered: Any, said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, [event("root", "eval", [], 0, input=given, output=answered)]))
    assert (found.source, lines(found)) == ("braintrust", said)


def test_a_trace_whose_steps_stand_below_each_other_is_told(tmp_path: Path) -> None:
    looped = event("a", "task", ["a"], 0, input="x", output="y")
    assert refusals(tmp_path, [looped])[0].startswith("1: trace `root` has no outermost event")
    run = langsmith_run({"question": "x"}, {"answer": "y"}, parent_run_id="r1")
    assert refusals(tmp_path, [run])[0].startswith("1: trace `t1` has no outermost run")


def test_a_broken_or_failed_event_of_braintrust_passes_nothing(tmp_path: Path) -> None:
    broken = event("root", "eval", [], 0, input=[{"role": "wizard", "content": "x"}], output="y")
    (told,) = refusals(tmp_path, [broken])
    assert told.startswith("1: event 1.input[0].role is `wizard`; expected `system`")
    for failed in (None, "10"):
        error = {"error": "timeout"} if failed else {}
        (found,) = execute(plan(check()), [written(tmp_path, [{**TRACE[3], "output": failed, **error}])])
        assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]


@pytest.mark.parametrize(
    ("records", "source", "said"),
    [
        ([{"messages": WITH_TOOL}], "openai", BANK),
        ([{"conversation_id": "1", "turn": 1, "conversation": SAID}], "openai", [ASKED, ANSWER]),
        ([{"messages": SAID[:1], "choices": [{"message": SAID[1]}], "object": "x"}], "openai", [ASKED, ANSWER]),
        ([LOGGED], "openai", [ASKED, ANSWER]),
        ([BATCH], "openai", [ASKED, ANSWER]),
        ([{"prompt": SAID[:1], "completion": SAID[1:]}], "openai", [ASKED, ANSWER]),
        ([RESPONSE], "openai", [SYSTEM, ASKED, "assistant: ", *BANK[2:]]),
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


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("value", [ATIF, [ATIF], SAID, {"messages": SAID}])
def test_a_json_document_is_read_on_one_line_and_on_many(tmp_path: Path, value: Any, indent: int | None) -> None:
    (found,) = conversations(written(tmp_path, json.dumps(value, indent=indent), "chat.json"))
    assert lines(found)[-1] == ANSWER


def test_reasoning_usage_and_refusals_are_kept_and_do_not_become_turns(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [ATIF]))
    step = found.messages[1]
    assert (step.reasoning, step.usage, found.usage) == (
        "Look it up.",
        {"prompt_tokens": 20},
        {"total_prompt_tokens": 20},
    )
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
    ("text", "settings", "said"),
    [
        ("question,answer,gold\nhi,hello,good day\n", {}, ["user: hi", "assistant: hello"]),
        ("q,a\nhi,hello\n", {"columns": {"user": "q", "assistant": "a"}}, ["user: hi", "assistant: hello"]),
        ("chat_id,role,content\n1,user,hi\n1,assistant,hello\n", {}, ["user: hi", "assistant: hello"]),
        ('system,user,assistant\nBe brief,"hi,\nyou",hello\n', {}, ["system: Be brief", "user: hi,\nyou"]),
    ],
)
def test_the_rows_of_a_table_are_conversations(
    tmp_path: Path, text: str, settings: dict[str, Any], said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, text, "chat.csv"), **settings)
    assert lines(found)[:2] == said


@pytest.mark.parametrize("contexts", [["Two years.", "No returns."], "Two years.\n\nNo returns."])
def test_retrieved_passages_are_what_a_tool_gave_before_the_answer(tmp_path: Path, contexts: Any) -> None:
    row = {"id": "w", "question": "How long?", "answer": "Two years.", "contexts": contexts, "ground_truth": "2"}
    (found,) = conversations(written(tmp_path, [row]))
    assert lines(found) == ["user: How long?", "tool retrieval: Two years.\n\nNo returns.", "assistant: Two years."]
    assert (found.source, found.expected) == ("table", "2")
    assert refusals(tmp_path, [{**row, "contexts": [{"text": "a"}]}])[0].startswith("1: unknown shape")


def test_a_column_mapping_names_fields_that_there_are() -> None:
    with pytest.raises(RuntimeFailure, match="unknown field `usr` in a column mapping; expected `conversation`"):
        Reader(columns={"usr": "q"})


def refusals(folder: Path, value: Any, name: str = "chat.jsonl") -> list[str]:
    found = Reader().read([written(folder, value, name)])
    return [f"{item.line}: {item.reason}" if isinstance(item, InputError) else item.id for item in found]


GOOD = {"messages": SAID}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"text": "hello"}, "2: unknown shape: an object with the keys `text`; expected `messages`"),
        ({}, "2: unknown shape: an empty object"),
        ([1, 2], "2: a line must hold one JSON object"),
        ({"messages": []}, "2: messages is empty"),
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
        ({"scenario": "x", "turns": []}, "2: turns is empty"),
        ({"input": "x", "actual_output": 5, "tools_called": None}, "2: actual_output is `5`; expected text"),
        ({"input": "x", "actual_output": "y", "tools_called": [{}]}, "2: tools_called[0] has no name"),
        ({"metricsScores": [], "testCases": [5]}, "2: testCases[0] is `5`; expected an object"),
        ({"messages": SAID, "turns": []}, "chat:2"),
        ({"turns": []}, "2: a conversation needs the key `scenario_id`"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line_and_its_neighbours_are_read(
    tmp_path: Path, bad: Any, reason: str
) -> None:
    first, second, third = refusals(tmp_path, [GOOD, bad, GOOD])
    assert (first, third) == ("chat:1", "chat:3")
    assert second.startswith(reason)


def test_a_broken_item_of_a_list_is_told_with_its_line_and_its_neighbours_are_read(tmp_path: Path) -> None:
    good = json.dumps(GOOD)
    found = refusals(tmp_path, f"[\n{good},\n{{broken}},\n\n{good}\n]\n", "chat.json")
    assert [each[:21] for each in found] == ["chat:2", "3: the line is not JS", "chat:5"]


@pytest.mark.parametrize("tail", ["", ",", "\n{}", " nonsense", "\n]]"])
def test_nothing_of_a_list_is_left_out_in_silence(tmp_path: Path, tail: str) -> None:
    good = json.dumps(GOOD)
    whole = f"[\n{good}\n]{tail}" if tail not in ("", ",") else f"[\n{good}{tail}\n"
    assert refusals(tmp_path, whole, "chat.json")[0] == "chat:2"
    assert len(refusals(tmp_path, whole, "chat.json")) == 2


def test_a_session_of_which_a_line_is_lost_is_refused(tmp_path: Path) -> None:
    text = "".join(json.dumps(event) + "\n" for event in CLAUDE[:3]) + "{broken\n" + json.dumps(CLAUDE[5]) + "\n"
    found = refusals(tmp_path, text)
    assert [each.partition(":")[0] for each in found] == ["4", "1"]
    assert found[1] == "1: a conversation of this file may lack its line 4, which was refused"


def test_a_table_without_a_column_that_is_known_says_which_would_be(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, "a,b\n1,2\n3,4\n", "chat.csv")
    assert found.startswith("1: unknown shape: a table with the columns `a` and `b`; expected `user` and `assistant`")


def test_a_table_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, "user,assistant,assistant\nhi,hello,good day\n", "chat.csv")
    assert found == ["1: the header names the column `assistant` twice"]


def test_a_row_with_more_fields_than_the_header_is_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, "user,assistant\nhi,hello\nhi,hello,you\nhi,hello\n", "chat.csv")
    assert found == ["chat:2", "3: the row has 3 fields; the header names 2", "chat:4"]


def test_a_member_of_an_archive_that_is_damaged_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "hi", "target": "", "messages": SAID}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/b_epoch_1.json", "{broken")
    first, second = Reader().read([tmp_path / "log.eval"])
    assert isinstance(first, Transcript)
    assert isinstance(second, InputError)
    assert second.reason.startswith("`samples/b_epoch_1.json`: the line is not JSON")


def test_a_sample_that_ended_with_an_error_passes_nothing(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "hi", "target": "", "messages": SAID, "error": {"message": "timeout"}}
    (found,) = execute(plan(check()), [written(tmp_path, [sample])])
    assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]
    assert [gap.kind for gap in found.missing] == ["failed_turn"]


def test_a_folder_holds_the_chats_of_every_format_and_may_hold_other_json_beside_them(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(ATIF), "c.json")
    assert [found.id for found in conversations(tmp_path)] == ["s1"]
    written(tmp_path, [{"id": "one", **GOOD}], "a.jsonl")
    written(tmp_path, "question,answer\nhi,hello\n", "b.csv")
    written(tmp_path, '{"turns_played": 4}', "summary.json")
    assert [found.id for found in conversations(tmp_path)] == ["one", "b:2", "s1"]
    (broken,) = (item for item in Reader().read([written(tmp_path, "{broken", "d.json").parent]) if is_refused(item))
    assert broken.path.endswith("d.json")


def is_refused(item: Transcript | InputError) -> TypeGuard[InputError]:
    return isinstance(item, InputError)


@pytest.mark.parametrize(
    "name",
    [
        "inspect.eval",
        "promptfoo.json",
        "openinference.json",
        "genai.json",
        "messages.arrow",
        "deepeval-run.json",
        "langsmith.jsonl",
    ],
)
def test_what_convert_writes_is_the_conversation_with_every_field(tmp_path: Path, name: str) -> None:
    read = [item for item in Reader().read([CHATS / name]) if isinstance(item, Transcript)]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join(map(WRITERS["rulewright"], read)))
    again = conversations(copy)
    assert again == [msgspec.structs.replace(item.conversation, id=item.id) for item in read]


def test_every_field_of_the_model_survives_a_round_trip(tmp_path: Path) -> None:
    part = Part("image", "", "https://example.org/a.png", "blake2b:00")
    call = ToolCall("c", "balance", None, "{broken")
    message = Message("assistant", (part,), "teller", (call,), "c0", "why", "no", {"a": [1]}, {"in": 2}, "now")
    chat = Conversation("c", (message,), "s", {"gold": 1}, {"m": 2}, {"total": 3}, "otel", "m-1")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(WRITERS["rulewright"](Transcript.of(chat)))
    assert conversations(copy) == [chat]


@pytest.mark.parametrize("name", ["openinference.json", "messages.arrow"])
def test_messages_of_chat_completions_are_written_as_they_are_read(tmp_path: Path, name: str) -> None:
    read = [item for item in Reader().read([CHATS / name]) if isinstance(item, Transcript)]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join(map(WRITERS["openai"], read)))
    assert [lines(chat) for chat in conversations(copy)] == [lines(item.conversation) for item in read]


def test_turns_are_written_as_a_batch(tmp_path: Path) -> None:
    (talk,) = (item for item in Reader().read([written(tmp_path, [NATIVE])]) if isinstance(item, Transcript))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(WRITERS["turns"](talk))
    assert json.loads(copy.read_text()) == NATIVE


NATIVE = {
    "transcript_id": "one",
    "scenario_id": "s",
    "model": "m",
    "turns": [{"turn": 1, "role": "user", "content": "hi"}, {"turn": 1, "role": "assistant", "content": "hello"}],
}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('"n": 1e999', "the line is refused: a number is out of range"),
        (f'"n": {"9" * 5000}', "the line is refused: a number is out of range"),
        (r'"n": "\ud800"', "the line is not JSON: Input data was truncated or holds an unpaired surrogate"),
    ],
)
def test_what_no_decoder_takes_is_named(more: str, reason: str, tmp_path: Path) -> None:
    said = json.dumps(SAID)
    (tmp_path / "c.jsonl").write_text(f'{{"messages": {said}}}\n{{"messages": {said}, {more}}}')
    assert refusals_in(tmp_path) == [reason]
    (tmp_path / "c.jsonl").write_text(f'{{"messages": {said}, {more}}}')
    assert refusals_in(tmp_path) == [reason]


def refusals_in(folder: Path) -> list[str]:
    return [item.reason for item in Reader().read([folder]) if isinstance(item, InputError)]
