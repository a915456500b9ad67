"""Calls from threads: a scheduler in a loop of its own, for harness, workflows and cases, who wait for each answer."""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from copy import copy
from typing import TYPE_CHECKING

from anyio.from_thread import start_blocking_portal

from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rulewright_runtime.calls.ask import Ask
    from rulewright_runtime.calls.budget import Budget, Price
    from rulewright_runtime.calls.scheduler import CallLimits
    from rulewright_runtime.models.call import Model, ModelAnswer


class CallPortal:
    """Answers asks of any thread, within the limits and the budget of one run. Close it when nobody asks any more."""

    def __init__(
        self,
        model: Model,
        ledger: str,
        run: str = "",
        limits: CallLimits | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
    ) -> None:
        """Open the ledger and start the loop. Raises LedgerError."""

        @asynccontextmanager
        async def opened() -> AsyncIterator[Scheduler]:
            kept = Ledger(ledger)  # it belongs to the thread of the loop
            try:
                async with Scheduler(model, kept, run, limits, budget, price).running() as scheduler:
                    yield scheduler
            finally:
                kept.close()

        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            self._scheduler = stack.enter_context(self._portal.wrap_async_context_manager(opened()))
            self._stack = stack.pop_all()

    def beside(self, model: Model, price: Price | None = None) -> CallPortal:
        """Another model within the same limits and budget, with the same ledger. Close it before this one."""
        other = copy(self)
        with ExitStack() as stack:
            running = self._scheduler.beside(model, price).running()
            other._scheduler = stack.enter_context(self._portal.wrap_async_context_manager(running))
            other._stack = stack.pop_all()
        return other

    def ask(self, ask: Ask) -> ModelAnswer:
        """The answer, from the ledger where it was paid before. Raises what `Scheduler.ask` raises."""
        return self._portal.call(self._scheduler.ask, ask)

    def close(self) -> None:
        """Give up connections and end the loop."""
        self._stack.close()
