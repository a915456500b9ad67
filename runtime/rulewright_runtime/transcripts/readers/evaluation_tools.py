"""Evaluation tools: the conversations in what DeepEval, promptfoo, Inspect and OpenAI store of an evaluation.

DeepEval has test cases and conversations, in a saved dataset or in the record of a test run; promptfoo results, each
with a prompt and an answer; Inspect samples, in a JSON log or as members of an `.eval` archive; OpenAI's Evals API the
output items of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rulewright_runtime.english import plural
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, SaidTexts, ToolCall
from rulewright_runtime.transcripts.readers import shapes
from rulewright_runtime.transcripts.readers.content import arguments, as_json, tool_call
from rulewright_runtime.transcripts.readers.openai import conversations, prompt_messages
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    first_of,
    is_list,
    is_record,
    is_text,
    items_at,
    object_in,
    optional,
    record_at,
    records_at,
    rest,
    shown,
    text_at,
    word,
)

# A dataset uses snake_case keys, a test run camelCase.
_ANSWER: Final = ("actual_output", "actualOutput")
_EXPECTED: Final = ("expected_output", "expectedOutput", "expected_outcome", "expectedOutcome")
_TOOLS: Final = ("tools_called", "toolsCalled")
_PARAMETERS: Final = ("inputParameters", "input_parameters")
_PASSAGES: Final = ("retrieval_context", "retrievalContext")
_METADATA: Final = ("additional_metadata", "additionalMetadata", "metadata")
_LATEST: Final = "testRunData"
_RUN: Final = ("testCases", "conversationalTestCases")
_USAGE: Final = {
    "input_token_count": "input_tokens", "inputTokenCount": "input_tokens",
    "output_token_count": "output_tokens", "outputTokenCount": "output_tokens",
    "token_cost": "cost", "tokenCost": "cost",
}  # fmt: skip
_CASE_MARKS: Final = (*_TOOLS, *_PASSAGES, "expected_tools", "metricsData")
_TALK_MARKS: Final = ("scenario", "expected_outcome", "expectedOutcome", "metricsData")


def _is_test_run(record: Record) -> bool:
    """Whether it is a test run, also as the file `.latest_test_run.json` holds it."""
    run = object_in(record.get(_LATEST)) or record
    return "metricsScores" in run and any(is_list(run.get(key)) for key in _RUN)


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


def _cases(record: Record) -> Iterator[tuple[object, str]]:
    if not _is_test_run(record):
        yield record, ""
        return
    for key in _RUN:
        yield from items_at((object_in(record.get(_LATEST)) or record).get(key), key)


def _case_conversation(value: object, where: str) -> Conversation:
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
    yield from shapes.passages(first_of(case, _PASSAGES))
    answer = first_of(case, _ANSWER)
    if answer is None:
        yield Message("assistant", metadata={"error": "`actual_output` is missing"})
    else:
        yield Message("assistant", (Part(text=text_at(answer, f"{where}actual_output")),))


def _talk(case: Record, where: str) -> Iterator[Message]:
    turns = items_at(case.get("turns"), f"{where}turns")
    if not turns:
        raise ShapeError(f"`{where}turns` is empty; a conversation needs at least one turn")
    for value, path in turns:
        turn = record_at(value, path)
        role = shapes.role_at(turn.get("role"), path)
        if not isinstance(turn.get("content"), str):
            raise ShapeError(f"{path}.content is not a text")
        yield from _tools(turn, f"{path}.")
        yield from shapes.passages(first_of(turn, _PASSAGES))
        metadata = rest(turn, "role", "content", *_TOOLS, *_PASSAGES)
        yield Message(role, (Part(text=turn["content"]),), metadata=metadata)


def _tools(record: Record, where: str) -> Iterator[Message]:
    """Yield the calls as one message of the assistant, and a message for each recorded result."""
    tools = records_at(first_of(record, _TOOLS), f"{where}tools_called")
    if not tools:
        return
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


DEEPEVAL: Final = shapes.Format(
    "deepeval",
    lambda record: _is_test_run(record) or _is_case(record) or is_talk(record),
    shapes.each_of(_cases, _case_conversation),
    local_ids=True,
)


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


def _result_conversation(value: object, where: str) -> Conversation:
    result = record_at(value, where)
    prompt = record_at(result.get("prompt"), f"{where}.prompt")
    response = record_at(result.get("response") or {}, f"{where}.response")
    test = result.get("testCase")
    variables = result.get("vars")
    provider = result.get("provider")
    metadata = rest(result, "prompt", "provider", "response", "tokenUsage", "id")
    return Conversation(
        _name(result),
        _exchanged(result, response, where) or (*prompt_messages(prompt.get("raw")), *_answer(result, response, where)),
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
    named = first_of(variables, shapes.EXPECTED) if is_record(variables) else None
    if named is not None or not is_record(test) or not is_list(test.get("assert")):
        return named
    values = [each.get("value") for each in test["assert"] if is_record(each) and each.get("type") == "equals"]
    return values[0] if len(values) == 1 else None


def _exchanged(result: Record, response: Record, where: str) -> tuple[Message, ...]:
    """The messages of an attack or a simulated user over several turns, with the answer if they lack it; empty for one
    answer. The output may be all messages as one text."""
    recorded = (each.get("messages") for each in (response.get("metadata"), result.get("metadata")) if is_record(each))
    listed = next((each for each in recorded if is_list(each) and each), None)
    if listed is None or not all(is_record(each) and "role" in each for each in listed):
        return ()
    found = shapes.chat(listed, f"{where}.response.metadata.messages")
    answer = _answer(result, response, where)
    texts = [each.text for each in found if each.role != "system"]
    spoken = SaidTexts(texts)
    is_among = all(spoken.repeat(each.text) for each in answer if each.text)
    is_whole = len(answer) == 1 and all(text in answer[0].text for text in texts)
    return (
        found
        if (is_among or is_whole) and not any(each.metadata.get("error") for each in answer)
        else (*found, *answer)
    )


def _answer(result: Record, response: Record, where: str) -> list[Message]:
    """The answer; with an error of the provider the rest of it is unknown."""
    output = response.get("output")
    error = response.get("error") or ((result.get("error") or "the output is missing") if output is None else None)
    failed = [Message("assistant", metadata={"error": word(error) or "the provider failed"})] if error else []
    return [*([] if output is None else _output(output, where)), *failed]


def _output(output: Json, where: str) -> list[Message]:
    if is_list(output) and output and all(is_record(each) and "function" in each for each in output):
        calls = tuple(tool_call(each, f"{where}.response.output[{index}]") for index, each in enumerate(output))
        return [Message("assistant", tool_calls=calls)]
    if is_record(output) and ("content" in output or "tool_calls" in output):
        return shapes.messages({"role": "assistant", **output}, f"{where}.response.output")
    return [Message("assistant", (Part(text=output if isinstance(output, str) else as_json(output)),))]


PROMPTFOO: Final = shapes.Format(
    "promptfoo",
    lambda record: _results(record) is not None,
    shapes.each_of(lambda record: items_at(_results(record), "results"), _result_conversation),
    local_ids=True,
)


FINISHED: Final = "success"  # the status of a log with all of its samples
_MOST_MISSING: Final = 100_000  # refusals of one log
HEAVY: Final = ("events", "attachments", "timelines", "store", "messages", "output", "input", "target", "model_usage")


def _is_log(record: Record) -> bool:
    return is_record(record.get("eval")) and ("samples" in record or ("status" in record and "results" in record))


def is_sample(record: Record) -> bool:
    """Whether the record is one sample of a log, as in an archive."""
    return {"id", "epoch", "input", "target", "messages"} <= record.keys()


def _read_logs(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        if is_sample(record):
            yield shapes.attempt(sample_conversation, record, {}, "the sample")
            continue
        if not is_list(record.get("samples")):
            yield ShapeError("the log has no samples; run the evaluation without `--no-log-samples`")
            continue
        for index, sample in enumerate(record["samples"]):
            yield shapes.attempt(sample_conversation, sample, record["eval"], f"samples[{index}]")
        yield from map(ShapeError, missing(record, len(record["samples"])))


def missing(log: Record, held: int) -> Iterator[str]:
    """Yield a refusal for each sample that a log counts beyond those that it holds; one where its status says that it
    may lack some."""
    status, count = log.get("status", FINISHED), object_in(log.get("results")).get("total_samples")
    if status != FINISHED:
        yield f"the log's status is {shown(status)}, so samples may be missing; run the evaluation to its end"
    elif isinstance(count, int):
        for number in range(held + 1, min(count, held + _MOST_MISSING) + 1):
            yield f"the log counts {plural(count, 'sample')} and contains {held}: sample {number} is missing"
        if count > held + _MOST_MISSING:
            yield f"the log counts {count} samples: those after sample {held + _MOST_MISSING} are missing, too"


def sample_conversation(value: object, header: Record, where: str) -> Conversation:
    """The conversation of a sample; `header` is the `eval` object of the log. Raises ShapeError."""
    sample = record_at(value, where)
    read = {key: _attached(sample.get(key), sample, where) for key in ("messages", "input", "output")}
    recorded = read["messages"]
    found = list(shapes.chat(recorded, f"{where}.messages")) if recorded else _input_messages(read["input"], where)
    output = record_at(read["output"] or {}, f"{where}.output")
    # what is scored: the last message, or an answer that a solver has set
    answers = [answer for each in conversations(output) for answer in each.messages] if output.get("choices") else []
    spoken = SaidTexts(each.text for each in found)
    found += [each for each in answers if found[-1].role != "assistant" or not spoken.repeat(each.text)]
    if answers and found[-1].role == "assistant":
        found = shapes.ended(found, answers[-1].metadata)
    error = sample.get("error") or (output.get("error") or "the sample has no answer") * (found[-1].role != "assistant")
    if error:  # the reply that would have followed is unknown
        reason = error.get("message") if is_record(error) else error
        found.append(Message("assistant", metadata={"error": word(reason) or "the sample ended with an error"}))
    metadata = {**{key: header[key] for key in ("task", "run_id") if header.get(key)}, **rest(sample, *HEAVY)}
    return Conversation(
        f"{word(sample.get('id'))}_{word(sample.get('epoch')) or 1}",
        tuple(found),
        optional(object_in(sample.get("metadata")).get("scenario_id")),
        sample.get("target") or None,
        metadata,
        object_in(output.get("usage")),
        "inspect",
        word(output.get("model")) or word(header.get("model")),
    )


def _input_messages(question: Json, where: str) -> list[Message]:
    if is_list(question):
        return list(shapes.chat(question, f"{where}.input"))
    return shapes.messages({"role": "user", "content": question}, f"{where}.input")


def _attached(value: Json, sample: Record, where: str) -> Json:
    """The value, with the long texts that a log stores separately, as `attachment://...`. Raises ShapeError for one
    that is not there."""
    if is_list(value):
        return [_attached(each, sample, where) for each in value]
    if is_record(value):
        return {key: _attached(each, sample, where) for key, each in value.items()}
    if not isinstance(value, str) or not value.startswith("attachment://"):
        return value
    name = value.removeprefix("attachment://")
    attachments = sample.get("attachments")
    content = attachments.get(name) if is_record(attachments) else None
    if not isinstance(content, str):
        raise ShapeError(f"{where}.attachments lacks {shown(name)}")
    return content


INSPECT: Final = shapes.Format(
    "inspect", lambda record: _is_log(record) or is_sample(record), _read_logs, local_ids=True
)


def _is_output_item(record: Record) -> bool:
    return record.get("object") == "eval.run.output_item" and is_record(record.get("sample"))


def _item_conversation(item: Record) -> Conversation:
    sample = record_at(item.get("sample"), "sample")
    keys = ("input", "output")
    asked, answers = (shapes.chat(sample[key], f"sample.{key}") if sample.get(key) else () for key in keys)
    reasons = object_in(sample.get("error")) or {"message": sample.get("error")}
    given = filter(None, (reasons.get("message"), *reasons.values()))  # without an error all are empty
    error = next(given, None if answers else "the item has no output")
    failed = (Message("assistant", metadata={"error": word(error) or "the item failed"}),) if error else ()
    return Conversation(
        word(item.get("id")),
        (*asked, *answers, *failed),
        None,
        first_of(object_in(item.get("datasource_item")), shapes.EXPECTED),
        {**rest(item, "id", "sample"), **rest(sample, *keys, "usage", "model", "error")},
        object_in(sample.get("usage")),
        "openai-evals",
        word(sample.get("model")),
    )


OPENAI_EVALS: Final = shapes.Format("openai-evals", _is_output_item, shapes.one_by_one(_item_conversation))
