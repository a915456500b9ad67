"""A live judge that answers one request at a time, for callers that can't wait for many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.calls.portal import CallPortal
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.judge import JudgeRecord, JudgeRequest, TooLongError
from rulewright_runtime.runs.live import ask_of

if TYPE_CHECKING:
    from rulewright_runtime.runs.live import LiveJudge


class WaitingJudge:
    """Calls the model as a live judge does, through the same ledger and within the same limits."""

    recorded = True  # in the ledger

    def __init__(self, live: LiveJudge) -> None:
        """Use the model and settings of `live`. Raises LedgerError."""
        self._live = live
        settings = live.settings
        self._portal = CallPortal(
            live.model, settings.ledger, "", settings.limits, settings.budget, settings.token_price
        )

    @property
    def identity(self) -> str:
        """The judge's fingerprint, which a resumed run compares."""
        return self._live.identity

    @property
    def record(self) -> JudgeRecord:
        """The judge's record for the run's summary."""
        return self._live.record

    def ask(self, request: JudgeRequest) -> str:
        """The reply. Raises CallFailure, TooLongError, and JudgeError if it was truncated, refused or filtered."""
        ask = ask_of(request, self._live.model.capabilities)
        if ask is None:
            raise TooLongError("the text to judge does not fit into the judge's context window")
        answer = self._portal.ask(ask)
        if not answer.is_whole:
            raise JudgeError(f"the reply is not whole: it ended with `{answer.finish}`")
        return answer.text

    def close(self) -> None:
        """Close connections."""
        self._portal.close()
