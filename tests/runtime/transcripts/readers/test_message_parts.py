"""Message parts of SDKs: what the assistant said or did is read, and a part of unknown content is refused."""

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

ASKED = {"role": "user", "content": "Weather?"}
WEATHER = ["user: Weather?", 'assistant:  -> weather {"city": "Paris"}', "tool weather: {'degrees':3}", "assistant: 3."]
CALL = {"toolCallId": "c", "toolName": "weather", "args": {"city": "Paris"}}
RESULT = {"state": "result", **CALL, "result": {"degrees": 3}}
OUTPUT = {"toolCallId": "c", "state": "output-available", "input": {"city": "Paris"}, "output": {"degrees": 3}}
WRAPPED = {"type": "json", "value": OUTPUT["output"]}
PARIS = {"name": "weather", "input": {"city": "Paris"}}
TEXT = {"type": "text", "text": "{'degrees':3}"}
SAID = {"type": "text", "text": "3."}


def read(folder: Path, *said: dict[str, Any], **beside: Any) -> list[str]:
    (found,) = conversations(written(folder, [{"messages": [ASKED, *said], **beside}]))
    return lines(found)


@pytest.mark.parametrize(
    "said",
    [
        [{"role": "assistant", "parts": [{"type": "step-start"}, {"type": "tool-weather", **OUTPUT}, SAID]}],
        [{"role": "assistant", "parts": [{"type": "dynamic-tool", "toolName": "weather", **OUTPUT}, SAID]}],
        [{"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": RESULT}, SAID]}],
        [{"role": "assistant", "content": "3.", "toolInvocations": [RESULT]}],
        [
            {"role": "assistant", "content": "", "toolCalls": [CALL]},
            {"role": "tool", "content": "{'degrees':3}", "toolCallId": "c", "name": "weather"},
            {"role": "assistant", "content": "3."},
        ],
        [
            {"role": "assistant", "content": "", "toolInvocations": [RESULT]},
            {"role": "assistant", "content": "3."},
        ],
        [
            {"role": "assistant", "content": [{"type": "tool-call", **CALL}]},
            {"role": "tool", "content": [{"type": "tool-result", **CALL, "output": WRAPPED}]},
            {"role": "assistant", "content": [SAID]},
        ],
        [
            {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Paris"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"degrees": 3}}}]},
            {"role": "model", "parts": [{"text": "Which city?", "thought": True}, {"text": "3."}]},
        ],
        [
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", **PARIS}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "{'degrees':3}"}]}}]},
            {"role": "assistant", "content": [{"text": "3."}]},
        ],
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "mcp_tool_use", "id": "c", "server_name": "s", **PARIS},
                    {"type": "mcp_tool_result", "tool_use_id": "c", "content": [TEXT]},
                    SAID,
                ],
            }
        ],
    ],
)  # fmt: skip
def test_a_tool_call_and_its_result_are_read_from_every_sdk(said: list[dict[str, Any]], tmp_path: Path) -> None:
    assert read(tmp_path, *said) == WEATHER


def test_a_word_that_is_partly_bold_is_one_word(tmp_path: Path) -> None:
    text = ["I guar", {"type": "bold", "text": "antee"}, " it, see ", {"type": "link", "text": "x.org"}]
    assert read(tmp_path, {"role": "assistant", "content": text})[1] == "assistant: I guarantee it, see x.org"


def test_an_item_of_a_hosted_tool_is_a_call_with_its_result(tmp_path: Path) -> None:
    items = [
        {"type": "mcp_call", "id": "c", "name": "weather", "arguments": '{"city": "Paris"}', "output": "{'degrees':3}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "3."}]},
    ]
    (found,) = conversations(written(tmp_path, [{"input": "Weather?", "output": items}]))
    assert lines(found) == WEATHER


def test_a_call_that_was_not_answered_and_one_that_failed_are_both_read(tmp_path: Path) -> None:
    parts = [
        {"type": "tool-weather", "toolCallId": "c", "state": "input-available", "input": {}},
        {"type": "tool-weather", "toolCallId": "d", "state": "output-error", "rawInput": "{", "errorText": "no city"},
    ]
    said = read(tmp_path, {"role": "assistant", "parts": parts})
    assert said[1:] == ["assistant:  -> weather {} -> weather null", "tool weather: no city"]


def test_the_results_of_a_search_are_kept_as_text(tmp_path: Path) -> None:
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "u"}]},
    ]
    said = read(tmp_path, {"role": "assistant", "content": content})
    assert said[-1] == "tool web_search: {'type':'web_search_result','url':'u'}"


def test_what_was_spoken_is_read_from_its_transcript(tmp_path: Path) -> None:
    audio = {"id": "audio_1", "data": "AAAA", "transcript": "3 degrees"}
    assert (
        read(tmp_path, {"role": "assistant", "content": None, "audio": audio})[-1]
        == "assistant: 3 degrees [audio audio_1]"
    )
    part = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav", "transcript": "3 degrees"}}
    assert read(tmp_path, {"role": "assistant", "content": [part]})[-1] == "assistant: 3 degrees [audio wav]"


def test_data_that_an_application_showed_are_a_file_of_the_reply(tmp_path: Path) -> None:
    parts = [SAID, {"type": "data-weather", "data": {"degrees": 3}}]
    assert read(tmp_path, {"role": "assistant", "parts": parts})[-1] == "assistant: 3. [file data-weather]"


def test_an_attachment_of_the_user_is_read(tmp_path: Path) -> None:
    attached = {"name": "a.png", "contentType": "image/png", "url": "https://x/a.png"}
    asked = {"role": "user", "content": "Which?", "experimental_attachments": [attached]}
    assert read(tmp_path, asked, {"role": "assistant", "content": "That."})[1] == "user: Which? [image https://x/a.png]"


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"type": "hologram", "waves": [1]}, "has the unknown type `hologram` and no text"),
        ({"type": "item_reference", "id": "msg_9"}, "is stored elsewhere, as `msg_9`"),
        ({"waves": [1]}, "has no `type`"),
        ({"type": "text", "value": "Stop."}, "has no `text`"),
        ({"type": "text", "text": {"words": "Stop."}}, "text is `"),
    ],
)
def test_a_part_of_unknown_content_is_refused(part: dict[str, Any], reason: str, tmp_path: Path) -> None:
    content = [{"type": "text", "text": "3."}, part]
    (found,) = refusals(tmp_path, [{"messages": [ASKED, {"role": "assistant", "content": content}]}])
    assert reason in found


@pytest.mark.parametrize("key", ["text", "value", "Content", "message"])
def test_a_message_with_a_content_and_another_text_is_refused(key: str, tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, [{"messages": [ASKED, {"role": "assistant", "content": "3.", key: "Go away."}]}])
    assert f"messages[1] has a `content` and another `{key}`" in found
    assert read(tmp_path, {"role": "assistant", "content": "3.", key: "3. "})[-1] == "assistant: 3."


@pytest.mark.parametrize(
    "system",
    [
        {"system": "Be brief."},
        {"system": [{"type": "text", "text": "Be brief."}]},
        {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
    ],
)
def test_instructions_next_to_the_messages_are_read(system: dict[str, Any], tmp_path: Path) -> None:
    assert read(tmp_path, {"role": "assistant", "content": "3."}, **system)[0] == "system: Be brief."


def test_a_thought_that_was_recorded_alone_is_not_an_empty_reply(tmp_path: Path) -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "3."}]},
    ]
    (found,) = conversations(written(tmp_path, [{"input": "Weather?", "output": items}]))
    assert [(message.text, message.reasoning) for message in found.messages] == [("Weather?", None), ("3.", "Hm.")]
    listed = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm."}]}
    (found,) = conversations(written(tmp_path, [{"input": "Weather?", "output": [listed, items[1]]}]))
    assert found.messages[-1].reasoning == "Hm."
    assert "`input` contains no message" in refusals(tmp_path, [{"input": {"words": "Weather?"}, "output": items}])[0]
    (found,) = conversations(written(tmp_path, [{"input": "Weather?", "output": items[:1]}]))
    assert [message.text for message in found.messages] == ["Weather?", ""]


def test_a_call_of_a_custom_tool_is_read(tmp_path: Path) -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}
    (found,) = conversations(
        written(tmp_path, [{"messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}]}])
    )
    (read,) = found.messages[-1].tool_calls
    assert (read.name, read.arguments, read.raw) == ("run", None, "print(1)")


def test_a_message_of_llamaindex_has_blocks_and_calls_among_its_arguments(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    image = {"block_type": "image", "url": "https://x/y.png", "image": None}
    said = [
        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "hi"}, image]},
        {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [call]}},
        {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "yo"}]},
    ]
    (found,) = conversations(written(tmp_path, [{"messages": said}]))
    assert lines(found) == ["user: hi [image https://x/y.png]", "assistant:  -> f {}", "assistant: yo"]


@pytest.mark.parametrize("content", ["", None])
def test_what_is_attached_to_a_message_without_a_text_is_shown(tmp_path: Path, content: str | None) -> None:
    files = [{"id": 9, "url": "https://x/y.png", "contentType": "image/png"}, {"name": "a.pdf"}, {"size": 3}]
    asked = {"role": "user", "content": content, "attachments": files}
    (found,) = conversations(written(tmp_path, [{"messages": [asked, {"role": "assistant", "content": "yo"}]}]))
    assert lines(found) == ["user:  [image https://x/y.png] [file a.pdf]", "assistant: yo"]
    (found,) = conversations(written(tmp_path, [{"messages": [{**asked, "content": "see"}]}]))
    assert lines(found) == ["user: see"]
