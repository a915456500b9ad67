"""Spans of tools and agents: results are attached, and nothing that ran is left out or judged twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

ASKED = {"role": "user", "content": "delete it"}
CALLED = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "erase", "arguments": {"id": 7}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "done"}
ANSWER = {"role": "assistant", "content": "It is gone."}
WHOLE = ["user: delete it", 'assistant:  -> erase {"id": 7}', "tool erase: done", "assistant: It is gone."]
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "erase",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.result": "done",
}
TOOL_OF_OPENINFERENCE = {"openinference.span.kind": "TOOL", "tool.name": "erase", "output.value": "done"}
TOOL_OF_SDK = {"ai.toolCall.name": "erase", "ai.toolCall.id": "c1", "ai.toolCall.result": "done"}
TOOL_OF_TRACELOOP = {
    "traceloop.span.kind": "tool",
    "traceloop.entity.name": "erase",
    "traceloop.entity.output": "done",
}


def span(number: int, attributes: dict[str, Any], parent: int = 0, **more: Any) -> dict[str, Any]:
    listed = [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
        for key, value in attributes.items()
    ]
    times = {"startTimeUnixNano": str(number), "endTimeUnixNano": str(number + 1)}
    about = {"traceId": "t", "spanId": str(number), "parentSpanId": str(parent) if parent else ""}
    return {**about, **times, "attributes": listed, **more}


def call(number: int, asked: list[Any], reply: dict[str, Any], parent: int = 1, **more: Any) -> dict[str, Any]:
    said = {"gen_ai.input.messages": asked, "gen_ai.output.messages": [reply]}
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
    return span(number, {**about, **said}, parent, **more)


def agent(**said: Any) -> dict[str, Any]:
    about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    return span(1, {**about, **{f"gen_ai.{key}.messages": value for key, value in said.items()}}, endTimeUnixNano="99")


def export(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}]


@pytest.mark.parametrize("tool", [TOOL, TOOL_OF_OPENINFERENCE, TOOL_OF_SDK, TOOL_OF_TRACELOOP])
def test_the_result_in_a_span_of_a_tool_is_that_of_the_call(tool: dict[str, str], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, export(call(2, [ASKED], CALLED), span(3, tool, 1))))
    assert lines(chat)[:3] == WHOLE[:3]
    assert chat.messages[2].tool_call_id == "c1"


def test_a_result_that_the_messages_hold_is_not_attached_again(tmp_path: Path) -> None:
    spans = [call(2, [ASKED], CALLED), span(3, TOOL, 1), call(4, [ASKED, CALLED, RESULT], ANSWER)]
    [chat] = conversations(written(tmp_path, export(*spans, spans[1])))
    assert lines(chat) == WHOLE


def test_a_result_is_attached_after_its_call_and_not_at_the_end(tmp_path: Path) -> None:
    spans = [call(2, [ASKED, CALLED], ANSWER), span(3, TOOL, 1)]
    [chat] = conversations(written(tmp_path, export(*spans)))
    assert lines(chat) == WHOLE


def test_a_failure_of_a_tool_is_its_result(tmp_path: Path) -> None:
    tool = {key: value for key, value in TOOL.items() if not key.endswith("result")}
    failed = span(3, tool, 1, status={"code": 2, "message": "timed out"})
    [chat] = conversations(written(tmp_path, export(call(2, [ASKED], CALLED), failed)))
    assert lines(chat)[2] == "tool erase: timed out"


@pytest.mark.parametrize("tool", [TOOL, TOOL_OF_OPENINFERENCE, TOOL_OF_SDK, TOOL_OF_TRACELOOP])
def test_a_tool_that_ran_and_that_no_message_calls_is_refused(tool: dict[str, str], tmp_path: Path) -> None:
    found = refusals(tmp_path, export(call(2, [ASKED], ANSWER), span(3, tool, 1)))
    assert found == ["t", "1: span 2: the tool `erase` ran, and no message of its trace calls it (read as otel)"]


def test_two_executions_need_two_calls(tmp_path: Path) -> None:
    spans = [call(2, [ASKED], CALLED), span(3, TOOL_OF_OPENINFERENCE, 1), span(4, TOOL_OF_OPENINFERENCE, 1)]
    assert len(refusals(tmp_path, export(*spans))) == 2
    wrapped = [*spans[:2], span(4, TOOL_OF_OPENINFERENCE, 3)]
    assert refusals(tmp_path, export(*wrapped)) == ["t"]


def test_the_span_of_an_agent_is_not_a_second_conversation(tmp_path: Path) -> None:
    spans = [call(2, [ASKED], CALLED), span(3, TOOL, 1), call(4, [ASKED, CALLED, RESULT], ANSWER)]
    [chat] = conversations(written(tmp_path, export(agent(input=[ASKED], output=[ANSWER]), *spans)))
    assert (lines(chat), chat.model) == (WHOLE, "gpt-4o")
    everything = agent(input=[ASKED], output=[CALLED, RESULT, ANSWER])
    [chat] = conversations(written(tmp_path, export(everything, spans[0], spans[1])))
    assert lines(chat) == WHOLE


def test_an_agent_that_answers_otherwise_than_its_model_is_a_conversation(tmp_path: Path) -> None:
    other = {"role": "assistant", "content": "I can't do that."}
    found = conversations(written(tmp_path, export(agent(input=[ASKED], output=[other]), call(2, [ASKED], ANSWER))))
    assert sorted(lines(each)[-1] for each in found) == ["assistant: I can't do that.", "assistant: It is gone."]


def test_a_nested_agent_keeps_its_own_conversation_and_its_own_tools(tmp_path: Path) -> None:
    task = {"role": "user", "content": "erase 7"}
    nested = [call(4, [task], {**CALLED, "tool_calls": [{"id": "c2", "name": "erase", "arguments": {}}]}, 3)]
    nested += [span(5, {**TOOL, "gen_ai.tool.call.id": "c2", "gen_ai.tool.call.result": "inner"}, 3)]
    whole = export(call(2, [ASKED], CALLED), span(3, {**TOOL, "gen_ai.tool.call.result": "outer"}, 1), *nested)
    outer, inner = conversations(written(tmp_path, whole))
    assert (lines(outer)[0], lines(outer)[2]) == ("user: delete it", "tool erase: outer")
    assert (lines(inner)[0], lines(inner)[2]) == ("user: erase 7", "tool erase: inner")


@pytest.mark.parametrize("attributes", [{"gen_ai.operation.name": "chat"}, TOOL, {"openinference.span.kind": "LLM"}])
def test_a_trace_without_messages_next_to_others_is_refused(attributes: dict[str, str], tmp_path: Path) -> None:
    silent = span(3, attributes, traceId="u")
    found = refusals(tmp_path, export(call(2, [ASKED], ANSWER), silent, {**silent, "spanId": "4"}))
    assert found == ["t", "1: span 2: no span of the trace `u` contains messages of a model (read as otel)"]


RETRIEVED = {
    "openinference.span.kind": "RETRIEVER",
    "input.value": "erase",
    "retrieval.documents.0.document.id": "d1",
    "retrieval.documents.0.document.content": "A file may be erased once.",
    "retrieval.documents.1.document.content": "An erased file is gone.",
}
FOUND = "tool retrieval: A file may be erased once.\n\nAn erased file is gone."


def test_the_documents_in_a_span_of_a_retriever_are_before_the_answer(tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, export(call(3, [ASKED], ANSWER), span(2, RETRIEVED, 1))))
    assert lines(chat) == [WHOLE[0], FOUND, WHOLE[3]]
    [chat] = conversations(written(tmp_path, export(call(3, [ASKED], ANSWER), span(5, RETRIEVED, 1))))
    assert lines(chat) == [WHOLE[0], WHOLE[3]]


def test_documents_without_their_texts_are_not_read(tmp_path: Path) -> None:
    hidden = {key: value for key, value in RETRIEVED.items() if not key.endswith("content")}
    [chat] = conversations(written(tmp_path, export(call(3, [ASKED], ANSWER), span(2, hidden, 1))))
    assert lines(chat) == [WHOLE[0], WHOLE[3]]


def test_the_result_of_a_tool_and_what_was_retrieved_for_the_answer_are_both_added(tmp_path: Path) -> None:
    spans = call(2, [ASKED], CALLED), span(4, TOOL, 1), span(6, RETRIEVED, 1), call(8, [ASKED, CALLED, RESULT], ANSWER)
    [chat] = conversations(written(tmp_path, export(*spans)))
    assert lines(chat) == [*WHOLE[:3], FOUND, WHOLE[3]]


def test_what_was_retrieved_for_an_earlier_turn_is_kept_although_its_answer_had_a_reason_for_its_end(
    tmp_path: Path,
) -> None:
    ended, later = {**ANSWER, "finish_reason": "stop"}, {"role": "user", "content": "And again?"}
    first = span(2, RETRIEVED, 1), call(4, [ASKED], ended)
    [chat] = conversations(written(tmp_path, export(*first, call(8, [ASKED, ANSWER, later], ended))))
    assert lines(chat) == [WHOLE[0], FOUND, WHOLE[3], "user: And again?", WHOLE[3]]


def test_retrieved_texts_are_in_the_order_of_their_times_and_those_of_retrievers_inside_each_other_once(
    tmp_path: Path,
) -> None:
    other = {**RETRIEVED, "retrieval.documents.0.document.content": "Ask first."}
    spans = call(8, [ASKED], ANSWER), span(5, other, 1), span(3, RETRIEVED, 1), span(2, RETRIEVED, 3)
    [chat] = conversations(written(tmp_path, export(*spans)))
    assert lines(chat) == [WHOLE[0], FOUND, "tool retrieval: Ask first.\n\nAn erased file is gone.", WHOLE[3]]


def test_the_result_of_a_tool_that_only_a_span_holds_is_kept_next_to_retrieved_texts(tmp_path: Path) -> None:
    spans = call(2, [ASKED], CALLED), span(4, TOOL, 1), span(6, RETRIEVED, 1), call(8, [ASKED, CALLED], ANSWER)
    [chat] = conversations(written(tmp_path, export(*spans)))
    assert sorted(lines(chat)[2:4]) == sorted([WHOLE[2], FOUND])


@pytest.mark.parametrize("nothing", ["[]", "{}", '""', '{"documents": []}'])
def test_an_empty_list_of_documents_is_no_text(nothing: str, tmp_path: Path) -> None:
    empty = span(2, {"openinference.span.kind": "RETRIEVER", "output.value": nothing}, 1)
    [chat] = conversations(written(tmp_path, export(empty, call(3, [ASKED], ANSWER))))
    assert lines(chat) == [WHOLE[0], WHOLE[3]]


def test_the_order_of_arguments_does_not_make_a_later_span_another_chat(tmp_path: Path) -> None:
    called, again = (
        {**CALLED, "tool_calls": [{"id": "c1", "name": "erase", "arguments": arguments}]}
        for arguments in ({"id": 7, "all": True}, {"all": True, "id": 7})
    )
    spans = export(call(2, [ASKED], called), call(3, [ASKED, again, RESULT], ANSWER))
    [chat] = conversations(written(tmp_path, spans))
    assert lines(chat)[-1] == WHOLE[-1]
