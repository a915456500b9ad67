"""What a model thinks in its reply is not its answer, whatever the format of the chat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.thoughts import separated
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record


@pytest.mark.parametrize(
    ("reply", "thought", "answer"),
    [
        ("<think>\nSo?\n</think>\n\nYes.", "So?", "Yes."),
        ("So?\n</think>\n\nYes.", "So?", "Yes."),
        ("<THINKING>So?</THINKING>Yes.", "So?", "Yes."),
        ('<thought time="3">So?</thought>Yes.', "So?", "Yes."),
        ("<seed:think>So?</seed:think>Yes.", "So?", "Yes."),
        ("[THINK]So?[/THINK]Yes.", "So?", "Yes."),
        ("◁think▷So?◁/think▷Yes.", "So?", "Yes."),
        ("<think></think><think>So?</think>Yes.", "So?", "Yes."),
        ("<think>So? Yes.", "So? Yes.", ""),
        ("<think-tank>Yes.", "", "<think-tank>Yes."),
        ("Write `</think>` at the end.", "", "Write `</think>` at the end."),
        ("Use this:\n<think>\nSo?\n</think>\n", "", "Use this:\n<think>\nSo?\n</think>\n"),
        (" Yes.", "", " Yes."),
    ],
)
def test_a_thought_at_the_beginning_of_a_reply_is_not_the_answer(reply: str, thought: str, answer: str) -> None:
    assert separated(reply) == (thought, answer)


def test_the_thought_of_a_message_is_its_reasoning() -> None:
    asked = {"role": "user", "content": "<think>Mine</think>?"}
    reply = {"role": "assistant", "content": "<think>So?</think>Yes.", "reasoning_content": "Hm."}
    chat = from_record({"messages": [asked, reply]})
    assert [turn.content for turn in chat.turns] == ["<think>Mine</think>?", "Yes."]
    assert [(each.text, each.reasoning) for each in chat.conversation.messages[1:]] == [("Yes.", "Hm.\nSo?")]
    assert [each.metadata for each in chat.conversation.messages] == [{}, {"inline_reasoning": True}]


def test_the_thought_of_a_native_turn_is_not_read(tmp_path: Path) -> None:
    turns = [{"turn": 1, "role": "user", "content": "?"}, {"turn": 1, "role": "assistant", "content": "[THINK]So?"}]
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps({"scenario_id": "s", "model": "m", "turns": turns}) + "\n", encoding="utf-8")
    (chat,) = Reader().read([path])
    assert isinstance(chat, Transcript)
    assert [turn.content for turn in chat.turns] == ["?", ""]
