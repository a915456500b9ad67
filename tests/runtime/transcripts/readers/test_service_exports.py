"""Exports of Vapi, Retell, Intercom and Teams: who said what, and what nobody said to the other side."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from tests.folders import json_lines
from tests.runtime.transcripts.formats import OPENAI_CALL, conversations, lines, refusals, written

CALLED = 'assistant:  -> balance {"account": "7"}'
TOLD = ["assistant: Hello.", "user: A fee?", CALLED, "tool balance: 0", "assistant: No."]


def vapi(role: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "time": 1714557601000, "secondsFromStart": 1.2, **more}


VAPI = [
    vapi("bot", message="Hello.", endTime=1),
    vapi("user", message="A fee?"),
    vapi("tool_calls", message="", toolCalls=[OPENAI_CALL]),
    vapi("tool_call_result", name="balance", toolCallId="c", result="0"),
    vapi("bot", message="No."),
]
FUNCTION = cast("dict[str, Any]", OPENAI_CALL["function"])
RETELL = [
    {"role": "agent", "content": "Hello.", "words": []},
    {"role": "user", "content": "A fee?"},
    {"role": "tool_call_invocation", "tool_call_id": "c", **FUNCTION},
    {"role": "tool_call_result", "tool_call_id": "c", "content": "0"},
    {"role": "agent", "content": "No."},
]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "1", "messages": VAPI, "transcript": "AI: Hello."},
        {"id": "1", "artifact": {"messages": VAPI, "messagesOpenAIFormatted": []}, "messages": []},
        {"message": {"type": "end-of-call-report", "call": {"id": "1"}, "artifact": {"messages": VAPI}}},
        {"call_id": "1", "transcript": "Agent: Hello.", "transcript_object": [], "transcript_with_tool_calls": RETELL},
    ],
)
def test_a_call_is_read_with_its_tools(tmp_path: Path, record: dict[str, Any]) -> None:
    (found,) = conversations(written(tmp_path, [record]))
    assert (found.id, lines(found)) == ("1", TOLD)


def part(author: str, body: str | None, kind: str = "comment", **more: Any) -> dict[str, Any]:
    return {"part_type": kind, "body": body, "created_at": 1, "author": {"type": author, "name": author}, **more}


def intercom(*parts: dict[str, Any], count: int = 0) -> dict[str, Any]:
    opening = {"body": "<p>My <b>fee</b>&amp;card</p><p>now</p>", "author": {"type": "lead"}}
    inner = {"total_count": count or len(parts), "conversation_parts": parts}
    return {"type": "conversation", "id": "c1", "source": opening, "conversation_parts": inner}


def test_an_intercom_chat_begins_with_its_opening_and_notes_are_left_out(tmp_path: Path) -> None:
    said = [part("bot", "<p>Hi</p>"), part("admin", None, "assignment"), part("admin", "Refund?", "note")]
    page = {"type": "conversation.list", "conversations": [intercom(*said, part("user", "", attachments=[{}]))]}
    (found,) = conversations(written(tmp_path, json.dumps(page), "chats.json"))
    opening = ["user: My fee&card\nnow", "assistant: Hi"]
    assert lines(found) == [*opening, "system: assignment", "system: Refund?", "user: [attachment]"]
    assert "contains 1 of 3 parts" in refusals(tmp_path, [intercom(part("bot", "Hi"), count=3)])[0]
    assert "`robot`" in refusals(tmp_path, [intercom(part("robot", "Hi"))])[0]


def teams(second: int, speaker: str, content: str, **more: Any) -> dict[str, Any]:
    who = {"application": None, "user": None, speaker: {"displayName": speaker}}
    body = {"contentType": "html", "content": content}
    time = f"2024-05-01T10:00:{second:02}.5Z"
    return {"messageType": "message", "createdDateTime": time, "from": who, "body": body, "chatId": "t"} | more


def test_messages_of_teams_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    event = teams(0, "user", "<systemEventMessage/>", messageType="systemEventMessage", **{"from": None})
    found = [teams(9, "application", "<p>You will <b>win</b>.</p>"), teams(2, "user", "Hi"), event]
    said = ["system: systemEventMessage", "user: Hi", "assistant: You will win."]
    for text in (json.dumps({"value": found}), json.dumps(found), json_lines(found)):
        (chat,) = conversations(written(tmp_path, text, "teams.json"))
        assert (chat.id, lines(chat)) == ("t", said)
    threads = [teams(1, "user", "Hi", id="1", chatId=None), teams(2, "application", "Yo", replyToId="1", chatId=None)]
    (chat,) = conversations(written(tmp_path, threads))
    assert (chat.id, lines(chat)) == ("1", ["user: Hi", "assistant: Yo"])
    assert "not a time" in refusals(tmp_path, [teams(1, "user", "Hi", createdDateTime="soon")])[0]


def test_what_is_said_between_angle_brackets_is_kept_and_two_lists_that_differ_are_refused(tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [intercom(part("bot", "<p>If a<b and c>d, <i class='x'>stop</i></p>"))]))
    assert lines(found)[-1] == "assistant: If a<b and c>d, stop"
    calls = {"id": "1", "messages": [*VAPI, vapi("bot", message="Bye.")], "artifact": {"messages": VAPI}}
    (found,) = conversations(written(tmp_path, [calls]))
    assert lines(found) == [*TOLD, "assistant: Bye."]
    calls["artifact"] = {"messages": [*VAPI[:4], vapi("bot", message="Yes.")]}
    assert "`artifact` contains other messages than `messages`" in refusals(tmp_path, [calls])[0]
    retold = {
        "call_id": "1",
        "transcript_object": [{"role": "agent", "content": "x"}],
        "transcript_with_tool_calls": RETELL,
    }
    assert "`transcript_with_tool_calls` contains other utterances" in refusals(tmp_path, [retold])[0]


HELLO = {"role": "user", "content": "Hello?"}
OPENED = {"subject": "<p>A fee</p>", "body": "Hi", "author": {"type": "user"}}
CARD = {"contentType": "application/vnd.microsoft.card.adaptive", "content": '{"text": "You win."}'}
PAGE = [teams(1, "user", "Hi"), teams(2, "application", "Yo")]
THREAD = teams(1, "user", "Hi", id="1", chatId=None, replies=[teams(2, "application", "Yo", id="2", chatId=None)])


@pytest.mark.parametrize(
    ("record", "last"),
    [
        ({"id": "1", "messages": [VAPI[0], vapi("user", content="A fee?")]}, "user: A fee?"),
        ({"call_id": "1", "transcript_object": [*RETELL, {"role": "USER", "content": "Oh."}]}, "user: Oh."),
        ({"call_id": "1", "transcript_object": [*RETELL, {"role": "dtmf", "digit": "4"}]}, "user: 4"),
        ({"call_id": "1", "transcript_object": [*RETELL, {"role": "node_transition"}]}, "system: node_transition"),
        (intercom() | {"source": OPENED}, "user: A fee\nHi"),
        (intercom(part("user", '<img src="a.png" alt="a bill">')), "user: [image: a bill]"),
        (intercom(part("user", "See", attachments=[{}, {}])), "user: See\n[attachment]\n[attachment]"),
        (intercom(part("admin", "He lies.", "note_and_reopen")), "system: He lies."),
        ({"value": [*PAGE, teams(3, "user", '<emoji id="x" alt="\U0001f44d"></emoji>')]}, "user: \U0001f44d"),
        ({"value": [*PAGE, teams(3, "user", "No", subject="A fee", messageType="Message")]}, "user: A fee\nNo"),
        ({"value": [*PAGE, teams(3, "application", "", attachments=[CARD])]}, "assistant: {'text': 'You win.'}"),
        ({"value": [THREAD]}, "assistant: Yo"),
    ],
)
def test_what_is_said_next_to_the_usual_text_is_read(tmp_path: Path, record: dict[str, Any], last: str) -> None:
    (found,) = conversations(written(tmp_path, [record]))
    assert lines(found)[-1] == last


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": "1", "messages": [VAPI[0], vapi("user", message="Yes", content="No")]}, "messages[1] has two"),
        ({"id": "1", "messages": VAPI, "artifact": [{"messages": VAPI}]}, "artifact is `"),
        ({"call_id": "1", "transcript_object": [{"role": "coach", "content": "x"}]}, "role is `coach`"),
        ({"call_id": "1", "transcript_object": [HELLO], "transcript_with_tool_calls": {"a": 1}}, "expected a list"),
        (intercom(part("bot", "Hi")) | {"conversation_parts": [part("bot", "Hi")]}, "conversation_parts is `"),
        (intercom(part("bot", "Hi")) | {"conversation_parts": {"total_count": "1"}}, "expected a list"),
        (intercom() | {"conversation_parts": {"total_count": "3", "conversation_parts": []}}, "contains 0 of 3 parts"),
        (intercom({**part("bot", ""), "body": ["Hi"]}), 'body is `["Hi"]`; expected text'),
        (intercom(part("bot", "Hi"), part("user", "Yo") | {"created_at": 0}), "not in the order of their times"),
        ({"value": [*PAGE, teams(3, "device", "Hi")]}, "role is `device`"),
        ({"value": [*PAGE, teams(3, "user", "", body="Hi")]}, "body is `Hi`; expected an object"),
        ({"value": [{"id": "0"}, *PAGE]}, "a `createdDateTime` is not a time"),
        ({"value": PAGE, "@odata.nextLink": "url"}, "more messages are under `@odata.nextLink`"),
        ({"value": [{**THREAD, "replies@odata.nextLink": "url"}]}, "more replies are under `replies@odata.nextLink`"),
    ],
)
def test_what_can_not_be_read_of_an_export_is_refused(tmp_path: Path, record: dict[str, Any], reason: str) -> None:
    assert any(reason in found for found in refusals(tmp_path, [record]))


def test_pages_of_teams_are_one_chat_if_all_of_them_are_there(tmp_path: Path) -> None:
    pages = [{"value": PAGE[1:], "@odata.nextLink": "url"}, {"value": PAGE[:1]}]
    (found,) = conversations(written(tmp_path, pages))
    assert lines(found) == ["user: Hi", "assistant: Yo"]
    of_another_chat = {"value": [teams(1, "user", "Hi", chatId="u")], "@odata.context": "u"}
    (refused,) = refusals(tmp_path, [pages[0], of_another_chat])
    assert "more messages are under" in refused
