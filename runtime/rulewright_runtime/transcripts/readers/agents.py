"""Coding agents: sessions written a line an event, as Claude Code and Codex keep them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.transcripts.messages import Conversation, Message
from rulewright_runtime.transcripts.readers.openai import item_messages
from rulewright_runtime.transcripts.readers.shapes import (
    Format,
    Record,
    ShapeError,
    is_record,
    messages,
    record_at,
    word,
)

# Lines that stand beside the conversation: settings, summaries, what was already said shown again.
BESIDE: Final = frozenset({
    "ai-title", "attachment", "compacted", "custom-title", "event_msg", "file-history-snapshot", "last-prompt",
    "progress", "queue-operation", "session_meta", "summary", "system", "turn_context", "world_state",
})  # fmt: skip
SPOKEN: Final = frozenset(("user", "assistant"))


def _recognises(record: Record) -> bool:
    kind = word(record.get("type"))
    if is_record(record.get("payload")):
        return kind == "response_item" or kind in BESIDE
    return (kind in SPOKEN and is_record(record.get("message"))) or (kind in BESIDE and "messages" not in record)


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    """A conversation for each session, in the order in which they begin."""
    sessions: dict[str, _Session] = {}
    name = ""
    for at, record in enumerate(records):
        payload = record.get("payload")
        if record.get("type") == "session_meta" and is_record(payload):
            name = word(payload.get("id"))
        own = word(record.get("sessionId")) or name
        # A branch that another agent took on behalf of this one is a conversation of its own.
        key = f"{own}/{word(record.get('agentId')) or 'side'}" if record.get("isSidechain") else own
        try:
            sessions.setdefault(key, _Session()).add(record, f"event {at + 1}")
        except ShapeError as wrong:
            yield wrong
            return
    spoken = {key: session for key, session in sessions.items() if session.said}
    if not spoken:
        yield ShapeError("the session holds no message")
    for key, session in spoken.items():
        yield Conversation(key, tuple(session.said), metadata=session.about, source="coding-agent", model=session.model)


class _Session:
    """One session, as far as it has been read."""

    def __init__(self) -> None:
        self.said: list[Message] = []
        self.about: dict[str, object] = {}
        self.model = ""
        self._part_of = ""  # the message of the provider that the last line was a part of

    def add(self, record: Record, where: str) -> None:
        """Take up the event of one line."""
        payload = record.get("payload")
        if record.get("type") == "response_item":
            item = record_at(payload, f"{where}: payload")
            self._say(item_messages(item, f"{where}: payload"), record, "")
        elif word(record.get("type")) in SPOKEN:
            message = record_at(record.get("message"), f"{where}: message")
            self.model = word(message.get("model")) or self.model
            self._say(
                messages({"role": record["type"], **message}, f"{where}: message"), record, word(message.get("id"))
            )
        elif is_record(payload) and record.get("type") in ("session_meta", "turn_context"):
            self.about.update(payload)
            self.model = word(payload.get("model")) or self.model

    def _say(self, said: list[Message], record: Record, part_of: str) -> None:
        for message in said:
            stamped = replace(message, timestamp=message.timestamp or word(record.get("timestamp")) or None)
            if part_of and part_of == self._part_of and len(said) == 1:
                self.said[-1] = _joined(self.said[-1], stamped)
            else:
                self.said.append(stamped)
        self._part_of = part_of


def _joined(first: Message, more: Message) -> Message:
    """Two parts of one message of the assistant, which was written as it came."""
    return replace(
        first,
        parts=first.parts + more.parts,
        tool_calls=first.tool_calls + more.tool_calls,
        reasoning="\n".join(filter(None, [first.reasoning, more.reasoning])) or None,
        refusal="\n".join(filter(None, [first.refusal, more.refusal])) or None,
        metadata={**first.metadata, **more.metadata},
        usage=more.usage or first.usage,
    )


FORMAT: Final = Format(
    "coding-agent",
    '{"type": "user", "message": {...}} or {"type": "response_item", "payload": {...}}',
    _recognises,
    _read,
    joins=True,
)
