"""Inspect: the samples of an evaluation log, in a JSON log or as members of an `.eval` archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.messages import Conversation, Message, repeats
from rulewright_runtime.transcripts.readers.openai import conversations
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    object_in,
    optional,
    record_at,
    rest,
    shown,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format, attempt, chat, ended, messages

FINISHED: Final = "success"  # the status of a log with all of its samples
_MOST_MISSING: Final = 100_000  # refusals of one log
HEAVY: Final = ("events", "attachments", "timelines", "store", "messages", "output", "input", "target", "model_usage")


def _is_log(record: Record) -> bool:
    return is_record(record.get("eval")) and ("samples" in record or ("status" in record and "results" in record))


def is_sample(record: Record) -> bool:
    """Whether the record is one sample of a log, as in an archive."""
    return {"id", "epoch", "input", "target", "messages"} <= record.keys()


def _read(records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
    for record in records:
        if is_sample(record):
            yield attempt(sample_conversation, record, {}, "the sample")
            continue
        if not is_list(record.get("samples")):
            yield ShapeError("the log has no samples; run the evaluation without `--no-log-samples`")
            continue
        for index, sample in enumerate(record["samples"]):
            yield attempt(sample_conversation, sample, record["eval"], f"samples[{index}]")
        yield from map(ShapeError, missing(record, len(record["samples"])))


def missing(log: Record, held: int) -> Iterator[str]:
    """Yield a refusal for each sample that a log counts beyond those that it holds; one where its status says that it
    may lack some."""
    status, count = log.get("status", FINISHED), object_in(log.get("results")).get("total_samples")
    if status != FINISHED:
        yield f"the log's status is {shown(status)}, so samples may be missing; run the evaluation to its end"
    elif isinstance(count, int):
        for number in range(held + 1, min(count, held + _MOST_MISSING) + 1):
            yield f"the log counts {count} samples and holds {held}: sample {number} is missing"
        if count > held + _MOST_MISSING:
            yield f"the log counts {count} samples: those after sample {held + _MOST_MISSING} are missing, too"


def sample_conversation(value: object, header: Record, where: str) -> Conversation:
    """The conversation of a sample; `header` is the `eval` object of the log. Raises ShapeError."""
    sample = record_at(value, where)
    read = {key: _attached(sample.get(key), sample, where) for key in ("messages", "input", "output")}
    recorded = read["messages"]
    found = list(chat(recorded, f"{where}.messages")) if recorded else _input_messages(read["input"], where)
    output = record_at(read["output"] or {}, f"{where}.output")
    # what is scored: the last message, or an answer that a solver has set
    answers = [answer for each in conversations(output) for answer in each.messages] if output.get("choices") else []
    found += [
        answer
        for answer in answers
        if found[-1].role != "assistant" or not any(repeats(each.text, answer.text) for each in found)
    ]
    if answers and found[-1].role == "assistant":
        found = ended(found, answers[-1].metadata)
    error = sample.get("error")
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
    """The input of a sample without messages."""
    if is_list(question):
        return list(chat(question, f"{where}.input"))
    return messages({"role": "user", "content": question}, f"{where}.input")


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


FORMAT: Final = Format("inspect", lambda record: _is_log(record) or is_sample(record), _read, local_ids=True)
