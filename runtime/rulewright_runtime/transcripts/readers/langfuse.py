"""Langfuse: exported traces and observations, of which those of a session are one conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.readers.payloads import object_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    first_of,
    is_record,
    list_at,
    parsed,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.traces import Kind, Step, Tool

_TYPES: Final = frozenset({
    "SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
})  # fmt: skip
_TRACE: Final = ("traceId", "trace_id")
_PARENT: Final = ("parentObservationId", "parent_observation_id")
_SESSION: Final = ("sessionId", "session_id")
_USAGE: Final = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}
_KINDS: Final[dict[str, Kind]] = {"GENERATION": "call", "EVALUATOR": "scorer"}


def _recognises(record: Record) -> bool:
    return _is_observation(record) or _is_trace(record) or (is_record(record.get("trace")) and "observations" in record)


def _is_observation(record: Record) -> bool:
    known = word(record.get("type")).upper() in _TYPES and "attributes" not in record
    return known and any(key in record for key in _TRACE) and ("input" in record or "output" in record)


def _is_trace(record: Record) -> bool:
    about = "timestamp" in record and ("input" in record or "output" in record)
    return about and "messages" not in record and any(key in record for key in (*_SESSION, "observations"))


def _steps(record: Record) -> Iterator[Step]:
    """Yield each trace or observation as a step, with its session."""
    if _is_observation(record):
        yield _step(record, "", word(first_of(record, _SESSION)))
        return
    trace = record["trace"] if is_record(record.get("trace")) else record
    session = word(first_of(trace, _SESSION))
    outer = word(trace.get("id")) if first_of(trace, ("input", "output")) is not None else ""
    if outer:
        yield _step({**trace, "type": "TRACE", "traceId": outer}, "", session)
    for observation in list_at(record.get("observations") or [], "observations"):
        if is_record(observation):  # a list of traces has the ids only
            yield _step({"traceId": trace.get("id"), **observation}, outer, session)


def _step(record: Record, outer: str, session: str) -> Step:
    metadata = object_of(record.get("metadata"))
    failed = word(record.get("level")).upper() == "ERROR"
    usage = object_of(first_of(record, ("usageDetails", "usage_details", "usage")))
    parent = word(first_of(record, _PARENT)) or outer
    start = word(first_of(record, ("startTime", "start_time", "timestamp")))
    return Step(
        id=word(record.get("id")),
        trace=word(first_of(record, _TRACE)),
        kind=_KINDS.get(word(record.get("type")).upper(), "other"),
        input=_decoded(record.get("input")),
        output=_decoded(record.get("output")),
        parents=[parent] if parent else (),
        thread=session,
        start=re.sub(r"[^0-9]", "", start)[:17].ljust(17, "0"),
        error=(word(record.get("statusMessage")) or "the observation failed") if failed else None,
        about=metadata,
        model=word(record.get("model")) or word(metadata.get("model")),
        usage={name: usage[key] for key, name in _USAGE.items() if usage.get(key) is not None},
        kept=rest(record, "input", "output", "observations"),
    )


def _decoded(value: Json) -> Json:
    """The value of an input or output, which some exports write as JSON text."""
    decoded = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else None
    return value if decoded is None else decoded


_TOOL: Final = Tool("langfuse", _steps, "event", "trace")
FORMAT: Final = Format("langfuse", _recognises, _TOOL.read, joins=True)
