"""LangSmith: exported runs, with messages as LangChain, OpenAI or Anthropic write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.readers.payloads import object_of
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    optional,
    parsed,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.traces import Step, Tool

_THREADS: Final = ("session_id", "thread_id", "conversation_id")  # in the metadata of a run
_USAGE: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_MODELS: Final = ("ls_model_name", "model", "model_name")
_MAX_DEPTH: Final = 64


def _recognises(record: Record) -> bool:
    runs = record.get("runs")
    return _is_run(record) or (is_list(runs) and any(is_record(run) and _is_run(run) for run in runs[:1]))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and "inputs" in record


def _steps(record: Record) -> Iterator[Step | None]:
    for run in _runs(record, 0):
        yield _step(run) if is_record(run) and _is_run(run) else None


def _runs(record: object, depth: int) -> Iterator[object]:
    """Yield the runs in an API response, or the record itself and its child runs."""
    if depth > _MAX_DEPTH:
        raise ShapeError("the runs are nested too deeply")
    if not is_record(record) or _is_run(record):
        yield record
    inner = (record.get("child_runs") if _is_run(record) else record.get("runs")) if is_record(record) else None
    for run in inner if is_list(inner) else []:
        yield from _runs(run, depth + 1)


def _step(run: Record) -> Step:
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
        usage=_usage(run),
        kept=rest(run, "inputs", "outputs", "child_runs", "events", "serialized", *_USAGE),
    )


def _usage(run: Record) -> JsonObject:
    """The usage of a run; a cost may be written as text."""
    usage = {key: run[key] for key in _USAGE if run.get(key) is not None}
    cost = usage.get("total_cost")
    return {**usage, "total_cost": parsed(cost)} if isinstance(cost, str) else usage


_TOOL: Final = Tool(
    "langsmith",
    _steps,
    "run",
    "`run_type` and `inputs`",
    keys=("inputs", "outputs"),
    unanswered="the run has no answer",
    reads_json=False,
)
FORMAT: Final = Format("langsmith", _recognises, _TOOL.read, joins=True)
