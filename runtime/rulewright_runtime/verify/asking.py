"""Judge requests without I/O: a verifier is a generator that yields requests and is resumed with the replies.

It yields a batch of requests that may be answered concurrently, and is sent their raw replies in the same order: None
if there is no reply, an error if the request could not be sent. The caller - a replay, a scheduler with hundreds of
calls in flight, a test - decides when and by whom they are answered; the result depends only on the replies.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, TypeVar

from rulewright_runtime.files import DiskError
from rulewright_runtime.judging.judge import Judge, JudgeRequest, UnansweredError
from rulewright_runtime.verdicts import Finding

Result = TypeVar("Result")
Questions: TypeAlias = "tuple[JudgeRequest, ...]"
Reply: TypeAlias = "str | UnansweredError | None"
Replies: TypeAlias = tuple[Reply, ...]
Asking: TypeAlias = Generator[Questions, Replies, Result]
Verification: TypeAlias = "Finding | Asking[Finding]"  # the result of a verifier: a finding, or a generator of it


def together(askings: Sequence[Asking[Result]]) -> Asking[list[Result]]:
    """Run several generators concurrently: their requests form one batch. Returns their results, in order."""
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
        batch, waiting = waiting, {}
        replies = yield tuple(question for questions in batch.values() for question in questions)
        start = 0
        for number, questions in batch.items():
            resume(number, replies[start : start + len(questions)])
            start += len(questions)
    return [results[number] for number in range(len(askings))]


def reply_of(judge: Judge | None, question: JudgeRequest) -> Reply:
    """The reply of `judge`; None if it raises. An UnansweredError is returned; DiskError is raised and ends the run."""
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
