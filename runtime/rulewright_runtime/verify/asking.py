"""Asking without I/O: a verifier yields the questions it has and is resumed with the answers.

A generator yields a batch of questions that may be answered at once, and is sent their raw replies in the same order:
None where there is no answer, an error where the question could not be put. Whoever drives it -
a replay, a scheduler with hundreds of calls in flight, a test - decides when and by whom they are answered; what comes
out depends on the replies alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from rulewright_runtime.files import DiskError
from rulewright_runtime.judging.judge import UnansweredError

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge, JudgeRequest
    from rulewright_runtime.verdicts import Finding

Result = TypeVar("Result")
Questions: TypeAlias = "tuple[JudgeRequest, ...]"
Reply: TypeAlias = "str | UnansweredError | None"
Replies: TypeAlias = tuple[Reply, ...]
Asking: TypeAlias = Generator[Questions, Replies, Result]
Verification: TypeAlias = "Finding | Asking[Finding]"  # what a verifier gives: a finding, or the way to one


def together(askings: Sequence[Asking[Result]]) -> Asking[list[Result]]:
    """Carry out several at a time: the questions that they have are one batch. Gives their results, in their order."""
    results: dict[int, Result] = {}
    waiting: dict[int, Questions] = {}

    def resume(number: int, replies: Replies | None) -> None:
        try:
            asking = askings[number]
            waiting[number] = next(asking) if replies is None else asking.send(replies)
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(askings)):
        resume(number, None)
    while waiting:
        asked, waiting = waiting, {}
        replies = yield tuple(question for questions in asked.values() for question in questions)
        start = 0
        for number, questions in asked.items():
            resume(number, replies[start : start + len(questions)])
            start += len(questions)
    return [results[number] for number in range(len(askings))]


def reply_of(judge: Judge | None, question: JudgeRequest) -> Reply:
    """What `judge` answers. Whatever it raises is not an answer; a full disk ends the run."""
    if judge is None:
        return None
    try:
        reply = judge.ask(question)
    except UnansweredError as error:
        return error
    except DiskError:
        raise
    except Exception:
        return None
    return reply if isinstance(reply, str) else None
