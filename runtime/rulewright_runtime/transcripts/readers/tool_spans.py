"""Executions of tools in spans: each belongs to a call in the messages, which may lack its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall
from rulewright_runtime.transcripts.readers.content import as_json
from rulewright_runtime.transcripts.readers.record_values import Record, first_of, object_in, word

_MARKS: Final = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("traceloop.span.kind", "tool"),
)
_SDK_NAME: Final = "ai.toolCall.name"
_NAMES: Final = ("gen_ai.tool.name", "tool.name", _SDK_NAME, "traceloop.entity.name")
_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
_RESULTS: Final = ("gen_ai.tool.call.result", "output.value", "ai.toolCall.result", "traceloop.entity.output")


class ToolExecution(msgspec.Struct, frozen=True):
    """One execution of a tool: where it is recorded, its name, the id of its call (which may be empty), and its result,
    None if none was recorded."""

    where: str
    name: str
    call_id: str
    result: str | None


def execution_in(span: Record, attributes: Record, where: str) -> ToolExecution | None:
    """The execution that a span records; None for a span of another kind."""
    if _SDK_NAME not in attributes and all(attributes.get(key) != mark for key, mark in _MARKS):
        return None
    result = first_of(attributes, _RESULTS)
    result = object_in(span.get("status")).get("message") if result is None else result
    text = result if isinstance(result, str) or result is None else as_json(result)
    return ToolExecution(where, word(first_of(attributes, _NAMES)), word(first_of(attributes, _IDS)), text or None)


def with_results(
    conversations: Sequence[Conversation], executions: Iterable[ToolExecution]
) -> tuple[list[Conversation], list[ToolExecution]]:
    """The conversations with the results that their messages lack, and the executions that no message calls.

    An execution belongs to the call with its id; one without an id, or beside calls without any, to the first call of
    its name to which no other belongs.
    """
    calls = {key: call for each in conversations for _, call, key in _calls(each)}  # a repeated call once
    results: dict[str, ToolExecution] = {}
    uncalled: list[ToolExecution] = []
    for execution in sorted(executions, key=lambda each: each.call_id not in calls):
        key = execution.call_id if execution.call_id in calls else _free(execution, calls, results.keys())
        if key is None:
            uncalled.append(execution)
        else:
            results.setdefault(key, execution)
    return [_completed(each, results) for each in conversations], uncalled


def _free(execution: ToolExecution, calls: Mapping[str, ToolCall], taken: Container[str]) -> str | None:
    return next(
        (
            key
            for key, call in calls.items()
            if call.name == execution.name and key not in taken and not (execution.call_id and call.id)
        ),
        None,
    )


def _calls(conversation: Conversation) -> Iterator[tuple[int, ToolCall, str]]:
    """Yield each call with the position of its message and its key: the id, or else what is called, and how often."""
    seen: Counter[str] = Counter()
    for at, message in enumerate(conversation.messages):
        for call in message.tool_calls:
            said = f"{call.name} {as_json(call.arguments)}"
            seen[said] += 1
            yield at, call, call.id or f"{seen[said]} {said}"


def _completed(conversation: Conversation, results: Mapping[str, ToolExecution]) -> Conversation:
    """The conversation with a message after each call whose result only a span holds."""
    messages = conversation.messages
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    found = list(messages)
    for at, call, key in reversed([*_calls(conversation)]):
        end = next((i for i in range(at + 1, len(messages)) if messages[i].role != "tool"), len(messages))
        has_result = call.id in answered or any(not each.tool_call_id for each in messages[at + 1 : end])
        text = results[key].result if key in results else None
        if text is not None and not has_result:
            found.insert(end, Message("tool", (Part(text=text),), call.name, tool_call_id=call.id or None))
    return msgspec.structs.replace(conversation, messages=tuple(found))
