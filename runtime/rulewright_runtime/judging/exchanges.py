"""Exchanges: what a run's judge was asked and answered, read from the run, and written as a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rulewright_runtime.errors import InputError
from rulewright_runtime.judging.judge import TooLongError
from rulewright_runtime.models.call import WHOLE

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator


class Recorded(msgspec.Struct, frozen=True):
    """One line of a run's `replies.jsonl`: a question's place, and the raw reply or why there is none."""

    transcript_id: str
    check_id: str
    repetition: int
    attempt: int
    window: int = 0
    purpose: str = "check"
    reply: str | None = None
    error: str | None = None
    key: str = ""
    model: str = ""
    finish: str = ""
    prompt: str | None = None


def recorded(path: str | os.PathLike[str]) -> Iterator[Recorded]:
    """The exchanges in a file, in their order. Raises InputError for a line that can't be read."""
    with open(path, "rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield msgspec.json.decode(line, type=Recorded)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise InputError(f"this is not a recorded reply: {error}", str(path), number) from None


def replay_of(exchanges: Iterable[Recorded]) -> bytes:
    """The exchanges as `replay:FILE` reads them: `{transcript: {check: [repetition][attempt]}}`, sorted.

    A check that was asked once about one window has its id as the key; otherwise the key is `CHECK/PURPOSE/WINDOW`.
    A reply that was cut off or refused counts as no reply, as it did in the run.
    """
    by_question: dict[str, dict[tuple[str, str, int], dict[tuple[int, int], object]]] = {}
    for each in exchanges:
        questions = by_question.setdefault(each.transcript_id, {})
        place = (each.check_id, each.purpose, each.window)
        questions.setdefault(place, {})[each.repetition, each.attempt] = _entry(each)
    replay = {
        transcript: {_key(place, questions): _sequence(entries) for place, entries in questions.items()}
        for transcript, questions in by_question.items()
    }
    return msgspec.json.format(msgspec.json.encode(replay, order="sorted"), indent=1) + b"\n"


def key_of(check_id: str, purpose: str, window: int) -> str:
    """The key of one of several questions of a check."""
    return f"{check_id}/{purpose}/{window}"


def _key(place: tuple[str, str, int], questions: Iterable[tuple[str, str, int]]) -> str:
    alone = sum(check == place[0] for check, _, _ in questions) == 1
    return place[0] if alone else key_of(*place)


def _sequence(entries: dict[tuple[int, int], object]) -> list[list[object]]:
    repetitions = 1 + max(repetition for repetition, _ in entries)
    return [
        [entry for (asked, _), entry in sorted(entries.items(), key=lambda item: item[0]) if asked == repetition]
        for repetition in range(repetitions)
    ]


def _entry(each: Recorded) -> Any:
    if each.error is not None:
        code = {"code": TooLongError.code} if each.error == "too_long" else {}
        return {"raise": each.error, **code}
    if each.finish not in ("", WHOLE):  # not a word about it: a judge that gives texts alone
        return {"raise": each.finish, "reply": each.reply}
    return each.reply
