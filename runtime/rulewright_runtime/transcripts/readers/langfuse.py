"""Langfuse: exported traces and observations.

The conversation of a session (or else of a trace) is the input and output of its generations; a trace without any is
read by its own input and output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers import braintrust
from rulewright_runtime.transcripts.readers.payloads import object_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_record,
    list_at,
    parsed,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.spans import unrepeated

_TYPES: Final = frozenset({
    "SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
})  # fmt: skip
_TRACE: Final = ("traceId", "trace_id")
_PARENT: Final = ("parentObservationId", "parent_observation_id")
_SESSION: Final = ("sessionId", "session_id")
_USAGE: Final = {"input": "prompt_tokens", "output": "completion_tokens", "total": "tokens"}


def _recognises(record: Record) -> bool:
    return _is_observation(record) or _is_trace(record) or (is_record(record.get("trace")) and "observations" in record)


def _is_observation(record: Record) -> bool:
    known = word(record.get("type")).upper() in _TYPES and "attributes" not in record
    return known and any(key in record for key in _TRACE) and ("input" in record or "output" in record)


def _is_trace(record: Record) -> bool:
    about = "timestamp" in record and ("input" in record or "output" in record)
    return about and "messages" not in record and any(key in record for key in (*_SESSION, "observations"))


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    sessions: dict[str, str] = {}
    events: list[Record] = []
    for record in records:
        for event, session in _events(record):
            events.append(event)
            trace = event["root_span_id"]
            sessions[trace] = session or sessions.get(trace, "")
    groups: dict[str, list[Conversation]] = {}
    for item in braintrust.read(sorted(events, key=lambda event: event["metrics"]["start"])):
        if isinstance(item, ShapeError):
            yield item
        else:
            trace = item.id if item.id in sessions else item.id.rpartition("#")[0]
            groups.setdefault(sessions.get(trace) or trace, []).append(item)
    for name, found in groups.items():
        yield from (replace(each, source="langfuse") for each in unrepeated(found, name))


def _events(record: Record) -> Iterator[tuple[Record, str]]:
    """Yield each trace or observation as an event of Braintrust's form, with its session."""
    if _is_observation(record):
        yield _event(record, ""), word(first_of(record, _SESSION))
        return
    trace = record["trace"] if is_record(record.get("trace")) else record
    session = word(first_of(trace, _SESSION))
    outer = word(trace.get("id")) if first_of(trace, ("input", "output")) is not None else ""
    if outer:
        yield _event({**trace, "type": "TRACE", "traceId": outer}, ""), session
    for observation in list_at(record.get("observations") or [], "observations"):
        if is_record(observation):  # a list of traces has the ids only
            yield _event({"traceId": trace.get("id"), **observation}, outer), session


def _event(record: Record, outer: str) -> dict[str, Json]:
    kind = word(record.get("type")).upper()
    metadata = object_of(record.get("metadata"))
    failed = word(record.get("level")).upper() == "ERROR"
    usage = object_of(first_of(record, ("usageDetails", "usage_details", "usage")))
    parent = word(first_of(record, _PARENT)) or outer
    types = {"GENERATION": {"type": "llm"}, "EVALUATOR": {"purpose": "scorer"}}
    start = word(first_of(record, ("startTime", "start_time", "timestamp")))
    return {
        "span_id": word(record.get("id")),
        "root_span_id": word(first_of(record, _TRACE)),
        "span_parents": [parent] if parent else [],
        "span_attributes": types.get(kind, {}),
        "input": _decoded(record.get("input")),
        "output": _decoded(record.get("output")),
        "error": (word(record.get("statusMessage")) or "the observation failed") if failed else None,
        "metadata": {**metadata, "model": word(record.get("model")) or word(metadata.get("model"))},
        "metrics": {
            "start": int(re.sub(r"[^0-9]", "", start)[:17].ljust(17, "0")),
            **{name: usage[key] for key, name in _USAGE.items() if usage.get(key) is not None},
        },
    }


def _decoded(value: Json) -> Json:
    """The value of an input or output, which some exports write as JSON text."""
    decoded = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else None
    return value if decoded is None else decoded


FORMAT: Final = Format("langfuse", _recognises, _read, joins=True)
