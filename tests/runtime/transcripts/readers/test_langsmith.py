"""Runs of LangSmith: every shape of their messages, and what fails in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.plans import check, plan
from tests.runtime.transcripts.formats import ANSWER, ASKED, CHATS, conversations, lines, refusals, written

from rulewright_runtime.execution import execute
from rulewright_runtime.transcripts.view import usage_of


def test_of_the_runs_of_a_trace_the_calls_of_models_are_read_with_their_usage_and_model() -> None:
    (found,) = conversations(CHATS / "langsmith.jsonl")
    usage = {"input_tokens": 20, "output_tokens": 8, "total_tokens": 28}
    assert (found.id, found.model) == ("bank-7", "m-1")
    assert usage_of(found.usage) == {**{key: 2 * usage[key] for key in usage}, "latency": 0.001083}
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


@pytest.mark.parametrize(("content", "arguments"), [("", '{"q": 1}'), (None, '{"q":1}'), ([], '{ "q": 1 }')])
def test_a_call_that_the_next_run_repeats_in_other_writing_is_read_once(
    tmp_path: Path, content: Any, arguments: str
) -> None:
    def calling(content: Any, arguments: str) -> dict[str, Any]:
        function = {"name": "find", "arguments": arguments}
        call = {"id": "c", "type": "function", "function": function}
        return {"role": "assistant", "content": content, "tool_calls": [call]}

    asked = [{"role": "user", "content": ASKED[6:]}]
    shown = [*asked, calling(None, '{"q":1}'), {"role": "tool", "tool_call_id": "c", "content": "none"}]
    first = langsmith_run({"messages": asked}, {"choices": [{"message": calling(content, arguments)}]}, id="1")
    last = langsmith_run({"messages": shown}, COMPLETED, id="2")
    runs = [{**each, "run_type": "llm", "total_cost": 2, "start_time": each["id"]} for each in (first, last)]
    (found,) = conversations(written(tmp_path, runs))
    assert (len(found.messages), found.usage) == (4, {"total_cost": 4})


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
        (langsmith_run({"k": 3}, {"answer": "x"}), "run 2: inputs contain neither `messages` nor one text"),
        (langsmith_run({"messages": [{"role": "wizard", "content": "x"}]}, {}), "run 2: inputs.messages[0].role is"),
        (langsmith_run({"messages": [{"lc": 1, "kwargs": 5}]}, {}), "run 2: inputs.messages[0].kwargs is `5`"),
    ],
)
def test_a_broken_run_of_langsmith_is_reported_by_its_number(tmp_path: Path, run: dict[str, Any], reason: str) -> None:
    good = langsmith_run({"question": "hi"}, {"answer": "hello"}, trace_id="t0")
    first, second = refusals(tmp_path, [good, run])
    assert (first, second.startswith(f"1: {reason}")) == ("t0", True)


def chain(inputs: dict[str, Any], outputs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": "r", "run_type": "chain", "inputs": inputs, "outputs": outputs or {"output": "bye"}}


HUMAN, AI = {"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"chat_history": [HUMAN, AI], "input": "more"}, ["user: hi", "assistant: hello", "user: more"]),
        ({"chat_history": [HUMAN], "messages": [HUMAN]}, ["user: hi"]),
        ({"messages": [HUMAN], "question": " hi "}, ["user: hi"]),
        ({"messages": [], "question": "hi"}, ["user: hi"]),
        ({"messages": [HUMAN], "language": "en"}, ["user: hi"]),
    ],
)
def test_the_history_of_a_run_is_read_before_its_question(inputs: Any, said: list[str], tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [chain(inputs)]))
    assert lines(found) == [*said, "assistant: bye"]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (chain({"messages": [HUMAN], "question": "other"}), "inputs: `question` is not among the messages"),
        (chain({"input": "one", "question": "two"}), "inputs: `question` is not among the messages that were"),
        (chain({"messages": [HUMAN], "input": [AI]}), "inputs: `input` is not among the messages"),
        (chain({"messages": [HUMAN]}, {"messages": [AI], "output": {**AI, "content": "bad"}}), "outputs: `output` is"),
        (chain({"input": "a", "chat_history": "Human: hi\nAI: hello"}), "inputs.chat_history is "),
    ],
)  # fmt: skip
def test_a_run_that_says_two_things_is_refused(run: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert reason in refusals(tmp_path, [run])[0]


def test_a_stored_message_without_content_is_refused(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, [chain({"messages": [HUMAN]}, {"messages": [{"type": "ai", "data": "bad"}]})])
    assert found.startswith("1: run 1: outputs.messages[0] has no `content`")


@pytest.mark.parametrize("kind", ["text", "content"])
def test_a_value_with_a_text_in_it_is_a_message(kind: str, tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [chain({"input": {kind: "a"}}, {"output": {kind: "b", "score": 1}})]))
    assert lines(found) == ["user: a", "assistant: b"]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (
            chain({"chat_history": [HUMAN, AI], "input": ["bad"]}),
            "inputs: the question after the history is not a message",
        ),
        (chain({"input": "a"}, {"answer": ["bad"]}), "outputs contain neither `messages` nor one text"),
    ],
)
def test_a_run_whose_question_or_answer_is_not_read_is_refused(
    run: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    assert reason in refusals(tmp_path, [run])[0]
    (unanswered,) = conversations(written(tmp_path, [chain({"input": "a"}, {"output": None})]))
    assert unanswered.messages[-1].metadata["error"] == "the run has no answer"


def test_the_documents_of_a_retriever_are_before_the_answer(tmp_path: Path) -> None:
    root = langsmith_run({"question": ASKED[6:]}, {"answer": ANSWER[11:]})
    documents = {"documents": [{"page_content": "10 euros", "metadata": {}, "type": "Document"}]}
    retriever = {**langsmith_run({"query": "7"}, documents), "id": "r2", "run_type": "retriever", "parent_run_id": "r1"}
    (found,) = conversations(written(tmp_path, [root, retriever]))
    assert lines(found) == [ASKED, "tool retrieval: 10 euros", ANSWER]
