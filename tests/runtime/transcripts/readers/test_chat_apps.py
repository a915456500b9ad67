"""Conversations as ChatGPT and Claude export them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.transcripts.messages import turns_of


def node(name: str, parent: str | None, role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's mapping; without content one that holds no message."""
    said = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": more.pop("tool", None), "metadata": {}}
    message = {"id": name, "author": author, "create_time": 1.5, "content": said, "recipient": "all", **more}
    return {"id": name, "message": None if content is None else message, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any]) -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    return {"title": "A fee", "mapping": mapping, "current_node": nodes[-1]["id"], "conversation_id": "c1"}


ROOT, ASKED = node("r", None, "system"), node("a", "r", "user", "Is there a fee?")


def claude(*messages: dict[str, Any], **about: Any) -> dict[str, Any]:
    return {"uuid": "c2", "name": "A fee", "chat_messages": list(messages), **about}


def message(name: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {"uuid": name, "sender": sender, "text": text, "content": [{"type": "text", "text": text}], **more}


def read(folder: Path, *records: Any) -> list[list[str]]:
    return [lines(each) for each in conversations(written(folder, records))]


def test_a_conversation_of_chatgpt_is_read_in_the_order_of_its_tree(tmp_path: Path) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    record = chatgpt(
        node("b", "s", "assistant", "No.", metadata={"model_slug": "gpt-x"}),
        node("s", "r", "user", {"content_type": "user_editable_context", "user_profile": "A nurse.",
                                "user_instructions": "Be brief."}, metadata=hidden),
        ROOT,
    )  # fmt: skip
    record["mapping"]["b"]["parent"] = "a"
    record["mapping"]["a"] = node("a", "s", "user", "Is there a fee?")
    (chat,) = conversations(written(tmp_path, [record]))
    assert lines(chat) == ["system: A nurse.\nBe brief.", "user: Is there a fee?", "assistant: No."]
    assert (chat.id, chat.model, chat.source, chat.metadata["title"]) == ("c1", "gpt-x", "chatgpt", "A fee")


def test_tools_thoughts_and_media_of_chatgpt_are_read(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    aloud = {"content_type": "audio_transcription", "text": "And a fine?"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "Look it up."}]}
    chat = chatgpt(
        ROOT,
        node("a", "r", "user", {"content_type": "multimodal_text", "parts": [picture, "Is there a fee?", aloud]}),
        node("b", "a", "assistant", thoughts),
        node(
            "c", "b", "assistant", {"content_type": "code", "language": "python", "text": "fee()"}, recipient="python"
        ),
        node("d", "c", "tool", {"content_type": "execution_output", "text": "0"}, tool="python"),
        node("e", "d", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 5 s"}),
        node("f", "e", "assistant", "No."),
    )
    assert read(tmp_path, chat) == [
        [
            "user: Is there a fee?\nAnd a fine? [image file-service://f1]",
            "assistant:  -> python null",
            "tool python: 0",
            "assistant: No.",
        ]
    ]
    (found,) = conversations(written(tmp_path, [chat]))
    assert found.messages[1].reasoning == "Look it up."
    assert found.messages[1].tool_calls[0].raw == "fee()"


def test_every_branch_is_a_conversation(tmp_path: Path) -> None:
    chats = (
        chatgpt(ROOT, ASKED, node("b", "a", "assistant", "No."), node("c", "a", "assistant", "Yes, 5 euros.")),
        claude(
            message("a", "human", "Is there a fee?", parent_message_uuid="0000"),
            message("b", "assistant", "No.", parent_message_uuid="a"),
            message("c", "assistant", "Yes, 5 euros.", parent_message_uuid="a"),
        ),
    )
    asked = "user: Is there a fee?"
    assert read(tmp_path, *chats) == [[asked, "assistant: No."], [asked, "assistant: Yes, 5 euros."]] * 2
    names = [each.id for each in conversations(written(tmp_path, chats))]
    assert names == ["c1#0", "c1#1", "c2#0", "c2#1"]


def test_a_conversation_of_claude_is_read_with_its_tools_and_attachments(tmp_path: Path) -> None:
    called = [
        {"type": "thinking", "thinking": "Look it up."},
        {"type": "tool_use", "id": "t", "name": "fees", "input": {"account": 7}},
        {"type": "tool_result", "tool_use_id": "t", "name": "fees", "content": [{"type": "text", "text": "0"}]},
        {"type": "text", "text": "No."},
    ]
    unsupported = "This block is not supported on your current device yet.\n\nNo."
    attached = [{"file_name": "fees.txt", "file_type": "txt", "extracted_content": "none"}]
    chat = claude(
        message("a", "human", "Is there a fee?", attachments=attached, files=[{"file_name": "p.png"}]),
        {"uuid": "b", "sender": "assistant", "text": unsupported, "content": called, "created_at": "2025-01-01"},
    )
    assert read(tmp_path, chat, claude({"uuid": "a", "sender": "human", "text": "Hi"}, uuid="old")) == [
        [
            "user: Is there a fee? [file fees.txt] [file p.png]",
            'assistant:  -> fees {"account": 7}',
            "tool fees: 0",
            "assistant: No.",
        ],
        ["user: Hi"],
    ]


def test_an_answer_without_text_is_kept_at_the_end_only(tmp_path: Path) -> None:
    first, last = (node(name, "a", "assistant", "") for name in "bc")
    chat = chatgpt(ROOT, ASKED, first, node("d", "b", "assistant", "No."), last)
    assert read(tmp_path, chat) == [
        ["user: Is there a fee?", "assistant: No."],
        ["user: Is there a fee?", "assistant: "],
    ]


def test_an_answer_that_was_cut_is_not_whole(tmp_path: Path) -> None:
    details = {"finish_details": {"type": "max_tokens"}}
    ends = [
        node("b", "a", "assistant", "No", metadata=details),
        node("b", "a", "assistant", "No", status="in_progress"),
        node(
            "b", "a", "assistant", "No", status="finished_successfully", metadata={"finish_details": {"type": "stop"}}
        ),
    ]
    records = [{**chatgpt(ROOT, ASKED, end), "conversation_id": f"c{at}"} for at, end in enumerate(ends)]
    found = [turns_of(each.messages)[-1].finish for each in conversations(written(tmp_path, records))]
    assert found == ["length", "other", None]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (chatgpt(ROOT, node("a", "b", "user", "x"), node("b", "a", "assistant", "y")), "in a circle"),
        (chatgpt(node("a", "b", "user", "x"), node("b", "a", "user", "y"), node("c", "a", "user", "z")), "in a circle"),
        (chatgpt(ROOT, ASKED, node("c", "lost", "assistant", "y")), "lacks messages that others reply to"),
        (chatgpt(ROOT, *(node(str(at), "r", "user", "x") for at in range(101))), "101 branches; at most 100 are read"),
        (chatgpt(ROOT), "contains no message"),
        (chatgpt(ROOT, node("a", "r", "user", {"content_type": "new"})), "has the unknown type `new`"),
        (chatgpt(ROOT, node("a", "r", "poet", "x")), "role is `poet`"),
        (chatgpt(ROOT, node("a", "r", "user", {"content_type": "multimodal_text", "parts": [{"content_type": "new"}]})),
         "parts[0] has the unknown type `new`"),
        (claude(message("a", "human", "x"), message("a", "assistant", "y")), "has the `uuid` of another message"),
        (claude(), "contains no conversation"),
        (claude(message("a", "poet", "x")), "role is `poet`"),
    ],
)  # fmt: skip
def test_an_incomplete_conversation_is_refused(tmp_path: Path, record: Any, reason: str) -> None:
    (refused,) = refusals(tmp_path, [record])
    assert reason in refused


def test_an_export_is_one_list_on_one_line(tmp_path: Path) -> None:
    chats = [claude(message("a", "human", "Hi"), message("b", "assistant", "No."), uuid=name) for name in ("x", "y")]
    found = conversations(written(tmp_path, json.dumps(chats), "conversations.json"))
    assert [each.id for each in found] == ["x", "y"]
