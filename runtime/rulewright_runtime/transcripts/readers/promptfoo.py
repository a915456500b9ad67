"""Promptfoo: the results of an evaluation, with a conversation for each prompt and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, repeats
from rulewright_runtime.transcripts.readers.content import as_json, tool_call
from rulewright_runtime.transcripts.readers.openai import prompt_messages
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    object_in,
    optional,
    record_at,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import EXPECTED, Format, attempt, chat, messages


def _results(record: Record) -> list[object] | None:
    """The results in an export (`results.results`), in an older one (`results`), or the record itself; else None."""
    inner = record.get("results")
    if is_record(inner) and is_list(inner.get("results")):
        inner = inner["results"]
    if is_list(inner) and all(is_record(each) and _is_result(each) for each in inner[:1]):
        return inner
    return [record] if _is_result(record) else None


def _is_result(record: Record) -> bool:
    return is_record(record.get("prompt")) and "raw" in record["prompt"] and ("provider" in record or "vars" in record)


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        for index, result in enumerate(_results(record) or []):
            yield attempt(_conversation, result, f"results[{index}]")


def _conversation(value: object, where: str) -> Conversation:
    result = record_at(value, where)
    prompt = record_at(result.get("prompt"), f"{where}.prompt")
    response = record_at(result.get("response") or {}, f"{where}.response")
    test = result.get("testCase")
    variables = result.get("vars")
    provider = result.get("provider")
    metadata = rest(result, "prompt", "provider", "response", "tokenUsage", "id")
    return Conversation(
        _name(result),
        _said(result, response, where) or (*prompt_messages(prompt.get("raw")), *_answer(result, response, where)),
        optional(_scenario(object_in(object_in(test).get("metadata")), object_in(variables))),
        _expected(variables, test),
        {**metadata, **rest(response, "output", "tokenUsage", "raw")},
        _usage(result, response),
        "promptfoo",
        word(provider.get("id") if is_record(provider) else provider),
    )


def _usage(result: Record, response: Record) -> JsonObject:
    """The tokens, cost and latency of a result; a cached response was not timed."""
    measured = ("cost",) if response.get("cached") else ("cost", "latencyMs")
    recorded = {key: each[key] for key in measured for each in (response, result) if key in each}
    return {**object_in(response.get("tokenUsage") or result.get("tokenUsage")), **recorded}


def _name(result: Record) -> str:
    """The id of a result, or else the numbers of its test and prompt."""
    numbers = [word(result[key]) for key in ("testIdx", "promptIdx") if key in result]
    return word(result.get("id")) or "-".join(numbers)


def _scenario(*records: Record) -> Json:
    """The scenario that the test's metadata name, or else its variables."""
    return next((each["scenario_id"] for each in records if each.get("scenario_id") is not None), None)


def _expected(variables: object, test: object) -> object:
    """The expected answer: a variable of that name, or else the value of the only `equals` assertion."""
    named = first_of(variables, EXPECTED) if is_record(variables) else None
    if named is not None or not is_record(test) or not is_list(test.get("assert")):
        return named
    values = [each.get("value") for each in test["assert"] if is_record(each) and each.get("type") == "equals"]
    return values[0] if len(values) == 1 else None


def _said(result: Record, response: Record, where: str) -> tuple[Message, ...]:
    """The messages of an attack or a simulated user over several turns, with the answer if they lack it; empty for one
    answer. The output may be all messages as one text."""
    recorded = (each.get("messages") for each in (response.get("metadata"), result.get("metadata")) if is_record(each))
    listed = next((each for each in recorded if is_list(each) and each), None)
    if listed is None or not all(is_record(each) and "role" in each for each in listed):
        return ()
    found = chat(listed, f"{where}.response.metadata.messages")
    answer = _answer(result, response, where)
    texts = [each.text for each in found if each.role != "system"]
    is_among = all(any(repeats(text, each.text) for text in texts) for each in answer if each.text)
    is_whole = len(answer) == 1 and all(text in answer[0].text for text in texts)
    return (
        found
        if (is_among or is_whole) and not any(each.metadata.get("error") for each in answer)
        else (*found, *answer)
    )


def _answer(result: Record, response: Record, where: str) -> list[Message]:
    """The answer; with an error of the provider the rest of it is unknown."""
    output = response.get("output")
    error = response.get("error") or ((result.get("error") or "there is no output") if output is None else None)
    failed = [Message("assistant", metadata={"error": word(error) or "the provider failed"})] if error else []
    return [*([] if output is None else _output(output, where)), *failed]


def _output(output: Json, where: str) -> list[Message]:
    if is_list(output) and output and all(is_record(each) and "function" in each for each in output):
        calls = tuple(tool_call(each, f"{where}.response.output[{index}]") for index, each in enumerate(output))
        return [Message("assistant", tool_calls=calls)]
    if is_record(output) and ("content" in output or "tool_calls" in output):
        return messages({"role": "assistant", **output}, f"{where}.response.output")
    return [Message("assistant", (Part(text=output if isinstance(output, str) else as_json(output)),))]


FORMAT: Final = Format("promptfoo", lambda record: _results(record) is not None, _read, local_ids=True)
