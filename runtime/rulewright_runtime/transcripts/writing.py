"""Writers: a conversation as a line of each format that `convert` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from rulewright_runtime.transcripts.messages import Message, Part, ToolCall, Transcript
from rulewright_runtime.transcripts.readers.native import to_line
from rulewright_runtime.transcripts.readers.shapes import KNOWN


def _rulewright(transcript: Transcript) -> bytes:
    return to_line(msgspec.structs.replace(transcript.conversation, id=transcript.id))


def _turns(transcript: Transcript) -> bytes:
    """The native batch format: only turns, so that system and tool messages are omitted."""
    turns = [{"turn": each.turn, "role": each.role, "content": each.content, **each.more} for each in transcript.turns]
    head = {"transcript_id": transcript.id, "scenario_id": transcript.scenario_id, "model": transcript.model}
    return msgspec.json.encode({**head, "turns": turns}) + b"\n"


def _openai(transcript: Transcript) -> bytes:
    """Messages of chat completions; other fields are in `metadata`."""
    chat = transcript.conversation
    record = {
        "id": transcript.id,
        "model": chat.model,
        "messages": [_message(message) for message in chat.messages],
        "scenario_id": chat.scenario_id,
        "expected": chat.expected,
        "usage": chat.usage,
        "metadata": chat.metadata,
    }
    return msgspec.json.encode({key: value for key, value in record.items() if value not in (None, "", {})}) + b"\n"


def _message(message: Message) -> dict[str, object]:
    only_text = all(part.kind == "text" for part in message.parts)
    content = message.text if only_text and len(message.parts) <= 1 else [_part(part) for part in message.parts]
    record = {
        "name": message.name,
        "tool_calls": [_call(call) for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
        "reasoning_content": message.reasoning,
        "refusal": message.refusal,
        "usage": message.usage,
        "timestamp": message.timestamp,
    }
    known = {key: value for key, value in record.items() if value not in (None, [], {})}
    more = {key: value for key, value in message.metadata.items() if key == "parts" or key not in KNOWN}
    return {"role": message.role, "content": content or None, **known, **more}


def _part(part: Part) -> dict[str, object]:
    if part.kind == "text":
        return {"type": "text", "text": part.text}
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": part.reference}, "digest": part.digest}
    return {"type": part.kind, "name": part.reference, "digest": part.digest}


def _call(call: ToolCall) -> dict[str, object]:
    raw = call.raw or msgspec.json.encode(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": raw}}


WRITERS: Final[dict[str, Callable[[Transcript], bytes]]] = {
    "rulewright": _rulewright,
    "openai": _openai,
    "turns": _turns,
}
