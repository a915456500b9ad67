"""Tracing tools: the traces that Langfuse, LangSmith and Braintrust export, as steps for `traces`.

Langfuse exports traces with their observations, of which those of a session are one conversation; LangSmith runs, with
messages as LangChain, OpenAI or Anthropic write them; Braintrust events of experiments and logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.readers.payloads import object_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    list_at,
    object_in,
    optional,
    parsed,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.traces import Kind, Step, Tool

_OBSERVATIONS: Final = frozenset({
    "SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
})  # fmt: skip
_TRACES: Final = ("traceId", "trace_id")
_PARENTS: Final = ("parentObservationId", "parent_observation_id")
_SESSIONS: Final = ("sessionId", "session_id")
_USAGE_OF_LANGFUSE: Final = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}
_KINDS: Final[dict[str, Kind]] = {"GENERATION": "call", "EVALUATOR": "scorer"}


def _is_of_langfuse(record: Record) -> bool:
    return _is_observation(record) or _is_trace(record) or (is_record(record.get("trace")) and "observations" in record)


def _is_observation(record: Record) -> bool:
    known = word(record.get("type")).upper() in _OBSERVATIONS and "attributes" not in record
    return known and any(key in record for key in _TRACES) and ("input" in record or "output" in record)


def _is_trace(record: Record) -> bool:
    about = "timestamp" in record and ("input" in record or "output" in record)
    return about and "messages" not in record and any(key in record for key in (*_SESSIONS, "observations"))


def _observations(record: Record) -> Iterator[Step]:
    """Yield each trace or observation as a step, with its session."""
    if _is_observation(record):
        yield _step_of_observation(record, "", word(first_of(record, _SESSIONS)))
        return
    trace = record["trace"] if is_record(record.get("trace")) else record
    session = word(first_of(trace, _SESSIONS))
    outer = word(trace.get("id")) if first_of(trace, ("input", "output")) is not None else ""
    if outer:
        yield _step_of_observation({**trace, "type": "TRACE", "traceId": outer}, "", session)
    for observation in list_at(record.get("observations") or [], "observations"):
        if is_record(observation):  # a list of traces has the ids only
            yield _step_of_observation({"traceId": trace.get("id"), **observation}, outer, session)


def _step_of_observation(record: Record, outer: str, session: str) -> Step:
    metadata = object_of(record.get("metadata"))
    failed = word(record.get("level")).upper() == "ERROR"
    usage = object_of(first_of(record, ("usageDetails", "usage_details", "usage")))
    parent = word(first_of(record, _PARENTS)) or outer
    start = word(first_of(record, ("startTime", "start_time", "timestamp")))
    return Step(
        id=word(record.get("id")),
        trace=word(first_of(record, _TRACES)),
        kind=_KINDS.get(word(record.get("type")).upper(), "other"),
        input=_decoded(record.get("input")),
        output=_decoded(record.get("output")),
        parents=[parent] if parent else (),
        thread=session,
        start=re.sub(r"[^0-9]", "", start)[:17].ljust(17, "0"),
        error=(word(record.get("statusMessage")) or "the observation failed") if failed else None,
        about=metadata,
        model=word(record.get("model")) or word(metadata.get("model")),
        usage={name: usage[key] for key, name in _USAGE_OF_LANGFUSE.items() if usage.get(key) is not None},
        kept=rest(record, "input", "output", "observations"),
    )


def _decoded(value: Json) -> Json:
    """The value of an input or output, which some exports write as JSON text."""
    decoded = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else None
    return value if decoded is None else decoded


LANGFUSE: Final = Tool("langfuse", _is_of_langfuse, _observations, "event", "trace").format

_THREADS: Final = ("session_id", "thread_id", "conversation_id")  # in the metadata of a run
_USAGE_OF_RUN: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_MODELS: Final = ("ls_model_name", "model", "model_name")
_MAX_DEPTH: Final = 64


def _is_of_langsmith(record: Record) -> bool:
    runs = record.get("runs")
    return _is_run(record) or (is_list(runs) and any(is_record(run) and _is_run(run) for run in runs[:1]))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and "inputs" in record


def _steps_of_runs(record: Record) -> Iterator[Step | None]:
    for run in _runs(record, 0):
        yield _step_of_run(run) if is_record(run) and _is_run(run) else None


def _runs(record: object, depth: int) -> Iterator[object]:
    """Yield the runs in an API response, or the record itself and its child runs."""
    if depth > _MAX_DEPTH:
        raise ShapeError("the runs are nested too deeply")
    if not is_record(record) or _is_run(record):
        yield record
    inner = (record.get("child_runs") if _is_run(record) else record.get("runs")) if is_record(record) else None
    for run in inner if is_list(inner) else []:
        yield from _runs(run, depth + 1)


def _step_of_run(run: Record) -> Step:
    extra, inputs, outputs = (object_of(run.get(key)) for key in ("extra", "inputs", "outputs"))
    metadata = object_of(extra.get("metadata")) or object_of(run.get("metadata"))
    named = (metadata, object_of(extra.get("invocation_params")), object_of(outputs.get("llm_output")), outputs)
    return Step(
        id=word(run.get("id")),
        trace=word(first_of(run, ("trace_id", "id"))),
        kind="call" if run["run_type"] == "llm" else "other",
        input=inputs,
        output=outputs,
        parents=[word(run["parent_run_id"])] if run.get("parent_run_id") else (),
        thread=word(first_of(metadata, _THREADS)),
        start=word(run.get("start_time")),
        ended=optional(run.get("end_time")),
        error=run.get("error"),
        about=metadata,
        model=next((model for record in named if (model := word(first_of(record, _MODELS)))), ""),
        usage=_usage_of_run(run),
        kept=rest(run, "inputs", "outputs", "child_runs", "events", "serialized", *_USAGE_OF_RUN),
    )


def _usage_of_run(run: Record) -> JsonObject:
    """The usage of a run; a cost may be written as text."""
    usage = {key: run[key] for key in _USAGE_OF_RUN if run.get(key) is not None}
    cost = usage.get("total_cost")
    return {**usage, "total_cost": parsed(cost)} if isinstance(cost, str) else usage


LANGSMITH: Final = Tool(
    "langsmith",
    _is_of_langsmith,
    _steps_of_runs,
    "run",
    "`run_type` and `inputs`",
    keys=("inputs", "outputs"),
    unanswered="the run has no answer",
    reads_json=False,
).format

_LISTS: Final = ("events", "data")  # of an API response
_METRICS: Final = {
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


def _steps_of_events(record: Record) -> Iterator[Step | None]:
    for event in _listed(record) or [record]:
        yield _step_of_event(event) if is_record(event) and _is_event(event) else None


def _step_of_event(event: Record) -> Step:
    metadata, metrics = object_in(event.get("metadata")), object_in(event.get("metrics"))
    parents, start = event.get("span_parents"), metrics.get("start")
    return Step(
        id=word(event.get("span_id")),
        trace=word(event["root_span_id"]),
        kind=_kind_of_event(object_in(event.get("span_attributes"))),
        input=event.get("input"),
        output=event.get("output"),
        parents=[word(each) for each in parents] if is_list(parents) and not event.get("is_root") else (),
        start=start if isinstance(start, int | float) else 0,
        error=event.get("error"),
        expected=event.get("expected"),
        about=metadata,
        model=word(metadata.get("model")),
        usage=_usage_of_event(metrics),
        kept=rest(event, "input", "output", "expected"),
    )


def _kind_of_event(attributes: Record) -> Kind:
    if attributes.get("type") == "score" or attributes.get("purpose") == "scorer":
        return "scorer"
    return "call" if attributes.get("type") == "llm" else "other"


def _usage_of_event(metrics: Record) -> JsonObject:
    usage = {name: metrics[key] for key, name in _METRICS.items() if metrics.get(key) is not None}
    start, end = metrics.get("start"), metrics.get("end")
    if isinstance(start, int | float) and isinstance(end, int | float):
        usage["duration_seconds"] = round(end - start, 6)
    return usage


BRAINTRUST: Final = Tool(
    "braintrust",
    lambda record: _is_event(record) or _listed(record) is not None,
    _steps_of_events,
    "event",
    "`root_span_id` with `input` or `output`",
).format
