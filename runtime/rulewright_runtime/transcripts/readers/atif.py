"""ATIF: trajectories of agents, as Harbor and Terminal-Bench write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright_runtime.transcripts.messages import Conversation, Message
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    list_at,
    object_in,
    optional,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, messages, one_by_one

SOURCES: Final = {"agent": "assistant", "user": "user", "system": "system"}
READ: Final = ("step_id", "timestamp", "source", "message", "reasoning_content", "tool_calls", "observation", "metrics")


def _recognises(record: Record) -> bool:
    return is_list(record.get("steps")) and (
        word(record.get("schema_version")).startswith("ATIF") or is_record(record.get("agent"))
    )


def _conversation(record: Record) -> Conversation:
    steps = list_at(record.get("steps"), "steps")
    if not steps:
        raise ShapeError("`steps` is empty; a trajectory needs at least one step")
    found = [message for index, step in enumerate(steps) for message in _messages(step, f"steps[{index}]")]
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


def _messages(value: object, where: str) -> Iterator[Message]:
    """Yield the message of a step, then the results of its tool calls."""
    step = record_at(value, where)
    role = SOURCES.get(word(step.get("source")))
    if role is None:
        raise ShapeError(f"{where}.source is {word(step.get('source')) or 'missing'}; expected user, agent or system")
    present = {key: step[key] for key in ("reasoning_content", "tool_calls", "timestamp") if step.get(key) is not None}
    record = {"role": role, "content": step.get("message"), "usage": step.get("metrics"), **present}
    yield from messages({**record, **rest(step, *READ)}, where)
    names = {
        word(call.get("tool_call_id")): word(call.get("function_name"))
        for call in step.get("tool_calls") or ()
        if is_record(call)
    }
    observed = record_at(step.get("observation") or {}, f"{where}.observation")
    for index, result in enumerate(list_at(observed.get("results") or [], f"{where}.observation.results")):
        path = f"{where}.observation.results[{index}]"
        yield from _result(record_at(result, path), names, path)


def _result(result: Record, names: dict[str, str], where: str) -> list[Message]:
    call = text_at(result.get("source_call_id"), f"{where}.source_call_id")
    record = {"role": "tool", "content": result.get("content"), "tool_call_id": call, "name": names.get(call)}
    return messages({**record, **rest(result, "content", "source_call_id")}, where)


FORMAT: Final = Format("atif", _recognises, one_by_one(_conversation))
