"""Agents: the sessions of Claude Code and Codex, an event per line, and the trajectories that Harbor and Terminal-Bench
write in one record (ATIF)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.transcripts.messages import Conversation, Message, Part, SaidTexts, repeats
from rulewright_runtime.transcripts.readers.columns import FIELDS
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    items_at,
    object_in,
    optional,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, item_messages, messages, one_by_one

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


def _is_event(record: Record) -> bool:
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
    spoken = {key: session for key, session in sessions.items() if session.pieces}
    if not spoken:
        yield ShapeError("the session contains no messages")
    for key, session in spoken.items():
        found = tuple(map(_joined, session.pieces))
        yield Conversation(key, found, metadata=session.metadata, source="coding-agent", model=session.model)


class _Session:
    """One session, as read so far."""

    def __init__(self) -> None:
        self.pieces: list[list[Message]] = []  # of each message
        self.metadata: dict[str, object] = {}
        self.model = ""
        self._part_of = ""  # the id of the provider's message of which the last line is a part
        self._spoken = SaidTexts()
        self._indexed = 0  # messages whose texts are in `_spoken`

    def add(self, record: Record, where: str) -> None:
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
            text = word(record.get("result"))
            if record.get("is_error"):
                error = {"error": text or "the session ended with an error"}
                self.pieces.append([Message("assistant", metadata=error)])
            elif text and not self._has_spoken(text):
                self.pieces.append([Message("assistant", (Part(text=text),))])
        elif is_record(payload) and record.get("type") in ("session_meta", "turn_context"):
            self.metadata.update(payload)
            self.model = word(payload.get("model")) or self.model

    def _has_spoken(self, text: str) -> bool:
        """Whether a message repeats the text: the last one, which may continue, or one before it."""
        if any(repeats(_joined(each).text, text) for each in self.pieces[-1:]):
            return True
        for pieces in self.pieces[self._indexed : -1]:
            self._spoken.add(_joined(pieces).text)
        self._indexed = max(self._indexed, len(self.pieces) - 1)
        return self._spoken.repeat(text)

    def _append(self, found: list[Message], record: Record, part_of: str) -> None:
        for message in found:
            stamped = replace(message, timestamp=message.timestamp or word(record.get("timestamp")) or None)
            if part_of and part_of == self._part_of and len(found) == 1:
                self.pieces[-1].append(stamped)
            else:
                self.pieces.append([stamped])
        self._part_of = part_of


def _joined(pieces: Sequence[Message]) -> Message:
    """Join the parts of one assistant message, which were written while it was streamed."""
    if len(pieces) == 1:
        return pieces[0]
    return replace(
        pieces[0],
        parts=tuple(chain.from_iterable(each.parts for each in pieces)),
        tool_calls=tuple(chain.from_iterable(each.tool_calls for each in pieces)),
        reasoning="\n".join(filter(None, (each.reasoning for each in pieces))) or None,
        refusal="\n".join(filter(None, (each.refusal for each in pieces))) or None,
        metadata=dict(chain.from_iterable(each.metadata.items() for each in pieces)),
        usage=next((each.usage for each in reversed(pieces) if each.usage), {}),
    )


SESSIONS: Final = Format("coding-agent", _is_event, _read, joins=True)

_SOURCES: Final = {"agent": "assistant", "user": "user", "system": "system"}
_READ: Final = (
    "step_id", "timestamp", "source", "message", "reasoning_content", "tool_calls", "observation", "metrics",
)  # fmt: skip


def _is_trajectory(record: Record) -> bool:
    return is_list(record.get("steps")) and (
        word(record.get("schema_version")).startswith("ATIF") or is_record(record.get("agent"))
    )


def _trajectory(record: Record) -> Conversation:
    found = [message for step, path in items_at(record.get("steps"), "steps") for message in _step_messages(step, path)]
    if not found:
        raise ShapeError("`steps` is empty; a trajectory needs at least one step")
    agent = record_at(record.get("agent") or {}, "agent")
    return Conversation(
        word(record.get("session_id")) or word(record.get("trajectory_id")),
        tuple(found),
        optional(object_in(record.get("extra")).get("scenario_id")),
        metadata=rest(record, "steps", "session_id", "final_metrics"),
        usage=object_in(record.get("final_metrics")),
        source="atif",
        model=word(agent.get("model_name")) or word(agent.get("name")),
    )


def _step_messages(value: object, where: str) -> Iterator[Message]:
    """Yield the message of a step, then the results of its tool calls."""
    step = record_at(value, where)
    role = _SOURCES.get(word(step.get("source")))
    if role is None:
        raise ShapeError(f"{where}.source is {word(step.get('source')) or 'missing'}; expected user, agent or system")
    if "message" not in step:
        raise ShapeError(f"{where} has no `message`")
    present = {key: step[key] for key in ("reasoning_content", "tool_calls", "timestamp") if step.get(key) is not None}
    record = {"role": role, "content": step.get("message"), "usage": step.get("metrics"), **present}
    yield from messages({**record, **rest(step, *_READ)}, where)
    names = {
        word(call.get("tool_call_id")): word(call.get("function_name"))
        for call in step.get("tool_calls") or ()
        if is_record(call)
    }
    observed = record_at(step.get("observation") or {}, f"{where}.observation")
    for result, path in items_at(observed.get("results"), f"{where}.observation.results"):
        yield from _observed(record_at(result, path), names, path)


def _observed(result: Record, names: dict[str, str], where: str) -> list[Message]:
    call = text_at(result.get("source_call_id"), f"{where}.source_call_id")
    record = {"role": "tool", "content": result.get("content"), "tool_call_id": call, "name": names.get(call)}
    return messages({**record, **rest(result, "content", "source_call_id")}, where)


ATIF: Final = Format("atif", _is_trajectory, one_by_one(_trajectory))
