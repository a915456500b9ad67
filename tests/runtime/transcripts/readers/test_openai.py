"""OpenAI's shapes: whatever a record says twice is refused or read whole, and a request without an answer has none."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.readers.record_values import ShapeError
from rulewright_runtime.transcripts.readers.shapes import chat
from rulewright_runtime.transcripts.transcript_reader import Reader

ASKED, SAID, BAD = (
    {"role": role, "content": text} for role, text in [("user", "a"), ("assistant", "b"), ("assistant", "bad")]
)
AGAIN = {"role": "user", "content": "c"}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"messages": [ASKED, SAID], "conversation": [ASKED, BAD]}, "`messages` and `conversation` contain different"),
        ({"messages": [ASKED, SAID, AGAIN], "choices": [{"text": "bad"}]}, "`choices` contains no message"),
        ({"messages": [ASKED, SAID, AGAIN], "choices": [{"delta": BAD}]}, "`choices` contains no message"),
        ({"messages": [ASKED, SAID, AGAIN], "choices": []}, "`choices` contains no message"),
        ({"messages": [ASKED, SAID, AGAIN], "output": 7}, "`output` contains no message"),
        ({"messages": [ASKED, SAID, AGAIN], "completion": False}, "`completion` contains no message"),
        ({"messages": [ASKED], "choices": [{"message": AGAIN}]}, "choices[0].message.role is `user`"),
        (
            {"messages": [ASKED, {"role": "assistant", "content": [{"type": "text", "text": "b", "content": "bad"}]}]},
            "messages[1].content[0] has a `text` and another `content`",
        ),
    ],
)
def test_a_record_that_says_two_things_is_refused(record: dict[str, Any], reason: str, tmp_path: Path) -> None:
    assert reason in refusals(tmp_path, [record])[0]


@pytest.mark.parametrize(
    "reply",
    [
        {"content": "b", "parts": [{"type": "text", "text": "bad"}]},
        {"content": [{"type": "text", "text": "b"}, {"type": "Text", "text": "bad"}]},
        {"content": [{"type": "text", "text": "b"}, {"type": "new", "content": "bad"}]},
        {"content": ["b", {"type": "new", "text": "bad"}]},
    ],
)
def test_no_part_of_a_reply_is_skipped(reply: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [{"messages": [ASKED, {"role": "assistant", **reply}]}]))
    assert [part.text for part in chat.messages[-1].parts] == ["b", "bad"]


def test_parts_that_repeat_the_content_are_read_once(tmp_path: Path) -> None:
    reply = {"role": "assistant", "content": "b", "parts": [{"type": "step-start"}, {"type": "text", "text": "b"}]}
    [chat] = conversations(written(tmp_path, [{"messages": [ASKED, reply]}]))
    assert lines(chat) == ["user: a", "assistant: b"]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [ASKED, SAID], "choices": ["A", "B"]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "content": ""}]}, SAID]},
    ],
)
def test_options_of_a_question_and_an_empty_content_contradict_nothing(record: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert lines(chat) == ["user: a", "assistant: b"]


@pytest.mark.parametrize(
    "record",
    [
        {"request": {"messages": [ASKED, SAID, AGAIN]}, "response": None},
        {"request": {"messages": [ASKED, SAID, AGAIN]}, "error": "timeout"},
        {"messages": [ASKED, SAID, AGAIN], "error": {"message": "timeout"}},
        {"input": [ASKED, SAID, AGAIN], "output": [], "status": "failed", "error": {"message": "no"}},
    ],
)
def test_a_request_that_failed_has_no_answer(record: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert [message.text for message in chat.messages] == ["a", "b", "c", ""]
    assert chat.messages[-1].metadata == {"error": "the request has no answer"}


def test_no_file_of_chats_is_skipped_for_its_name(tmp_path: Path) -> None:
    chat = json.dumps({"messages": [ASKED, SAID]}).encode()
    for name in ("A.JSONL", "inputs.jsonl", "plan.json", "d.Json"):
        (tmp_path / name).write_bytes(chat)
    (tmp_path / "c.jsonl.bz2").write_bytes(bz2.compress(chat))
    found = [
        item.reason if isinstance(item, InputError) else Path(item.path).name for item in Reader().read([tmp_path])
    ]
    assert found == ["A.JSONL", "`.bz2` is not read; expected gzip or zstd", "d.Json", "inputs.jsonl", "plan.json"]


CLAUDE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "b"}],
}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "b"}]}, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    "record",
    [
        {"request": {"messages": [ASKED]}, "response": CLAUDE},
        {"request": {"contents": [{"role": "user", "parts": [{"text": "a"}]}]}, "response": GEMINI},
        {"messages": [ASKED], "response": {"choices": [{"message": SAID}]}},
        {"messages": [ASKED], "response": "b"},
        {"messages": [ASKED], "output": SAID},
        {"messages": [ASKED], "output": {"message": {"role": "assistant", "content": [{"text": "b"}]}}},
        {"messages": [ASKED, SAID], "output": " b\n"},
        {"input": [ASKED], "output": SAID},
        {"messages": [ASKED, SAID], "conversation": [{**ASKED, "id": "1"}, {**SAID, "name": None}]},
    ],
)
def test_the_answer_is_read_wherever_a_log_stores_it(record: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert lines(chat) == ["user: a", "assistant: b"]


@pytest.mark.parametrize("key", ["response", "output", "completion", "reply"])
def test_an_answer_that_the_messages_lack_is_refused(key: str, tmp_path: Path) -> None:
    (reason,) = refusals(tmp_path, [{"messages": [ASKED, SAID], key: "bad"}])
    assert f"`{key}` is not among the messages in `messages`" in reason


def test_a_failed_request_of_a_batch_has_no_answer(tmp_path: Path) -> None:
    failed = [
        {"custom_id": "a", "response": {"status_code": 400, "body": {"error": {"message": "no"}}}, "error": None},
        {"custom_id": "b", "response": None, "error": {"message": "expired"}},
        {"custom_id": "c", "result": {"type": "errored", "error": {"type": "invalid_request"}}},
    ]
    good = {"custom_id": "d", "result": {"type": "succeeded", "message": CLAUDE}}
    *found, read = conversations(written(tmp_path, [*failed, good]))
    assert [chat.messages[-1].metadata for chat in found] == [{"error": "the request has no answer"}] * 3
    assert lines(read) == ["assistant: b"]


@pytest.mark.parametrize(
    "record",
    [
        {"request_body": {"messages": [ASKED]}, "response_body": {"choices": [{"message": SAID}]}},
        {"messages": [ASKED], "message": SAID},
        {"messages": [ASKED, SAID], "message": "a note"},
        {"chats": [{"messages": [ASKED, SAID]}]},
        {"conversations": [{"messages": [ASKED, SAID]}]},
    ],
)
def test_logs_of_gateways_and_lists_of_chats_are_read(record: dict[str, Any], tmp_path: Path) -> None:
    [chat] = conversations(written(tmp_path, [record]))
    assert lines(chat) == ["user: a", "assistant: b"]


LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "content": "a"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"x": 1}, "id": "c"}]},
    {"type": "tool", "content": "r", "tool_call_id": "c"},
    {"type": "ai", "content": "b"},
]
STORED = [{"type": each["type"], "data": each} for each in LANGCHAIN]


@pytest.mark.parametrize("listed", [LANGCHAIN, STORED])
def test_messages_of_langchain_are_read(listed: list[dict[str, Any]], tmp_path: Path) -> None:
    said = ["user: a", 'assistant:  -> f {"x": 1}', "tool f: r", "assistant: b"]
    for record in ({"messages": listed}, {"user_input": listed, "reference": "b"}):
        [chat] = conversations(written(tmp_path, [record]))
        assert lines(chat) == said
    [chat] = conversations(written(tmp_path, json.dumps(listed, indent=1), "chat.json"))
    assert lines(chat) == said


def test_a_message_without_a_role_is_refused_in_every_list(tmp_path: Path) -> None:
    for first in (ASKED, LANGCHAIN[0]):
        (reason,) = refusals(tmp_path, [{"messages": [first, {"content": "bad"}]}])
        assert ".role is " in reason


@pytest.mark.parametrize("content", ["Hello", "", "  ", "[image]", "\u00e9\n"])
@pytest.mark.parametrize("role", ["user", "Assistant", "human", "tool", "system", "clown", None, 3])
def test_a_message_of_a_role_and_a_content_is_read_as_one_with_empty_fields(role: object, content: str) -> None:
    plain = {"role": role, "content": content}

    def read(record: dict[str, object]) -> object:
        try:
            return chat([record])
        except ShapeError as wrong:
            return str(wrong)

    assert read(plain) == read({**plain, "name": None, "tool_calls": [], "refusal": None, "usage": {}})


ANSWERED = {"choices": [{"message": SAID}]}


@pytest.mark.parametrize("question", ["a", json.dumps([ASKED])])
@pytest.mark.parametrize("key", ["messages", "contents", "prompt", "question"])
def test_the_question_of_a_logged_answer_may_be_a_text_or_messages_as_json_text(
    key: str, question: str, tmp_path: Path
) -> None:
    for record in ({key: question, **ANSWERED}, {"request": {key: question}, "response": ANSWERED}):
        [chat] = conversations(written(tmp_path, [record]))
        assert lines(chat) == ["user: a", "assistant: b"]


@pytest.mark.parametrize("listed", [[[ASKED]], ["a"], [json.dumps(ASKED)], [{"content": "a"}, SAID]])
def test_a_logged_answer_whose_question_is_not_read_is_refused(listed: list[Any], tmp_path: Path) -> None:
    for record in ({"messages": listed, **ANSWERED}, {"request": {"messages": listed}, "response": ANSWERED}):
        assert refusals(tmp_path, [record]) == ["1: `messages` contains no messages with a `role` (read as openai)"]


def test_candidates_without_a_message_are_refused(tmp_path: Path) -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "a"}]}]}
    record = {**asked, "candidates": [[{"content": {"role": "model", "parts": [{"text": "b"}]}}]]}
    assert refusals(tmp_path, [record]) == ["1: `candidates` contains no message (read as openai)"]


def test_reasoning_whose_words_are_hidden_is_no_reply_unless_nothing_follows(tmp_path: Path) -> None:
    hidden = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two"}]}
    called = {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}
    asked = [{"role": "user", "content": "1+1?"}]
    for output, turns in (([hidden, said], ["Two"]), ([hidden, called, hidden, said], ["Two"]), ([hidden], [""])):
        path = written(tmp_path, [{"input": asked, "output": output}])
        (chat,) = Reader().read([path])
        assert isinstance(chat, Transcript)
        assert [turn.content for turn in chat.turns] == ["1+1?", *turns]


def test_a_list_of_messages_with_the_last_one_first_is_refused(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "a", "timestamp": 1}, {"role": "assistant", "content": "b", "timestamp": 2}]
    for times in ((1, 2), (None, 1), (2, 2), ("x", "a")):
        listed = [{**each, "timestamp": time} for each, time in zip(said, times, strict=True)]
        assert len(conversations(written(tmp_path, [{"messages": listed}]))) == 1
    (reason,) = refusals(tmp_path, [{"messages": said[::-1]}])
    assert reason.startswith("1: the messages are not in the order of their times: `1` comes too late; sort them")


HI, ONE, TWO = (
    {"role": role, "content": text} for role, text in (("user", "hi"), ("assistant", "1"), ("assistant", "2"))
)


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": [HI], "chosen": [ONE], "rejected": [TWO]},
        {"prompt": "hi", "chosen": [HI, ONE], "rejected": [HI, TWO]},
        {"prompt": "hi", "chosen": "1", "rejected": "2"},
        {"chosen": "\n\nHuman: hi\n\nAssistant: 1", "rejected": "\n\nHuman: hi\n\nAssistant: 2"},
        {"id": 1, "messages": [{"sender": "user", "text": "hi"}, {"sender": "bot", "text": "1"}]},
        {"values": {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "1"}]}, "next": []},
        {"id": 1, "log": [{"author": "user", "message": "hi"}, {"author": "assistant", "message": "1"}]},
    ],
)
def test_a_refused_record_is_read_with_the_option_that_its_message_suggests(
    record: dict[str, Any], tmp_path: Path
) -> None:
    path = written(tmp_path, [record])
    (refused,) = map(str, Reader().read([path]))
    option = refused.partition("with `--columns ")[2].partition("`")[0]
    (found,) = conversations(path, columns=dict(each.split("=") for each in option.split(",")))
    assert lines(found) == ["user: hi", "assistant: 1"]
