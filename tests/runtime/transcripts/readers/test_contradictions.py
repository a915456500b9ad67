"""Records of evaluation tools and tables that say two things, or whose last answer is elsewhere or missing."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import NATIVE, conversations, lines, refusals, written

ASKED, SAID, AGAIN, BAD = (
    {"role": role, "content": text}
    for role, text in [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "bad")]
)
TALK = [ASKED, SAID, AGAIN]
NO_ANSWERS: list[Any] = [None, "", [], {}]


def sample(**parts: Any) -> dict[str, Any]:
    return {"id": "1", "epoch": 1, "input": "a", "target": "", "messages": [ASKED, SAID], **parts}


def result(**parts: Any) -> dict[str, Any]:
    return {"prompt": {"raw": json.dumps(TALK)}, "provider": "p", "vars": {}, **parts}


def run(kind: str, outputs: Any) -> dict[str, Any]:
    return {"id": "r", "run_type": kind, "inputs": {"messages": TALK}, "outputs": outputs}


@pytest.mark.parametrize(
    "record",
    [
        sample(messages=TALK, output={"choices": [{"message": BAD}]}),
        sample(output={"choices": [{"message": BAD}]}),
        sample(messages=[], input=TALK, output={"choices": [{"message": BAD}]}),
        sample(messages=[*TALK, {**BAD, "content": "attachment://x"}], attachments={"x": "bad"}),
        result(response={"output": "bad"}),
        run("llm", {"messages": [BAD]}),
    ],
)
def test_the_last_answer_is_read_anywhere(record: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert lines(chat)[-1] == "assistant: bad"


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (result(response={"output": "b", "error": "timeout"}), "timeout"),
        (result(response={"error": {"code": 1}}), "the provider failed"),
        (result(), "the output is missing"),
        (run("llm", {"messages": [{"role": "user", "content": "bad"}]}), "the run has no answer"),
        (run("chain", '{"messages": [{"role": "assistant", "cont'), "the run has no answer"),
        (
            {"root_span_id": "r", "span_id": "r", "input": TALK, "output": {"messages": [AGAIN]}},
            "the event has no output",
        ),
        (sample(messages=TALK), "the sample has no answer"),
        (sample(messages=TALK, output={"choices": [], "error": "timeout"}), "timeout"),
        *(({"messages": TALK, "response": empty}, "the request has no answer") for empty in NO_ANSWERS),
        ({"input": TALK, "output": [], "status": "failed"}, "the request has no answer"),
    ],
)
def test_an_answer_that_failed_is_not_an_answer(record: dict[str, Any], error: str, tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert chat.messages[-1].metadata == {"error": error}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (sample(messages=[ASKED, {**SAID, "content": "attachment://x"}]), "attachments lacks `x`"),
        (sample(messages=[ASKED, {**SAID, "content": "attachment://x"}], attachments={"y": "z"}), "attachments lacks"),
        (
            {
                "messages": [ASKED, BAD],
                "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}],
            },
            "`messages` and `conversations` contain different messages",
        ),
        (
            {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b", "content": "bad"}]},
            "conversations[1] has a `value` and another `content`",
        ),
        (
            {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b", "role": "user"}]},
            "conversations[1] has a `from` and another `role`",
        ),
        (
            {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b", "text": "bad"}]},
            "conversations[1] has a `value` and another `text`",
        ),
        (
            {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}], "response": "bad"},
            "`response` is not among the messages in `conversations`",
        ),
        (
            {"messages": [ASKED, BAD], "tool_calls": [{"function": {"name": "visit", "arguments": "{}"}}]},
            "`tool_calls` is not among the messages in `messages`",
        ),
        (
            {"messages": [ASKED, BAD], "toolCalls": [{"toolName": "visit", "args": {}}]},
            "`toolCalls` is not among the messages in `messages`",
        ),
    ],
)
def test_a_record_that_says_two_things_is_refused(record: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert reason in refusals(tmp_path, [record])[0]


@pytest.mark.parametrize("columns", ["question,prompt", "input,query", "instruction,question"])
def test_a_table_with_two_columns_for_the_question_is_refused(columns: str, tmp_path: Path) -> None:
    found = refusals(tmp_path, f"{columns},answer\na,b,c\n", "chats.csv")
    assert "may all contain the question; say which one with `--columns user=" in found[0]


def test_a_message_per_row_asks_for_no_column_of_questions(tmp_path: Path) -> None:
    text = "conversation_id,role,content,question,prompt\none,user,Hello,x,y\none,assistant,Hi,x,y\n"
    (chat,) = conversations(written(tmp_path, text, "chats.csv"))
    assert [message.text for message in chat.messages] == ["Hello", "Hi"]


@pytest.mark.parametrize("columns", ["answer,response", "response,answer", "answer,Answer", "completion,output"])
def test_a_table_with_two_columns_for_the_answer_is_refused(columns: str, tmp_path: Path) -> None:
    found = refusals(tmp_path, f"question,{columns}\na,b,bad\n", "chats.csv")
    assert "may all contain the answer; say which one with `--columns assistant=" in found[0]
    named = written(tmp_path, f"question,{columns}\na,b,bad\n", "chats.csv")
    [chat] = conversations(named, columns={"assistant": columns.split(",")[1]})
    assert lines(chat) == ["user: a", "assistant: bad"]


def test_a_native_conversation_with_messages_next_to_its_turns_is_refused(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hurtful"}]
    for key in ("messages", "conversations", "choices"):
        (reason,) = refusals(tmp_path, [{**NATIVE, key: said}])
        assert f"`turns` and `{key}` both contain a conversation" in reason


@pytest.mark.parametrize(
    "beside",
    [{"text": "hurtful"}, {"refusal": "No."}, {"tool_calls": [{"name": "pay"}]}, {"parts": [{"text": "hurtful"}]}],
)
def test_a_native_turn_that_also_says_or_does_something_else_is_refused(beside: dict[str, Any], tmp_path: Path) -> None:
    asked, said = NATIVE["turns"][:2]
    (key,) = beside
    for record, name in (({**NATIVE, "turns": [asked, {**said, **beside}]}, "batch.jsonl"), (None, "m__s.jsonl")):
        rows = [record] if record else [asked, {**said, **beside}]
        (reason,) = refusals(tmp_path, rows, name)
        assert f"`{key}` is not read with `content`; write the conversation with `messages`" in reason


@pytest.mark.parametrize("note", [{"text": " b "}, {"tool_calls": []}, {"refusal": None}, {"output": 12, "note": "x"}])
def test_an_annotation_of_a_native_turn_is_allowed(note: dict[str, Any], tmp_path: Path) -> None:
    asked, said = NATIVE["turns"][:2]
    [chat] = conversations(written(tmp_path, [{**NATIVE, "turns": [asked, {**said, "content": "b", **note}]}]))
    assert lines(chat)[-1] == "assistant: b"


@pytest.mark.parametrize("key", ["output", "answer", "response"])
def test_a_run_whose_answer_is_not_among_its_messages_is_refused(tmp_path: Path, key: str) -> None:
    reply = {"role": "assistant", "content": "bye"}
    (reason,) = refusals(tmp_path, [run("chain", {"messages": [reply], key: "hurtful"})])
    assert f"`{key}` is not among the messages that were read from `messages`" in reason
    (found,) = conversations(written(tmp_path, [run("chain", {"messages": [reply], key: "bye"})]))
    assert lines(found)[-1] == "assistant: bye"


@pytest.mark.parametrize(
    ("output", "last"),
    [("bad", "assistant: bad"), ("b", "user: c"), ("User: a\n---\nAssistant: b\n---\nUser: c", "user: c")],
)
def test_an_attack_over_several_turns_is_read_whole(output: str, last: str, tmp_path: Path) -> None:
    attack = result(response={"output": output, "metadata": {"messages": TALK}}, prompt={"raw": "the goal"})
    [chat] = conversations(written(tmp_path, [attack]))
    assert (lines(chat)[:2], lines(chat)[-1]) == (["user: a", "assistant: b"], last)


def test_a_long_text_is_read_wherever_a_message_of_inspect_refers_to_it(tmp_path: Path) -> None:
    call = {"id": "c", "function": "pay", "arguments": {"to": "attachment://x"}}
    said = [ASKED, {**SAID, "content": "", "tool_calls": [call]}, SAID]
    [chat] = conversations(written(tmp_path, [sample(messages=said, attachments={"x": "Mallory"})]))
    assert lines(chat)[1] == 'assistant:  -> pay {"to": "Mallory"}'


def test_a_tool_that_the_provider_of_an_inspect_model_ran_has_its_result(tmp_path: Path) -> None:
    used = {"type": "tool_use", "id": "c", "name": "search", "arguments": "{}", "result": "found", "error": None}
    [chat] = conversations(written(tmp_path, [sample(messages=[ASKED, {**SAID, "content": [used, "b"]}])]))
    assert lines(chat) == ["user: a", "assistant:  -> search {}", "tool search: found", "assistant: b"]


def test_a_log_without_samples_is_refused(tmp_path: Path) -> None:
    logs: list[dict[str, Any]] = [{"eval": {}, "status": "success", "results": {}}, {"eval": {}, "samples": None}]
    for log in logs:
        assert "the log has no samples" in refusals(tmp_path, [log])[0]


@pytest.mark.parametrize("key", ["history", "items", "input", "prompt"])
def test_a_list_of_messages_next_to_the_messages_may_only_repeat_them(key: str, tmp_path: Path) -> None:
    chat = {"id": "1", "messages": [ASKED, SAID], key: [ASKED]}
    assert refusals(tmp_path, [chat]) == ["1"]
    (refused,) = refusals(tmp_path, [{**chat, key: [AGAIN]}])
    assert f"`{key}` contains other messages than `messages`" in refused


@pytest.mark.parametrize("key", ["replies", "messages", "children", "thread"])
def test_messages_within_a_message_are_refused(key: str, tmp_path: Path) -> None:
    (refused,) = refusals(tmp_path, [{"messages": [ASKED, {**SAID, key: [AGAIN]}]}])
    assert f"messages[1].{key} contains messages" in refused


def test_messages_without_a_conversation_are_not_joined_next_to_others_that_name_theirs(tmp_path: Path) -> None:
    named = [{**each, "conversation_id": ["a"]} for each in (ASKED, SAID)]
    other = [{**each, "conversation_id": ["b"]} for each in (ASKED, SAID)]
    assert len(conversations(written(tmp_path, [*named, *other]))) == 2
    assert "some messages name no conversation" in refusals(tmp_path, [*named, AGAIN, BAD])[1]
    table = "conversation_id,role,content\n1,user,a\n1,assistant,b\n,user,c\n,assistant,d\n"
    assert "some messages name no conversation" in refusals(tmp_path, table, "chat.csv")[1]
