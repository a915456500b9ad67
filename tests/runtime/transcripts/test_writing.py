"""Writers: what `convert` writes is read again with every field."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.runtime.transcripts.formats import CHATS, NATIVE, conversations, lines, refusals, written

from rulewright.cli import main
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall, Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.writing import WRITERS


@pytest.mark.parametrize(
    "name",
    [
        "inspect.eval", "promptfoo.json", "openinference.json", "genai.json", "messages.arrow", "deepeval-run.json",
        "langsmith.jsonl",
    ],
)  # fmt: skip
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


PLAYED = [
    {"turn": 0, "role": "assistant", "content": "Welcome."},
    {"turn": 1, "role": "user", "content": "My own words.", "harness": "user:m-2", "branch_id": "asked"},
    {"turn": 1, "role": "assistant", "content": "On", "harness": "llm/raw", "finish": "length", "usage": {"cost": 1}},
    {"turn": 2, "role": "user", "content": "And?"},
    {"turn": 2, "role": "assistant", "content": "", "error": "no answer"},
]


def played(folder: Path) -> Transcript:
    path = folder / "m-1__s.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in PLAYED))
    (found,) = Reader().read([path])
    assert isinstance(found, Transcript)
    return found


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_a_harness_recorded_is_the_same_transcript_after_convert(tmp_path: Path, ending: str) -> None:
    copy = tmp_path / f"copy.{ending}"
    first = played(tmp_path)
    assert main(["convert", first.path, str(copy)]) == 0
    (again,) = Reader().read([copy])
    assert isinstance(again, Transcript)
    assert msgspec.structs.replace(again, path=first.path) == first


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"turn": 5}, "turns[1]: turn 1 is missing"),
        ({"turn": "1"}, "turns[1]: the turn number is `1`; expected a whole number"),
    ],
)
def test_a_changed_line_of_what_a_harness_recorded_is_refused(change: JsonObject, reason: str, tmp_path: Path) -> None:
    record = json.loads(WRITERS["rulewright"](played(tmp_path)))
    record["messages"][1]["metadata"] |= change
    assert reason in refusals(tmp_path, [record])[0]


def test_what_was_added_to_a_converted_transcript_is_kept_with_its_turns(tmp_path: Path) -> None:
    first = played(tmp_path)
    record = json.loads(WRITERS["rulewright"](first)) | {"expected": "a fee"}
    (again,) = (item for item in Reader().read([written(tmp_path, [record])]) if isinstance(item, Transcript))
    assert (again.turns, again.conversation.expected) == (first.turns, "a fee")


@pytest.mark.parametrize("name", ["openinference.json", "messages.arrow"])
def test_messages_of_chat_completions_are_written_as_they_are_read(tmp_path: Path, name: str) -> None:
    read = [item for item in Reader().read([CHATS / name]) if isinstance(item, Transcript)]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join(map(WRITERS["openai"], read)))
    assert [lines(chat) for chat in conversations(copy)] == [lines(item.conversation) for item in read]


def test_a_medium_without_an_address_is_read_again(tmp_path: Path) -> None:
    images = [
        {"type": "image", "data": "AAAA"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]
    asked = {"role": "user", "content": [*images, {"type": "text", "text": "What is it?"}]}
    talk = {"messages": [asked, {"role": "assistant", "content": "A dot."}]}
    (chat,) = (item for item in Reader().read([written(tmp_path, [talk])]) if isinstance(item, Transcript))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(WRITERS["openai"](chat))
    (again,) = conversations(copy)
    assert again.messages[0].parts == chat.conversation.messages[0].parts


@pytest.mark.parametrize("place", ["", "messages", "parts"])
def test_an_unknown_key_in_what_convert_wrote_is_refused(place: str, tmp_path: Path) -> None:
    message = Message("assistant", (Part(text="hi"),))
    record = json.loads(WRITERS["rulewright"](Transcript.of(Conversation("c", (message,)))))
    said = record["messages"][0]
    {"": record, "messages": said, "parts": said["parts"][0]}[place]["content"] = "hurtful"
    assert "unknown field `content`" in refusals(tmp_path, [record])[0]


@pytest.mark.parametrize("record", [0, 5, -1])
def test_the_place_of_a_conversation_in_its_file_is_no_key_of_a_chat(record: int, tmp_path: Path) -> None:
    chat = json.loads(WRITERS["rulewright"](Transcript.of(Conversation("c", (Message("user", (Part(text="hi"),)),)))))
    assert "unknown field `record`" in refusals(tmp_path, [{**chat, "record": record}])[0]


def test_what_else_a_message_holds_does_not_change_who_says_what(tmp_path: Path) -> None:
    more = {"role": "user", "tool_calls": [], "note": 1}
    said = (Message("user", (Part(text="a"),)), Message("assistant", (Part(text="bad"),), metadata=more))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(WRITERS["openai"](Transcript.of(Conversation("c", said))))
    [again] = conversations(copy)
    assert lines(again) == ["user: a", "assistant: bad"]
    assert again.messages[-1].metadata == {"note": 1}


def test_turns_are_written_as_a_batch(tmp_path: Path) -> None:
    (talk,) = (item for item in Reader().read([written(tmp_path, [NATIVE])]) if isinstance(item, Transcript))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(WRITERS["turns"](talk))
    assert json.loads(copy.read_text()) == NATIVE
