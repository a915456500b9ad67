"""Coding agents: sessions with an event per line, as Claude Code and Codex store them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.transcripts.messages import Conversation, Message, Part, repeats
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_record,
    record_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, item_messages, messages
from rulewright_runtime.transcripts.readers.table_rows import FIELDS

# Lines that are not part of the conversation: settings, summaries, repetitions.
IGNORED: Final = frozenset({
    "ai-title", "attachment", "compacted", "custom-title", "event_msg", "file-history-snapshot", "last-prompt",
    "progress", "queue-operation", "session_meta", "summary", "system", "turn_context", "world_state",
})  # fmt: skip
# The keys of a line that may say something; a line of an unknown type without them is a note of the program.
_SPEECH: Final = ("system", "user", "passages", "assistant", "role", "content")  # fields of a table
_SAYING: Final = frozenset(name for field in _SPEECH for name in FIELDS[field]) | {"messages", "payload", "result"}
_SESSION: Final = ("sessionId", "session_id")
SPOKEN: Final = frozenset(("user", "assistant"))


def _recognises(record: Record) -> bool:
    kind = word(record.get("type"))
    if is_record(record.get("payload")):
        return kind == "response_item" or kind in IGNORED
    is_note = kind != "" and "sessionId" in record and _SAYING.isdisjoint(record)
    is_end = kind == "result" and "session_id" in record
    is_spoken = kind in SPOKEN and is_record(record.get("message"))
    return is_spoken or is_end or is_note or (kind in IGNORED and "messages" not in record)


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    """Yield a conversation for each session, in the order in which they start."""
    sessions: dict[str, _Session] = {}
    name = ""
    for number, record in enumerate(records, 1):
        payload = record.get("payload")
        if record.get("type") == "session_meta" and is_record(payload):
            name = word(payload.get("id"))
        own = word(first_of(record, _SESSION)) or name
        # A sub-agent's branch is a separate conversation.
        key = f"{own}/{word(record.get('agentId')) or 'side'}" if record.get("isSidechain") else own
        try:
            sessions.setdefault(key, _Session()).add(record, f"event {number}")
        except ShapeError as wrong:
            yield wrong
            return
    with_messages = {key: session for key, session in sessions.items() if session.messages}
    if not with_messages:
        yield ShapeError("the session holds no message")
    for key, session in with_messages.items():
        found = tuple(session.messages)
        yield Conversation(key, found, metadata=session.metadata, source="coding-agent", model=session.model)


class _Session:
    """One session, as read so far."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.metadata: dict[str, object] = {}
        self.model = ""
        self._part_of = ""  # the id of the provider's message of which the last line is a part

    def add(self, record: Record, where: str) -> None:
        """Add the event of one line."""
        payload = record.get("payload")
        if record.get("type") == "response_item":
            item = record_at(payload, f"{where}: payload")
            self._append(item_messages(item, f"{where}: payload"), record, "")
        elif word(record.get("type")) in SPOKEN:
            message = record_at(record.get("message"), f"{where}: message")
            self.model = word(message.get("model")) or self.model
            self._append(
                messages({"role": record["type"], **message}, f"{where}: message"), record, word(message.get("id"))
            )
        elif record.get("type") == "result":  # of `claude -p`, which repeats the last answer
            said = word(record.get("result"))
            if record.get("is_error"):
                self.messages.append(
                    Message("assistant", metadata={"error": said or "the session ended with an error"})
                )
            elif said and not any(repeats(each.text, said) for each in self.messages):
                self.messages.append(Message("assistant", (Part(text=said),)))
        elif is_record(payload) and record.get("type") in ("session_meta", "turn_context"):
            self.metadata.update(payload)
            self.model = word(payload.get("model")) or self.model

    def _append(self, found: list[Message], record: Record, part_of: str) -> None:
        for message in found:
            stamped = replace(message, timestamp=message.timestamp or word(record.get("timestamp")) or None)
            if part_of and part_of == self._part_of and len(found) == 1:
                self.messages[-1] = _joined(self.messages[-1], stamped)
            else:
                self.messages.append(stamped)
        self._part_of = part_of


def _joined(first: Message, more: Message) -> Message:
    """Join two parts of one assistant message, which was written while it was streamed."""
    return replace(
        first,
        parts=first.parts + more.parts,
        tool_calls=first.tool_calls + more.tool_calls,
        reasoning="\n".join(filter(None, [first.reasoning, more.reasoning])) or None,
        refusal="\n".join(filter(None, [first.refusal, more.refusal])) or None,
        metadata={**first.metadata, **more.metadata},
        usage=more.usage or first.usage,
    )


FORMAT: Final = Format("coding-agent", _recognises, _read, joins=True)
