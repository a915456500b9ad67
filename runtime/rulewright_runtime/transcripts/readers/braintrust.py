"""Braintrust: exported events of experiments and logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.readers.record_values import Record, is_list, is_record, object_in, rest, word
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.traces import Kind, Step, Tool

_LISTS: Final = ("events", "data")  # of an API response
_USAGE: Final = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "tokens": "total_tokens",
    "estimated_cost": "cost",
}


def _is_event(record: Record) -> bool:
    return "root_span_id" in record and ("input" in record or "output" in record) and "attributes" not in record


def _listed(record: Record) -> list[Json] | None:
    lists = (record.get(key) for key in _LISTS)
    return next((each for each in lists if is_list(each) and each and is_record(each[0]) and _is_event(each[0])), None)


def _steps(record: Record) -> Iterator[Step | None]:
    for event in _listed(record) or [record]:
        yield _step(event) if is_record(event) and _is_event(event) else None


def _step(event: Record) -> Step:
    metadata, metrics = object_in(event.get("metadata")), object_in(event.get("metrics"))
    parents, start = event.get("span_parents"), metrics.get("start")
    return Step(
        id=word(event.get("span_id")),
        trace=word(event["root_span_id"]),
        kind=_kind(object_in(event.get("span_attributes"))),
        input=event.get("input"),
        output=event.get("output"),
        parents=[word(each) for each in parents] if is_list(parents) and not event.get("is_root") else (),
        start=start if isinstance(start, int | float) else 0,
        error=event.get("error"),
        expected=event.get("expected"),
        about=metadata,
        model=word(metadata.get("model")),
        usage=_usage(metrics),
        kept=rest(event, "input", "output", "expected"),
    )


def _kind(attributes: Record) -> Kind:
    if attributes.get("type") == "score" or attributes.get("purpose") == "scorer":
        return "scorer"
    return "call" if attributes.get("type") == "llm" else "other"


def _usage(metrics: Record) -> JsonObject:
    usage = {name: metrics[key] for key, name in _USAGE.items() if metrics.get(key) is not None}
    start, end = metrics.get("start"), metrics.get("end")
    if isinstance(start, int | float) and isinstance(end, int | float):
        usage["duration_seconds"] = round(end - start, 6)
    return usage


_TOOL: Final = Tool("braintrust", _steps, "event", "`root_span_id` with `input` or `output`")
FORMAT: Final = Format(
    "braintrust", lambda record: _is_event(record) or _listed(record) is not None, _TOOL.read, joins=True
)
