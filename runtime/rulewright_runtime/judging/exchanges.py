"""Exchanges: the requests and replies of a run's judge, read from the run and written as a replay."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.judging.judge import NotRecordedError, TooLongError, id_of_question
from rulewright_runtime.models.call import TOO_LONG, WHOLE
from rulewright_runtime.strict_json import UNDECODED, Decoder


class RecordedExchange(msgspec.Struct, frozen=True):
    """One line of a run's `replies.jsonl`: the request it belongs to, and the raw reply or the error."""

    transcript_id: str
    check_id: str
    repetition: Annotated[int, msgspec.Meta(ge=0, lt=1000)]  # a check has at most 101 votes
    attempt: Annotated[int, msgspec.Meta(ge=0)]
    window: Annotated[int, msgspec.Meta(ge=0)] = 0
    purpose: str = "check"
    reply: str | None = None
    error: str | None = None
    key: str = ""
    model: str = ""
    finish: str = ""
    prompt: str | None = None


_LINES: Final = Decoder(RecordedExchange)


def is_repeated_miss(attempt: int, error: str | None) -> bool:
    """Whether an exchange asked again for a reply that had not been recorded."""
    return attempt > 0 and (error or "").startswith(NotRecordedError.__name__)


def read_exchanges(path: str | os.PathLike[str]) -> Iterator[RecordedExchange]:
    """Yield the exchanges in a file, in order. Raises InputError for a line that can't be read."""
    with open(path, "rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield _LINES.decode(line)
            except UNDECODED as error:
                raise InputError(f"this is not a recorded reply: {error}", str(path), number) from None


def replay_of(exchanges: Iterable[RecordedExchange]) -> bytes:
    """The exchanges in the format of `replay:FILE`: `{transcript: {check: [repetition][attempt]}}`, sorted.

    The key of a check with one question is its id; otherwise the key is `CHECK/PURPOSE/WINDOW`. A truncated or refused
    reply counts as no reply, as it did in the run.
    """
    by_question: dict[str, dict[tuple[str, str, int], dict[tuple[int, int], object]]] = {}
    for each in exchanges:
        questions = by_question.setdefault(each.transcript_id, {})
        question = (each.check_id, each.purpose, each.window)
        questions.setdefault(question, {})[each.repetition, each.attempt] = _entry(each)
    replay = {
        transcript: {_key(question, questions): _sequence(entries) for question, entries in questions.items()}
        for transcript, questions in by_question.items()
    }
    return msgspec.json.format(msgspec.json.encode(replay, order="sorted"), indent=1) + b"\n"


def answers_of(exchanges: Iterable[RecordedExchange]) -> bytes:
    """The exchanges as lines of `{"custom_id", "reply"}`, each for its exact question, with the last attempt of every
    vote; a vote without a whole reply has no line."""
    lines: dict[str, bytes] = {}
    for name, each in with_ids(exchanges):
        lines.pop(name, None)
        if isinstance(reply := _entry(each), str):
            lines[name] = msgspec.json.encode({"custom_id": name, "reply": reply}) + b"\n"
    return b"".join(lines.values())


def with_ids(exchanges: Iterable[RecordedExchange]) -> Iterator[tuple[str, RecordedExchange]]:
    """Yield the exchanges of a file, each after the `custom_id` of its question."""
    prompts: dict[tuple[object, ...], str] = {}  # only the first exchange about a prompt holds it
    for each in exchanges:
        question = (each.transcript_id, each.check_id, each.purpose, each.window)
        prompt = prompts[question] = each.prompt if each.prompt is not None else prompts.get(question, "")
        yield id_of_question(*question, each.repetition, prompt), each


def _key(question: tuple[str, str, int], questions: Iterable[tuple[str, str, int]]) -> str:
    check_id, purpose, window = question
    is_only = sum(check == check_id for check, _, _ in questions) == 1
    return check_id if is_only else f"{check_id}/{purpose}/{window}"


def _sequence(entries: dict[tuple[int, int], object]) -> list[list[object]]:
    repetitions = 1 + max(repetition for repetition, _ in entries)
    return [
        [entry for (number, _), entry in sorted(entries.items(), key=lambda item: item[0]) if number == repetition]
        for repetition in range(repetitions)
    ]


def _entry(each: RecordedExchange) -> Any:
    if each.error is not None:
        code = {"code": TooLongError.code} if each.error == TOO_LONG else {}
        return {"raise": each.error, **code}
    if each.finish not in ("", WHOLE):  # empty: a judge that returns only text
        return {"raise": each.finish, "reply": each.reply}
    return each.reply
