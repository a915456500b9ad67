"""A judge that is a model and answers one question at a time, for whoever can't wait for many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.calls.portal import CallPortal
from rulewright_runtime.judging.judge import JudgeRecord, JudgeRequest, TooLongError
from rulewright_runtime.runs.live import ask_of

if TYPE_CHECKING:
    from rulewright_runtime.runs.live import LiveJudge


class WaitingJudge:
    """Asks as a live judge does, through the same ledger and within the same limits."""

    recorded = True  # in the ledger

    def __init__(self, live: LiveJudge, run: str = "") -> None:
        """Ask as `live` would. Raises LedgerError."""
        self._live = live
        how = live.settings
        self._portal = CallPortal(live.model, how.ledger, run, how.limits, how.budget, how.listed)

    @property
    def identity(self) -> str:
        """Who answers, as a resumed run compares it."""
        return self._live.identity

    @property
    def record(self) -> JudgeRecord:
        """Who answers, as a run records it."""
        return self._live.record

    def ask(self, request: JudgeRequest) -> str | None:
        """The reply; None for one that was cut off, refused or filtered. Raises CallFailure and TooLongError."""
        ask = ask_of(request, self._live.model.capabilities)
        if ask is None:
            raise TooLongError("what is to be judged does not fit into the judge's window")
        answer = self._portal.ask(ask)
        return answer.text if answer.is_whole else None

    def close(self) -> None:
        """Give up connections."""
        self._portal.close()
