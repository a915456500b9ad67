"""Judges: who answers a check's question, and the judge that replays recorded answers.

A judge is handed in when a run starts; a plan never names one.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from rulewright_runtime.errors import JudgeError

REPLAY: Final = "replay:"


class JudgeRequest(msgspec.Struct, frozen=True):
    """One call: which question is asked, for which repetition and attempt (from 0), and how much may be answered.

    `window` counts the windows of the check from 0; `purpose` is `check` or `edge`.
    """

    transcript_id: str
    check_id: str
    prompt: str
    max_tokens: int
    temperature: float
    repetition: int
    attempt: int
    window: int = 0
    purpose: str = "check"


class Judge(Protocol):
    """Answers questions. Whatever it raises, and None, counts as an attempt without a usable reply."""

    def ask(self, request: JudgeRequest) -> str | None:
        """The raw reply, or None."""


class BudgetExhaustedError(JudgeError):
    """No further call is allowed; what is not decided yet stays UNCLEAR."""


class ReplayJudge:
    """Answers with recorded replies: `{transcript_id: {check_id: [repetition][attempt]}}`.

    An entry is the raw reply, null, or `{"raise": message}`; the last entry of a repetition answers all later attempts.
    Every window of a check is answered with the check's sequence. What was never recorded is no reply.
    """

    def __init__(self, replies: dict[str, dict[str, list[list[Any]]]]) -> None:
        """Keep the recorded replies."""
        self._replies = replies

    def ask(self, request: JudgeRequest) -> str | None:
        """The recorded reply. Raises JudgeError where none was recorded or where the recording says so."""
        repetitions = self._replies.get(request.transcript_id, {}).get(request.check_id, [])
        attempts = repetitions[request.repetition] if request.repetition < len(repetitions) else []
        if not attempts:
            raise JudgeError(f"no reply was recorded for {request.transcript_id}, {request.check_id}")
        entry = attempts[min(request.attempt, len(attempts) - 1)]
        if isinstance(entry, dict):
            raise JudgeError(str(entry.get("raise", "the recorded call failed")))
        return entry if isinstance(entry, str) else None


class LimitedJudge:
    """Passes at most `calls` questions on to another judge."""

    def __init__(self, judge: Judge, calls: int) -> None:
        """`calls` may be asked from now on."""
        self._judge, self._left = judge, calls
        self.cacheable = bool(getattr(judge, "cacheable", False))

    def ask(self, request: JudgeRequest) -> str | None:
        """The other judge's answer. Raises BudgetExhaustedError when the calls are used up."""
        if self._left <= 0:
            raise BudgetExhaustedError("the budget of judge calls is exhausted")
        self._left -= 1
        return self._judge.ask(request)


class CachedJudge:
    """Puts a deterministic question to another judge once: equal prompts at temperature 0 with equal budgets have one
    answer (seed 004, verifier types). What is raised, and None, is asked again.

    A run puts it before a judge that says of itself that it is `cacheable`. A model is; recorded replies are not, for
    equal prompts may have been answered differently.
    """

    def __init__(self, judge: Judge, size: int = 256) -> None:
        """Keep the latest `size` answers."""
        self._judge, self._size = judge, size
        self._known: dict[tuple[str, int], str] = {}

    def ask(self, request: JudgeRequest) -> str | None:
        """The known answer, else the other judge's."""
        if request.temperature != 0:
            return self._judge.ask(request)
        key = (request.prompt, request.max_tokens)
        reply = self._known.pop(key, None)
        if reply is None:
            reply = self._judge.ask(request)
        if reply is not None:
            self._known[key] = reply
            if len(self._known) > self._size:
                del self._known[next(iter(self._known))]
        return reply


def open_judge(specification: str) -> Judge:
    """The judge that a command line names: `replay:FILE`, a JSON file of recorded replies, gzipped or not.

    Raises JudgeError where there is no such judge or its file can't be read.
    """
    if not specification.startswith(REPLAY):
        raise JudgeError(f"unknown judge `{specification}`; expected `{REPLAY}FILE`")
    path = specification.removeprefix(REPLAY)
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        if data.startswith(b"\x1f\x8b"):
            import gzip

            data = gzip.decompress(data)
        return ReplayJudge(msgspec.json.decode(data, type=dict[str, dict[str, list[list[Any]]]]))
    except (OSError, EOFError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise JudgeError(f"the recorded replies `{path}` can't be read: {error}") from None
