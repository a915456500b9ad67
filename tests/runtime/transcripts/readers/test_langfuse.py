"""Langfuse: traces and observations, as its interface and its API export them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.transcripts.view import usage_of

ASKED = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "hello"}
CALL: dict[str, Any] = {
    "id": "g1", "traceId": "t1", "type": "GENERATION", "startTime": "2025-03-01T10:00:00.000Z", "model": "m-1",
    "input": [ASKED], "output": SAID, "usageDetails": {"input": 3, "output": 2, "total": 5}, "level": "DEFAULT",
    "parentObservationId": None,
}  # fmt: skip
LATER = {**CALL, "id": "g2", "traceId": "t2", "startTime": "2025-03-01T10:01:00Z", "input": [ASKED, SAID, ASKED]}
EVALUATOR = {**CALL, "id": "e", "type": "EVALUATOR"}
TRACE = {"id": "t1", "timestamp": "2025-03-01", "sessionId": "s", "input": {"question": "hi"}, "output": "hello"}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([CALL], "chat.jsonl"),
        ([{**CALL, "input": json.dumps([ASKED]), "output": json.dumps(SAID)}], "chat.jsonl"),
        ([{**CALL, "input": json.dumps({"messages": [ASKED]}), "output": "hello"}], "chat.jsonl"),
        (json.dumps({"data": [CALL], "meta": {"page": 1}}, indent=1), "chat.json"),
        ([TRACE], "chat.jsonl"),
        ([{**TRACE, "observations": [CALL], "scores": []}], "chat.jsonl"),
        ([{"trace": TRACE, "observations": [CALL]}], "chat.jsonl"),
        ([{**TRACE, "observations": ["g1"]}], "chat.jsonl"),
        ([{**TRACE, "observations": [{**CALL, "type": "SPAN", "output": "other"}]}], "chat.jsonl"),
        ([CALL, EVALUATOR, {**LATER, "traceId": "t1", "parentObservationId": "e"}], "chat.jsonl"),
    ],
)  # fmt: skip
def test_every_export_becomes_the_same_messages(value: Any, name: str, tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, value, name))
    assert (found.source, lines(found)) == ("langfuse", ["user: hi", "assistant: hello"])


def test_the_traces_of_a_session_are_one_conversation(tmp_path: Path) -> None:
    traces = [
        {**TRACE, "id": each["traceId"], "timestamp": each["startTime"], "observations": [each]}
        for each in (LATER, CALL)
    ]
    (found,) = conversations(written(tmp_path, traces))
    assert (found.id, found.model, found.usage["total_tokens"]) == ("s", "m-1", 10)
    assert lines(found) == ["user: hi", "assistant: hello", "user: hi", "assistant: hello"]


@pytest.mark.parametrize("costs", [{"costDetails": {"input": 1, "total": 3}}, {"calculatedTotalCost": 3}])
def test_costs_and_durations_of_the_calls_of_a_session_are_added(costs: dict[str, Any], tmp_path: Path) -> None:
    calls = [
        {**CALL, **costs, "endTime": "2025-03-01T10:00:02Z", "sessionId": "s"},
        {**LATER, **costs, "endTime": "2025-03-01T10:01:00.5Z", "sessionId": "s"},
    ]
    (found,) = conversations(written(tmp_path, calls))
    assert usage_of(found.usage) == {
        "input_tokens": 6, "output_tokens": 4, "total_tokens": 10, "cost": 6.0, "latency": 2.5,
    }  # fmt: skip


def test_a_call_inside_another_counts_once_and_a_repeated_one_each_time(tmp_path: Path) -> None:
    tool = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "1"}
    inner = {**CALL, "parentObservationId": "g1"}
    calls = [
        CALL,
        {**inner, "id": "g2", "output": tool},
        {**inner, "id": "g3", "output": tool, "startTime": "2025-03-01T10:00:01Z"},
        {**inner, "id": "g4", "input": [ASKED, tool, result], "startTime": "2025-03-01T10:00:02Z"},
    ]
    (found,) = conversations(written(tmp_path, calls))
    assert (len(found.messages), found.usage["total_tokens"]) == (4, 15)


def test_a_cost_that_one_of_the_calls_lacks_is_unknown(tmp_path: Path) -> None:
    calls = [{**CALL, "totalCost": 3, "sessionId": "s"}, {**LATER, "sessionId": "s"}]
    (found,) = conversations(written(tmp_path, calls))
    assert usage_of(found.usage) == {"input_tokens": 6, "output_tokens": 4, "total_tokens": 10}


def test_an_observation_keeps_its_other_keys_and_a_repeated_input_is_read_once(tmp_path: Path) -> None:
    state = {"messages": [ASKED, SAID]}
    (found,) = conversations(
        written(tmp_path, [{**CALL, "input": state["messages"][:1], "output": state, "tags": ["a"]}])
    )
    assert lines(found) == ["user: hi", "assistant: hello"]
    assert (found.metadata["tags"], found.metadata["usageDetails"]["total"]) == (["a"], 5)


@pytest.mark.parametrize("broken", [{"output": None}, {"level": "ERROR", "statusMessage": "the event has no output"}])
def test_a_generation_that_failed_has_no_answer(broken: dict[str, Any], tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [{**CALL, **broken}]))
    assert found.messages[-1].metadata == {"error": "the event has no output"}


def test_messages_of_a_page_in_any_order_are_refused(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, [{"object": "list", "data": [SAID, ASKED], "has_more": False}])
    assert "unknown shape: an object with the keys `object`, `data`, `has_more`" in found


@pytest.mark.parametrize("more", [{"meta": {"page": 1, "totalPages": 2}}, {"has_more": True}, {"pages": {"next": "c"}}])
def test_a_page_without_the_next_one_is_refused_and_so_is_what_it_begins(more: Any, tmp_path: Path) -> None:
    page = {"data": [CALL], **more}
    (first, second) = refusals(tmp_path, [page])
    assert "1: more records are on the next page" in first
    assert "may lack its line 1" in second
    (found,) = conversations(written(tmp_path, [page, {"data": [{**CALL, "id": "g2"}], "meta": {"page": 2}}]))
    assert found.id == "t1"
    chats = {"data": [{"id": "1", "messages": [ASKED, SAID]}], **more}
    (first, second) = refusals(tmp_path, [chats])
    assert (first, "more records" in second) == ("1", True)


RETRIEVER = {
    **CALL, "id": "r", "type": "RETRIEVER", "startTime": "2025-03-01T09:59:59Z", "model": None, "usageDetails": {},
    "input": "hi", "output": [{"page_content": "We open at 8."}, {"page_content": "We close at 5."}],
}  # fmt: skip
FOUND = "tool retrieval: We open at 8.\n\nWe close at 5."


@pytest.mark.parametrize(
    "output",
    [
        RETRIEVER["output"],
        json.dumps(RETRIEVER["output"]),
        {"documents": RETRIEVER["output"], "k": 2},
        {"context": "We open at 8.\n\nWe close at 5.", "sources": ["hours.md"]},
        ["We open at 8.", "We close at 5."],
        "We open at 8.\n\nWe close at 5.",
    ],
)
def test_what_a_retriever_found_is_before_the_answer(output: Any, tmp_path: Path) -> None:
    retriever = {**RETRIEVER, "output": output}
    (found,) = conversations(written(tmp_path, [CALL, retriever]))
    assert lines(found) == ["user: hi", FOUND, "assistant: hello"]
    (found,) = conversations(written(tmp_path, [{**TRACE, "observations": [retriever]}]))
    assert lines(found) == ["user: hi", FOUND, "assistant: hello"]


@pytest.mark.parametrize("late", [{}, {"startTime": "2025-03-01T10:00:30Z"}])
def test_what_was_retrieved_is_in_the_turn_of_its_trace(late: dict[str, str], tmp_path: Path) -> None:
    retriever = {**RETRIEVER, "traceId": "t2", "startTime": "2025-03-01T10:00:59Z"}
    sessions = [{**each, "sessionId": "s"} for each in (CALL, LATER, retriever, {**RETRIEVER, **late})]
    (found,) = conversations(written(tmp_path, sessions))
    first = ["user: hi", *([] if late else [FOUND]), "assistant: hello"]  # after the answer nobody has read it
    assert lines(found) == [*first, "user: hi", FOUND, "assistant: hello"]


def test_what_the_prompt_shows_of_the_retrieved_texts_is_not_added(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "Context:  We open\nat 8.\nQuestion: hi"}
    (found,) = conversations(written(tmp_path, [{**CALL, "input": [asked]}, RETRIEVER]))
    assert [message.role for message in found.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("How do I reset my password?", ["How do I reset my password?", "Open the settings and press reset."]),
        ("How do I reset it?", ["How do I reset it?\n\nPress reset."]),
        ("Do you open at 15?", ["5"]),
    ],
)
def test_a_question_that_a_retriever_found_and_a_part_of_a_word_are_no_retrieved_text_in_the_prompt(
    asked: str, found: list[str], tmp_path: Path
) -> None:
    call = {**CALL, "input": [{"role": "user", "content": asked}]}
    (chat,) = conversations(written(tmp_path, [call, {**RETRIEVER, "output": found}]))
    assert chat.messages[1].text == "\n\n".join(found)


def test_what_was_retrieved_for_a_call_without_a_time_is_kept(tmp_path: Path) -> None:
    (chat,) = conversations(written(tmp_path, [{**CALL, "startTime": None}, RETRIEVER]))
    assert lines(chat) == ["user: hi", FOUND, "assistant: hello"]


def test_the_results_of_several_retrievers_are_in_their_order(tmp_path: Path) -> None:
    (chat,) = conversations(written(tmp_path, [CALL, RETRIEVER, {**RETRIEVER, "id": "r2", "output": "No more."}]))
    assert lines(chat)[1:3] == [FOUND, "tool retrieval: No more."]


def test_a_retriever_without_a_text_of_its_own_keeps_its_whole_output(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [CALL, {**RETRIEVER, "output": [{"id": 7}]}]))
    assert lines(found)[1] == "tool retrieval: [{'id':7}]"
    (found,) = conversations(written(tmp_path, [CALL, {**RETRIEVER, "output": []}]))
    assert lines(found) == ["user: hi", "assistant: hello"]


FIRST = {**CALL, "input": [{"role": "user", "content": "one"}], "output": "1"}
SECOND = {**CALL, "id": "g2", "input": [{"role": "user", "content": "two"}], "output": "2"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2025-03-01T11:59:00+02:00", "2025-03-01T10:00:00Z"),
        ("2025-03-01T23:59:00-01:00", "2025-03-02T01:00:00.5Z"),
        ("2025-03-01T10:00:00.000000001Z", "2025-03-01T10:00:00.000000002Z"),
        ("2025-03-01 10:00:00", "2025-03-01T10:00:01+00:00"),
        (1740823200, 1740823201000),
        (1.740823200e18, 1.740823201e18),
    ],
)
def test_calls_are_in_the_order_of_their_times_whatever_the_offset(tmp_path: Path, first: Any, second: Any) -> None:
    of_langfuse = [{**SECOND, "startTime": second}, {**FIRST, "startTime": first}]
    of_langsmith = [
        {"id": each["id"], "trace_id": "t1", "run_type": "llm", "start_time": each["startTime"],
         "inputs": {"messages": each["input"]}, "outputs": {"output": each["output"]}}
        for each in of_langfuse
    ]  # fmt: skip
    of_spans = [
        {"traceId": "t1", "spanId": each["id"], "endTime": each["startTime"],
         "attributes": {"gen_ai.input.messages": each["input"], "gen_ai.output.messages": each["output"]}}
        for each in of_langfuse
    ]  # fmt: skip
    for records in (of_langfuse, of_langsmith, of_spans):
        found = conversations(written(tmp_path, records))
        assert [lines(each)[0] for each in found] == ["user: one", "user: two"]


SPAN = {**RETRIEVER, "type": "SPAN"}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "retrieve_documents", "output": "We open at 8.\n\nWe close at 5."},
        {"name": "Vector search", "output": {"hits": ["We open at 8.", "We close at 5."]}},
        {"name": "fetch"},
        {"output": json.dumps({"query": "hi", "documents": RETRIEVER["output"]})},
        {"output": [{"node": {"text": text}, "score": 0.5} for text in ("We open at 8.", "We close at 5.")]},
        {"output": [{"text": text, "source": "hours.md"} for text in ("We open at 8.", "We close at 5.")]},
        {"output": [{"lc": 1, "kwargs": each} for each in RETRIEVER["output"]]},
    ],
)
def test_a_retriever_may_be_logged_as_any_span(changes: dict[str, Any], tmp_path: Path) -> None:
    for records in ([CALL, {**SPAN, **changes}], [{**TRACE, "observations": [{**SPAN, **changes}]}]):
        (found,) = conversations(written(tmp_path, records))
        assert lines(found) == ["user: hi", FOUND, "assistant: hello"]


@pytest.mark.parametrize(
    "changes",
    [
        {"output": [{"role": "user", "content": "We open at 8.", "metadata": {}}]},
        {"output": [{"text": "We open at 8."}]},
        {"output": "We open at 8."},
        {"name": "parse", "output": {"documents": [], "urls": []}},
        {"id": "s", "name": "retrieval chain"},
        {"name": "retrieve_account", "output": {"id": 7, "tier": "gold"}},
    ],
)
def test_other_spans_have_no_retrieved_texts(changes: dict[str, Any], tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [{**CALL, "parentObservationId": "s"}, {**SPAN, **changes}]))
    assert lines(found) == ["user: hi", "assistant: hello"]
