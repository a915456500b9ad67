"""Writers: what `convert` writes is read again with every field."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.runtime.transcripts.formats import CHATS, NATIVE, conversations, lines, refusals, written

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
