"""LangSmith: exported runs, with messages as LangChain, OpenAI or Anthropic write them.

The conversation of a thread (or else of a trace) is the input and output of its model calls; if an export has no model
call, that of its outermost run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.transcripts.messages import Conversation, Message
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, OUTPUT_KEYS, object_of, run_messages
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
from rulewright_runtime.transcripts.readers.spans import unrepeated

_THREADS: Final = ("session_id", "thread_id", "conversation_id")  # in the metadata of a run
_USAGE: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_MODELS: Final = ("ls_model_name", "model", "model_name")
_MAX_DEPTH: Final = 64


def _recognises(record: Record) -> bool:
    runs = record.get("runs")
    return _is_run(record) or (is_list(runs) and any(is_record(run) and _is_run(run) for run in runs[:1]))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and "inputs" in record


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    threads: dict[str, list[tuple[Record, str]]] = {}
    number = 0
    for record in records:
        for value in _runs(record, 0):
            number += 1
            if not is_record(value) or not _is_run(value):
                yield ShapeError(f"run {number} has no `run_type` and `inputs`")
            else:
                threads.setdefault(_thread(value), []).append((value, f"run {number}"))
    for name, runs in threads.items():
        yield from _conversations(name, runs)


def _runs(record: object, depth: int) -> Iterator[object]:
    """Yield the runs in an API response, or the record itself and its child runs."""
    if depth > _MAX_DEPTH:
        raise ShapeError("the runs are nested too deeply")
    if not is_record(record) or _is_run(record):
        yield record
    inner = (record.get("child_runs") if _is_run(record) else record.get("runs")) if is_record(record) else None
    for run in inner if is_list(inner) else []:
        yield from _runs(run, depth + 1)


def _thread(run: Record) -> str:
    return word(first_of(_metadata(run), _THREADS)) or word(first_of(run, ("trace_id", "id")))


def _metadata(run: Record) -> Record:
    extra = object_of(run.get("extra"))
    return object_of(extra.get("metadata")) or object_of(run.get("metadata"))


def _conversations(name: str, runs: list[tuple[Record, str]]) -> Iterator[Conversation | ShapeError]:
    traces: dict[str, list[tuple[Record, str]]] = {}
    for run, where in runs:
        traces.setdefault(word(first_of(run, ("trace_id", "id"))), []).append((run, where))
    relevant = []
    for trace_id, trace in traces.items():
        selected = _relevant_runs(trace)
        relevant += selected
        if not selected:
            yield ShapeError(f"trace `{trace_id[:60]}` has no outermost run; its runs stand below each other")
    found = []
    for run, where in sorted(relevant, key=lambda each: word(each[0].get("start_time"))):
        try:
            crashed = _error(traces[word(first_of(run, ("trace_id", "id")))])
            found.append(_conversation(run, name, where, crashed))
        except ShapeError as wrong:
            yield wrong
    yield from unrepeated(found, name)


def _relevant_runs(trace: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
    """The model calls in a trace; if there are none, its outermost runs."""
    ids = {word(run.get("id")) for run, _ in trace}
    calls = [each for each in trace if each[0]["run_type"] == "llm"]
    return calls or [each for each in trace if word(each[0].get("parent_run_id")) not in ids]


def _error(trace: list[tuple[Record, str]]) -> str:
    """The error of the whole trace, whatever its calls returned; empty if there is none."""
    return next((word(run["error"]) for run, _ in trace if run.get("error") and not run.get("parent_run_id")), "")


def _conversation(run: Record, name: str, where: str, crashed: str) -> Conversation:
    inputs, outputs = object_of(run.get("inputs")), object_of(run.get("outputs"))
    asked = run_messages(inputs, INPUT_KEYS, "user", f"{where}: inputs")
    replies = run_messages(outputs, OUTPUT_KEYS, "assistant", f"{where}: outputs")
    if not asked:
        raise ShapeError(f"{where}: inputs hold neither `messages` nor one text")
    if replies[: len(asked)] == asked:  # the state of a graph repeats its input
        replies = replies[len(asked) :]
    error = (
        word(run.get("error"))
        or crashed
        or ("" if replies and replies[-1].role == "assistant" else "the run has no answer")
    )
    ended = optional(run.get("end_time"))
    replies = [msgspec.structs.replace(each, timestamp=each.timestamp or ended) for each in replies]
    failed = [Message("assistant", metadata={"error": error}, timestamp=ended)] if error else []
    metadata = _metadata(run)
    return Conversation(
        name,
        (*asked, *replies, *failed),
        optional(metadata.get("scenario_id")),
        metadata=rest(run, "inputs", "outputs", "child_runs", "events", "serialized", *_USAGE),
        usage=_usage(run, replies),
        source="langsmith",
        model=_model(run, metadata, outputs),
    )


def _usage(run: Record, replies: list[Message]) -> dict[str, object]:
    """The usage of the run, or else of its reply; a cost may be written as text."""
    usage = {key: run[key] for key in _USAGE if run.get(key) is not None}
    cost = usage.get("total_cost")
    if isinstance(cost, str):
        usage["total_cost"] = parsed(cost)
    return usage or next((each.usage for each in replies if each.usage), {})


def _model(run: Record, metadata: Record, outputs: Record) -> str:
    parameters = object_of(object_of(run.get("extra")).get("invocation_params"))
    records = (metadata, parameters, object_of(outputs.get("llm_output")), outputs)
    return next((model for record in records if (model := word(first_of(record, _MODELS)))), "")


FORMAT: Final = Format("langsmith", _recognises, _read, joins=True)
