"""Calls from threads: a scheduler in its own event loop, for harness, workflows and cases, which block on each call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from copy import copy

from anyio.from_thread import start_blocking_portal

from rulewright_runtime.calls.budget import Budget, Price
from rulewright_runtime.calls.call_request import CallRequest
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, Scheduler
from rulewright_runtime.models.call import Model, ModelAnswer


class CallPortal:
    """Answers requests of any thread, within the limits and the budget of one run. Close it after the last request."""

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
        async def open_scheduler() -> AsyncIterator[Scheduler]:
            store = Ledger(ledger)  # it belongs to the thread of the loop
            try:
                async with Scheduler(model, store, run, limits, budget, price).running() as scheduler:
                    yield scheduler
            finally:
                store.close()

        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            self._scheduler = stack.enter_context(self._portal.wrap_async_context_manager(open_scheduler()))
            self._stack = stack.pop_all()

    def for_model(self, model: Model, price: Price | None = None) -> CallPortal:
        """Return a portal for another model with the same limits, budget and ledger. Close it before this one."""
        other = copy(self)
        with ExitStack() as stack:
            running = self._scheduler.for_model(model, price).running()
            other._scheduler = stack.enter_context(self._portal.wrap_async_context_manager(running))
            other._stack = stack.pop_all()
        return other

    def ask(self, request: CallRequest) -> ModelAnswer:
        """Return the answer, from the ledger if it was paid before. Raises what `Scheduler.ask` raises."""
        return self._portal.call(self._scheduler.ask, request)

    def close(self) -> None:
        """Close connections and end the loop."""
        self._stack.close()
