"""Spans: one that was cut or says two things is refused, and one without an answer has none."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.transcripts.view import usage_of

Attributes = list[dict[str, Any]]


def chat_json(*texts: str) -> str:
    """Messages that the user and the assistant take turns to say, as JSON text."""
    roles = ("user", "assistant")
    return json.dumps([{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)])


def attribute(key: str, text: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": text}}


def numbered(name: str, number: object, role: str, text: str) -> Attributes:
    start = f"{name}.{number}.message"
    return [attribute(f"{start}.role", role), attribute(f"{start}.content", text)]


IN, OUT = "gen_ai.input.messages", "gen_ai.output.messages"
ASKED = attribute(IN, chat_json("a", "b", "c"))
REPLY = json.dumps([{"role": "assistant", "content": "d"}])
FIRST = numbered("llm.input_messages", 0, "user", "a")


def export(attributes: Attributes, **more: Any) -> list[dict[str, Any]]:
    span = {"traceId": "t", "spanId": "s", "attributes": attributes, **more}
    return [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}]


@pytest.mark.parametrize(
    ("attributes", "more", "reason"),
    [
        (
            [ASKED, attribute(OUT, REPLY), attribute(OUT, chat_json("x"))],
            {},
            f"the attribute `{OUT}` occurs twice",
        ),
        ([ASKED, attribute(OUT, REPLY[:-3])], {}, f"{OUT} is cut or damaged: it is not JSON"),
        ([ASKED, attribute(OUT, "[1]")], {}, f"{OUT}[0] is not a message"),
        ([ASKED, {"key": OUT, "value": {"intValue": 7}}], {}, f"{OUT} is `7`; expected a list"),
        ([ASKED, attribute(OUT, chat_json("d"))], {}, f"{OUT}[0].role is `user`; expected `assistant`"),
        ([ASKED, attribute(OUT, REPLY), attribute(f"{OUT}.0.role", "assistant")], {}, f"`{OUT}` occurs twice"),
        ([ASKED, {"key": OUT, "value": {"boolValue": True, "stringValue": REPLY}}], {}, "has several values"),
        ([ASKED, attribute(OUT, REPLY)], {"droppedAttributesCount": 2}, "was cut: `droppedAttributesCount` is 2"),
        (
            [*FIRST, *numbered("llm.output_messages", 1, "assistant", "d")],
            {},
            "of a list with 2 attributes 1 are there",
        ),
        (
            [*FIRST, *numbered("llm.output_messages", 0, "assistant", "d"), attribute("llm.output_messages.0", "x")],
            {},
            "the attribute `0` has a value and parts",
        ),
        (
            [
                *FIRST,
                *numbered("llm.output_messages", 0, "assistant", "d"),
                attribute("llm.output_messages.0.message.content.0", "x"),
            ],
            {},
            "the attribute `0.message.content.0` has a value and parts",
        ),
        (
            [*FIRST, *numbered("llm.output_messages", "x", "assistant", "d")],
            {},
            "llm.output_messages is `{",
        ),
        (
            [ASKED],
            {
                "events": [
                    {"name": "gen_ai.client.inference.operation.details", "attributes": [attribute(OUT, REPLY[:9])]}
                ]
            },
            f"{OUT} is cut or damaged",
        ),
    ],
)
def test_a_span_that_was_cut_or_says_two_things_is_refused(
    attributes: Attributes, more: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    assert reason in refusals(tmp_path, export(attributes, **more))[0]


@pytest.mark.parametrize("answer", ["[INST] d", "{name} is fine", '{"answer": 4}', '["d"]', "[1]"])
def test_an_answer_that_looks_like_json_is_a_text(answer: str, tmp_path: Path) -> None:
    spans = export([attribute("gen_ai.prompt", "[INST] a [/INST]"), attribute("gen_ai.completion", answer)])
    (found,) = conversations(written(tmp_path, spans))
    assert [each.text for each in found.messages] == ["[INST] a [/INST]", answer]


def test_attributes_that_describe_a_prompt_are_not_messages(tmp_path: Path) -> None:
    prompt = [attribute("gen_ai.prompt.0.role", "user"), attribute("gen_ai.prompt.0.content", "a")]
    filtered = [*prompt, attribute("gen_ai.prompt.prompt_filter_results", "[]"), attribute("gen_ai.completion", "d")]
    (found,) = conversations(written(tmp_path, export(filtered)))
    assert [each.text for each in found.messages] == ["a", "d"]


def test_a_typed_value_next_to_nulls_is_one_value(tmp_path: Path) -> None:
    answer = {"key": OUT, "value": {"intValue": None, "stringValue": REPLY}}
    (found,) = conversations(written(tmp_path, export([ASKED, answer])))
    assert found.messages[-1].text == "d"


@pytest.mark.parametrize("answer", [{"answer": 4}, {"message.role": "assistant", "message.content": "d"}, {}])
def test_a_record_without_keys_of_a_message_is_refused(answer: dict[str, Any], tmp_path: Path) -> None:
    assert "[0] is not a message" in refusals(tmp_path, export([ASKED, attribute(OUT, json.dumps([answer]))]))[0]


def test_nested_and_dotted_attributes_are_one_attribute(tmp_path: Path) -> None:
    attributes = {IN: json.loads(chat_json("a")), OUT: json.loads(REPLY), "gen_ai": {"output.messages": []}}
    found = refusals(tmp_path, [{"traceId": "t", "spanId": "s", "attributes": attributes}])
    assert f"the attribute `{OUT}` occurs twice" in found[0]


@pytest.mark.parametrize("text", ["d", REPLY, REPLY[1:-1]])
def test_an_output_is_a_list_a_message_or_a_text(text: str, tmp_path: Path) -> None:
    found = conversations(written(tmp_path, export([ASKED, attribute(OUT, text)])))
    assert [lines(chat) for chat in found] == [["user: a", "assistant: b", "user: c", "assistant: d"]]


def test_a_span_that_no_later_one_repeats_and_that_has_no_output_has_no_answer(tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, export([ASKED])))
    assert chat.messages[-1].metadata == {"error": "the span has no answer"}
    retried = [*export([ASKED], startTimeUnixNano=1), *export([ASKED, attribute(OUT, REPLY)], startTimeUnixNano=2)]
    [chat] = conversations(written(tmp_path, retried))
    assert lines(chat) == ["user: a", "assistant: b", "user: c", "assistant: d"]


def test_tokens_and_durations_of_the_calls_of_a_trace_are_added_also_from_typed_values(tmp_path: Path) -> None:
    def used(tokens: int) -> dict[str, Any]:
        return {"key": "gen_ai.usage.input_tokens", "value": {"intValue": str(tokens)}}

    first = [
        attribute(IN, chat_json("a")),
        attribute(OUT, json.dumps([{"role": "assistant", "content": "b"}])),
        used(5),
    ]
    last = [ASKED, attribute(OUT, REPLY), used(7)]
    calls = (
        (first, 1, 0.5, {"spanId": "a"}),
        (first, 1, 0.5, {"spanId": "a"}),  # exported twice
        (first, 1, 0.5, {"spanId": "inside", "parentSpanId": "a"}),  # by a second instrumentation
        (first, 1, 0.5, {"spanId": "retried"}),
        (last, 2, 2, {"spanId": "b"}),
    )
    spans = [
        each
        for own, start, seconds, ids in calls
        for each in export(
            own, startTimeUnixNano=f"{start}{'0' * 18}", endTimeUnixNano=f"{start}{seconds * 10**9:018.0f}", **ids
        )
    ]
    [chat] = conversations(written(tmp_path, spans))
    assert usage_of(chat.usage) == {"input_tokens": 17, "latency": 3.0}


@pytest.mark.parametrize("more", [{"refusal": "bad"}, {"error": "bad"}])
def test_a_reply_that_a_later_span_does_not_repeat_whole_is_kept(more: dict[str, str], tmp_path: Path) -> None:
    question, reply = {"role": "user", "content": "a"}, {"role": "assistant", "content": ""}
    spans = [
        *export(
            [attribute(IN, json.dumps([question])), attribute(OUT, json.dumps([{**reply, **more}]))],
            startTimeUnixNano=1,
        ),
        *export([attribute(IN, json.dumps([question, reply, question])), attribute(OUT, REPLY)], startTimeUnixNano=2),
    ]
    first, second = conversations(written(tmp_path, spans))
    assert (first.messages[-1].refusal or first.messages[-1].metadata["error"]) == "bad"
    assert lines(second)[-1] == "assistant: d"


def test_a_row_of_phoenix_is_a_span(tmp_path: Path) -> None:
    called = {
        "message.role": "assistant",
        "message.tool_calls": [{"tool_call.function.name": "f", "tool_call.function.arguments": '{"a": 1}'}],
    }
    row = {
        "name": "chat",
        "context.trace_id": "t",
        "context.span_id": "s",
        "attributes.llm.input_messages": [{"message.role": "user", "message.content": "hi"}],
        "attributes.llm.output_messages": [called],
        "attributes.llm.model_name": "m-1",
        "attributes.retrieval.documents": None,
    }
    for page in ([row], [{"data": [row], "next_cursor": None}]):
        (found,) = conversations(written(tmp_path, page))
        assert (found.id, found.model, lines(found)) == ("t", "m-1", ["user: hi", 'assistant:  -> f {"a": 1}'])


def test_an_event_with_the_details_of_a_call_is_read_from_log_records(tmp_path: Path) -> None:
    said = {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "yo"}]}],
    }
    attributes = [{"key": key, "value": {"stringValue": json.dumps(value)}} for key, value in said.items()]
    event = {"eventName": "gen_ai.client.inference.operation.details", "traceId": "t", "spanId": "s"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{**event, "attributes": attributes}]}]}]}
    (found,) = conversations(written(tmp_path, [logs]))
    assert lines(found) == ["user: hi", "assistant: yo"]


def test_an_event_of_one_message_outside_of_a_span_is_refused(tmp_path: Path) -> None:
    event = {"eventName": "gen_ai.user.message", "traceId": "t", "spanId": "s", "attributes": []}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [event]}]}]}
    assert "an event `gen_ai.user.message` outside of a span is not read" in refusals(tmp_path, [logs])[0]


def test_a_span_of_the_ai_sdk_is_read(tmp_path: Path) -> None:
    call = {"toolCallType": "function", "toolCallId": "c", "toolName": "f", "args": "{}"}
    attributes = {
        "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "hi"}]}]),
        "ai.response.text": "yo",
        "ai.response.toolCalls": json.dumps([call]),
    }
    (found,) = conversations(written(tmp_path, [{"traceId": "t", "spanId": "s", "attributes": attributes}]))
    assert lines(found) == ["user: hi", "assistant: yo -> f {}"]


def test_a_row_of_phoenix_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    deep = '[{"a":' * 2_000 + "1" + "}]" * 2_000
    row = f'{{"context.trace_id":"t","context.span_id":"s","attributes.llm.input_messages":{deep}}}\n'
    found = refusals(tmp_path, row, "chat.jsonl")
    assert len(found) == 1
    assert found[0].startswith("1: ")


def test_a_call_without_listed_messages_is_read_from_its_values(tmp_path: Path) -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "hi"}]})
    response = json.dumps({"choices": [{"message": {"role": "assistant", "content": "yo"}}]})
    for asked, answered in (("hi", "yo"), (request, response)):
        attributes = {"openinference.span.kind": "LLM", "input.value": asked, "output.value": answered}
        (found,) = conversations(written(tmp_path, [{"traceId": "t", "spanId": "s", "attributes": attributes}]))
        assert lines(found) == ["user: hi", "assistant: yo"]


@pytest.mark.parametrize("answer", [{"text": "b"}, ["b"], {"messages": [{"role": "assistant", "content": "b"}]}])
def test_a_value_of_a_span_may_be_any_json(answer: Any, tmp_path: Path) -> None:
    attributes = {"openinference.span.kind": "LLM", "input.value": {"question": "a"}, "output.value": answer}
    (found,) = conversations(written(tmp_path, [{"traceId": "t", "spanId": "s", "attributes": attributes}]))
    said = "b" if isinstance(answer, dict) else "['b']"
    assert lines(found) == ["user: a", f"assistant: {said}"]
