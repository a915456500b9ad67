"""Judge requests without I/O: a verifier is a generator that yields requests and is resumed with the replies.

It yields a batch of requests that may be answered concurrently, and is sent their raw replies in the same order: None
without a reply, an error if the request could not be sent. The caller - a replay, a scheduler with hundreds of
calls in flight, a test - decides when and by whom they are answered; the result depends only on the replies.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import chain, islice
from typing import TypeAlias, TypeVar

from rulewright_runtime.errors import OutageError
from rulewright_runtime.files.atomic import DiskError
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
    resumed: dict[int, Replies | None] = dict.fromkeys(range(len(askings)))
    while True:
        waiting: dict[int, Questions] = {}
        for number, replies in resumed.items():
            try:
                waiting[number] = askings[number].send(replies)  # type: ignore[arg-type]
            except StopIteration as done:
                results[number] = done.value
        if not waiting:
            return [results[number] for number in range(len(askings))]
        answers = iter((yield tuple(chain.from_iterable(waiting.values()))))
        resumed = {number: tuple(islice(answers, len(questions))) for number, questions in waiting.items()}


def reply_of(judge: Judge | None, question: JudgeRequest) -> Reply:
    """The reply of `judge`; None if it raises. UnansweredError is returned; DiskError and OutageError end the run."""
    if judge is None:
        return None
    try:
        reply = judge.ask(question)
    except UnansweredError as error:
        return error
    except (DiskError, OutageError):
        raise
    except Exception:
        return None
    return reply if isinstance(reply, str) else None
