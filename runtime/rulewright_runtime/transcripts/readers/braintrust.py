"""Braintrust: exported events of experiments and logs.

The conversation of a trace is the input and output of its model calls, without those of its scorers; if an export has
no model call, that of its outermost event. The outermost event holds the expected answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, Role
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, OUTPUT_KEYS, run_messages
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    object_in,
    optional,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.spans import unrepeated

_LISTS: Final = ("events", "data")  # of an API response
_USAGE: Final = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "tokens": "total_tokens",
    "estimated_cost": "cost",
}


class _Trace:
    """The events of one trace."""

    def __init__(self) -> None:
        self.events: list[tuple[Record, str]] = []

    def relevant(self) -> list[tuple[Record, str]]:
        """The events that hold the conversation."""
        known = {word(event.get("span_id")): event for event, _ in self.events}
        calls = [each for each in self.events if _kind(each[0]) == "llm" and not _is_scoring(each[0], known)]
        return sorted(calls, key=lambda each: _start(each[0])) or self.outermost(known)

    def outermost(self, known: Record) -> list[tuple[Record, str]]:
        """The events whose parents are not in the export."""
        return [each for each in self.events if not any(parent in known for parent in _parents(each[0]))]

    @property
    def root(self) -> Record:
        """The event of the whole trace; empty if the export lacks it."""
        return next((event for event, _ in self.events if event.get("is_root") or not _parents(event)), {})


def _is_event(record: Record) -> bool:
    return "root_span_id" in record and ("input" in record or "output" in record) and "attributes" not in record


def _listed(record: Record) -> list[Json] | None:
    lists = (record.get(key) for key in _LISTS)
    return next((each for each in lists if is_list(each) and each and is_record(each[0]) and _is_event(each[0])), None)


def read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    """Yield the conversations in exported events."""
    traces: dict[str, _Trace] = {}
    for number, event in enumerate((each for record in records for each in _listed(record) or [record]), 1):
        if not is_record(event) or not _is_event(event):
            yield ShapeError(f"event {number} has no `root_span_id` with `input` or `output`")
        else:
            traces.setdefault(word(event["root_span_id"]), _Trace()).events.append((event, f"event {number}"))
    for name, trace in traces.items():
        found, relevant = [], trace.relevant()
        if not relevant:
            yield ShapeError(f"trace `{name[:60]}` has no outermost event; its events stand below each other")
        for event, where in relevant:
            try:
                found.append(_conversation(event, trace.root, name, where))
            except ShapeError as wrong:
                yield wrong
        yield from unrepeated(found, name)


def _kind(event: Record) -> str:
    return word(object_in(event.get("span_attributes")).get("type"))


def _start(event: Record) -> float:
    start = object_in(event.get("metrics")).get("start")
    return start if isinstance(start, int | float) else 0


def _parents(event: Record) -> list[str]:
    parents = event.get("span_parents")
    return [word(each) for each in parents] if is_list(parents) else []


def _is_scoring(event: Record, known: Record) -> bool:
    """Whether an event or one of its ancestors belongs to a scorer."""
    visited: set[str] = set()
    pending = [event]
    while pending:
        each = pending.pop()
        if _kind(each) == "score" or object_in(each.get("span_attributes")).get("purpose") == "scorer":
            return True
        parents = [parent for parent in _parents(each) if parent in known and parent not in visited]
        visited.update(parents)
        pending += [known[parent] for parent in parents]
    return False


def _conversation(event: Record, root: Record, name: str, where: str) -> Conversation:
    asked = _messages(event.get("input"), INPUT_KEYS, "user", where)
    replies = _messages(event.get("output"), OUTPUT_KEYS, "assistant", where)
    error = (
        event.get("error")
        or root.get("error")
        or ("" if replies and replies[-1].role == "assistant" else "the event has no output")
    )
    failed = [Message("assistant", metadata={"error": error})] if error else []
    metadata, of_root = object_in(event.get("metadata")), object_in(root.get("metadata"))
    expected = event.get("expected")
    return Conversation(
        name,
        (*asked, *replies, *failed),
        optional(metadata.get("scenario_id") or of_root.get("scenario_id")),
        root.get("expected") if expected is None else expected,
        {**rest(root, "input", "output", "expected"), **rest(event, "input", "output", "expected")},
        _usage(object_in(event.get("metrics"))),
        "braintrust",
        word(metadata.get("model")) or word(of_root.get("model")),
    )


def _usage(metrics: Record) -> dict[str, object]:
    usage = {name: metrics[key] for key, name in _USAGE.items() if metrics.get(key) is not None}
    start, end = metrics.get("start"), metrics.get("end")
    if isinstance(start, int | float) and isinstance(end, int | float):
        usage["duration_seconds"] = round(end - start, 6)
    return usage


def _messages(value: Json, names: Sequence[str], role: Role, where: str) -> list[Message]:
    """The messages in an input or an output; any other value becomes a message with its JSON."""
    if value is None:
        return []
    values, path = (value, f"{where}: {names[0]}") if is_record(value) else ({names[0]: value}, where)
    return run_messages(values, names, role, path) or [Message(role, (Part(text=msgspec.json.encode(value).decode()),))]


FORMAT: Final = Format("braintrust", lambda record: _is_event(record) or _listed(record) is not None, read, joins=True)
