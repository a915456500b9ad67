"""DeepEval: test cases and conversations, from a saved dataset or from the record of a test run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.transcripts.messages import Conversation, Message, Part, ToolCall
from rulewright_runtime.transcripts.readers.content import arguments, as_json, tool_call
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    list_at,
    object_in,
    optional,
    record_at,
    rest,
    text_at,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, attempt, passages, role_at

# A dataset uses snake_case keys, a test run camelCase.
_ANSWER: Final = ("actual_output", "actualOutput")
_EXPECTED: Final = ("expected_output", "expectedOutput", "expected_outcome", "expectedOutcome")
_TOOLS: Final = ("tools_called", "toolsCalled")
_PARAMETERS: Final = ("inputParameters", "input_parameters")
_PASSAGES: Final = ("retrieval_context", "retrievalContext")
_METADATA: Final = ("additional_metadata", "additionalMetadata", "metadata")
_RUN: Final = ("testCases", "conversationalTestCases")
_USAGE: Final = {
    "input_token_count": "input_tokens", "inputTokenCount": "input_tokens",
    "output_token_count": "output_tokens", "outputTokenCount": "output_tokens",
    "token_cost": "cost", "tokenCost": "cost",
}  # fmt: skip
_CASE_MARKS: Final = (*_TOOLS, *_PASSAGES, "expected_tools", "metricsData")
_TALK_MARKS: Final = ("scenario", "expected_outcome", "expectedOutcome", "metricsData")


def _recognises(record: Record) -> bool:
    return _is_run(record) or _is_case(record) or is_talk(record)


def _is_run(record: Record) -> bool:
    return "metricsScores" in record and any(is_list(record.get(key)) for key in _RUN)


def _is_case(record: Record) -> bool:
    """Whether it is a test case with one question, and not a row of a table, which has only texts."""
    marked = any(key in record for key in _CASE_MARKS) and not all(isinstance(one, str) for one in record.values())
    return marked and "input" in record and ("metricsData" in record or any(key in record for key in _ANSWER))


def is_talk(record: Record) -> bool:
    """Whether it is a conversation of DeepEval; the native format has ids and numbered turns."""
    turns = record.get("turns")
    numbered = is_list(turns) and any(is_record(turn) and "turn" in turn for turn in turns[:1])
    named = "scenario_id" in record or "transcript_id" in record
    return "turns" in record and not (numbered or named) and any(key in record for key in _TALK_MARKS)


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        for value, where in _cases(record):
            yield attempt(_conversation, value, where)


def _cases(record: Record) -> Iterator[tuple[object, str]]:
    if not _is_run(record):
        yield record, ""
        return
    for key in _RUN:
        for index, value in enumerate(list_at(record.get(key) or [], key)):
            yield value, f"{key}[{index}]"


def _conversation(value: object, where: str) -> Conversation:
    case = record_at(value, where or "the case")
    where = where and f"{where}."
    found = tuple(_talk(case, where) if "turns" in case else _exchange(case, where))
    known = ("input", "turns", "name", *_ANSWER, *_EXPECTED, *_TOOLS, *_PASSAGES, *_USAGE)
    return Conversation(
        word(case.get("name")),
        found,
        optional(object_in(first_of(case, _METADATA)).get("scenario_id")),
        first_of(case, _EXPECTED),
        rest(case, *known),
        {name: case[key] for key, name in _USAGE.items() if case.get(key) is not None},
        "deepeval",
    )


def _exchange(case: Record, where: str) -> Iterator[Message]:
    """Yield the question, the tool calls, the retrieved passages, and the answer."""
    if not isinstance(case.get("input"), str):
        raise ShapeError(f"{where}input is not a text")
    yield Message("user", (Part(text=case["input"]),))
    yield from _tools(case, where)
    yield from passages(first_of(case, _PASSAGES))
    answer = first_of(case, _ANSWER)
    if answer is None:
        yield Message("assistant", metadata={"error": "there is no `actual_output`"})
    else:
        yield Message("assistant", (Part(text=text_at(answer, f"{where}actual_output")),))


def _talk(case: Record, where: str) -> Iterator[Message]:
    turns = list_at(case.get("turns") or [], f"{where}turns")
    if not turns:
        raise ShapeError(f"`{where}turns` is empty; a conversation needs at least one turn")
    for index, value in enumerate(turns):
        path = f"{where}turns[{index}]"
        turn = record_at(value, path)
        role = role_at(turn.get("role"), path)
        if not isinstance(turn.get("content"), str):
            raise ShapeError(f"{path}.content is not a text")
        yield from _tools(turn, f"{path}.")
        yield from passages(first_of(turn, _PASSAGES))
        metadata = rest(turn, "role", "content", *_TOOLS, *_PASSAGES)
        yield Message(role, (Part(text=turn["content"]),), metadata=metadata)


def _tools(record: Record, where: str) -> Iterator[Message]:
    """Yield the calls as one message of the assistant, and a message for each recorded result."""
    values = list_at(first_of(record, _TOOLS) or [], f"{where}tools_called")
    if not values:
        return
    tools = [record_at(value, f"{where}tools_called[{index}]") for index, value in enumerate(values)]
    thoughts = [text_at(tool.get("reasoning"), f"{where}tools_called.reasoning") for tool in tools]
    more = [rest(tool, "name", "reasoning", "output", *_PARAMETERS) for tool in tools]
    yield Message(
        "assistant",
        tool_calls=tuple(_call(tool, f"{where}tools_called[{index}]") for index, tool in enumerate(tools)),
        reasoning="\n".join(filter(None, thoughts)) or None,
        metadata={"tools_called": more} if any(more) else {},
    )
    for tool in tools:
        if tool.get("output") is not None:
            yield Message(
                "tool",
                (Part(text=tool["output"] if is_text(tool["output"]) else as_json(tool["output"])),),
                word(tool.get("name")),
            )


def _call(tool: Record, where: str) -> ToolCall:
    call = tool_call(rest(tool, "function"), where)
    parsed, raw = arguments(first_of(tool, _PARAMETERS))
    return msgspec.structs.replace(call, arguments=parsed, raw=raw)


FORMAT: Final = Format("deepeval", _recognises, _read, local_ids=True)
