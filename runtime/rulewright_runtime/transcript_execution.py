"""A transcript under way: the checks that are settled, those that wait for a judge's replies, and the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import Judge
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.completeness import Gap
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verdicts import Finding, VerdictResult, failed
from rulewright_runtime.verify.asking import Asking, Questions, Replies, reply_of


class TranscriptResult(msgspec.Struct, frozen=True):
    """The result of one transcript: verdicts in the order of checks, the scores row, the judge calls of each check.

    A refused transcript has only `errors`. `scores` is None if the plan has no scorecard. `missing` lists the parts of
    the scenario that the transcript lacks; no check passes then. `exchanges` are the requests, replies and errors of a
    live judge, or of an object that `rulewright.check_transcript` was given.
    """

    transcript_id: str
    scenario_id: str
    model: str
    verdicts: tuple[VerdictResult, ...] = ()
    scores: JsonObject | None = None
    judge_calls: dict[str, int] = {}
    errors: tuple[Any, ...] = ()
    harness: str = ""
    missing: tuple[Gap, ...] = ()
    exchanges: tuple[Any, ...] = ()


class CheckAsking:
    """A check on one transcript that waits for replies. `verdict` is its record once it is settled."""

    __slots__ = ("_asking", "_conclude", "check_id", "verdict")

    def __init__(self, check_id: str, asking: Asking[Finding], conclude: Callable[[Finding], VerdictResult]) -> None:
        """`conclude` turns the verifier's finding into the record."""
        self.check_id, self._asking, self._conclude = check_id, asking, conclude
        self.verdict: VerdictResult | None = None

    def resume(self, replies: Replies | None = None) -> Questions | None:
        """The next requests of the check, given the replies to the previous ones; None when it is settled.

        A verifier that crashes gives an UNCLEAR record, never none.
        """
        try:
            return next(self._asking) if replies is None else self._asking.send(replies)
        except StopIteration as done:
            self.verdict = self._conclude(done.value)
        except OutageError:
            raise
        except Exception as error:
            self.verdict = self._conclude(failed(f"verifier_exception:{type(error).__name__}"))
        return None

    def settle(self, judge: Judge | None) -> None:
        """Ask `judge` every request, one after the other; without a judge every reply is None."""
        questions = self.resume()
        while questions is not None:
            questions = self.resume(tuple([reply_of(judge, question) for question in questions]))


class Execution:
    """One transcript's checks: those settled without a judge, and those that wait for replies."""

    __slots__ = ("_finish", "_skips", "_verdicts", "_waiting", "askings", "transcript")

    def __init__(
        self,
        transcript: Transcript,
        verdicts: dict[int, VerdictResult],
        waiting: dict[int, CheckAsking],
        finish: Callable[[dict[int, VerdictResult], tuple[str, ...]], TranscriptResult],
        skips: Callable[[str, list[VerdictResult]], bool] | None,
    ) -> None:
        """`verdicts` and the `waiting` checks are by the index of the check; `finish` makes the result from all
        verdicts and the ids of skipped checks. `skips` says whether a check can be skipped, given the verdicts so far.
        """
        self.transcript, self._verdicts, self._waiting = transcript, verdicts, waiting
        self._finish, self._skips = finish, skips
        self.askings = [*waiting.values()]  # in order

    @property
    def is_sequential(self) -> bool:
        """Whether checks are settled one after the other, because a verdict may make the next check unnecessary."""
        return self._skips is not None

    def skips(self, asking: CheckAsking) -> bool:
        """Whether the check can be skipped, given the settled ones."""
        return self._skips is not None and self._skips(asking.check_id, list(self._settled().values()))

    def _settled(self) -> dict[int, VerdictResult]:
        waiting = {index: asking.verdict for index, asking in self._waiting.items() if asking.verdict is not None}
        return {**self._verdicts, **waiting}

    def result(self) -> TranscriptResult:
        """The transcript's result; every check must be settled or skipped."""
        skipped = tuple([each.check_id for each in self.askings if each.verdict is None])
        assert not skipped or self._skips is not None, "a check still waits for answers"
        return self._finish(self._settled(), skipped)
