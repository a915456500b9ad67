"""The scheduler: asks a model within limits, retries what may be retried, and pays for nothing twice."""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Literal

import anyio
import msgspec

from rulewright_runtime.calls.ask import ask_key
from rulewright_runtime.calls.breaker import Breaker
from rulewright_runtime.calls.budget import Budget, Price, Spending, most, spent
from rulewright_runtime.calls.rate import Rate
from rulewright_runtime.models.call import CallFailure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from rulewright_runtime.calls.ask import Ask
    from rulewright_runtime.calls.ledger import Ledger
    from rulewright_runtime.models.call import Model, ModelAnswer

OnAmbiguous = Literal["retry", "unclear", "hold"]
FIRST_PAUSE: Final = 0.5  # seconds before the first retry; doubled for every further one
LONGEST_PAUSE: Final = 60.0
POLL: Final = 0.2  # seconds between two looks at a call that another process makes
RENEWAL: Final = 15.0  # seconds between two renewals of the leases
HEARTBEAT: Final = 1.0  # seconds between two reports of progress while nothing changes


class CallLimits(msgspec.Struct, frozen=True):
    """What the scheduler keeps to.

    `concurrency` calls are in flight at most. `requests` and `tokens` are per minute, `seconds` per attempt. A call
    has `attempts` in all. After `outage` seconds in which every attempt failed the run stops.
    """

    concurrency: int = 8
    requests: int | None = None
    tokens: int | None = None
    seconds: float = 180.0
    attempts: int = 6
    outage: float = 300.0
    on_ambiguous: OnAmbiguous = "retry"


class HeldError(CallFailure):
    """A call that a killed process had sent, and that nobody may send again before a person decides."""


class Progress(msgspec.Struct):
    """What the scheduler has done so far."""

    asked: int = 0
    from_ledger: int = 0
    answered: int = 0
    failed: int = 0
    retried: int = 0
    in_flight: int = 0
    last_failure: str = ""
    last_answer: float = 0.0  # on the monotonic clock; at first when the run began


class Scheduler:
    """Answers asks, any number at a time. Use it inside `running()`."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        run: str,
        limits: CallLimits | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        say: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Ask `model` for the run called `run`; `say` is told of every change."""
        self.model, self.ledger, self.price = model, ledger, price
        self.limits, self.budget, self.progress = limits or CallLimits(), budget or Budget(), Progress()
        self._run, self.say = run, say
        self.reasons: Counter[tuple[str, str]] | None = None  # by check, where somebody wants to know why it is asked
        self._slots = anyio.Semaphore(max(self.limits.concurrency, 1))
        self._breaker = Breaker(self.limits.outage)
        self._rate = Rate(self.limits.requests, self.limits.tokens)
        self._waiting: dict[str, anyio.Event] = {}  # keys that this process works on

    def beside(self, model: Model, price: Price | None) -> Scheduler:
        """One that asks another model for the same run, within the same limits and budget."""
        return Scheduler(model, self.ledger, self._run, self.limits, self.budget, price)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Scheduler]:
        """Renew the leases as long as the block runs; give up connections behind it."""
        self.progress.last_answer = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(self._renew)
            group.start_soon(self._report)
            try:
                yield self
            finally:
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await self.model.aclose()

    async def ask(self, ask: Ask) -> ModelAnswer:
        """The answer to `ask`, from the ledger where it was paid before.

        Raises CallFailure where no attempt is answered, BudgetError where the budget does not allow a call, and
        OutageError where the endpoint answers nothing any more: the last two end the run, which can be resumed.
        """
        self.progress.asked += 1
        key = ask_key(self.model.identity, ask)
        while (ours := self._waiting.get(key)) is not None:
            await ours.wait()  # the same question elsewhere in this run
        self._waiting[key] = anyio.Event()
        try:
            answer = await self._claimed(key, ask)
        except CallFailure:
            self.progress.failed += 1
            raise
        finally:
            self._waiting.pop(key).set()
            self.say(self.progress)
        return answer

    async def _claimed(self, key: str, ask: Ask) -> ModelAnswer:
        claim = self.ledger.claim(key, self.model.identity, ask)
        if claim.state == "claimed" and self.reasons is not None:
            self.reasons[ask.check_id, self.ledger.reason(ask, self.model.identity)] += 1
        self.ledger.use(self._run, ask, key)  # also of a call that fails: whose words it holds must be known
        while claim.state == "busy":
            await anyio.sleep(POLL)
            claim = self.ledger.claim(key, self.model.identity, ask)
        if claim.answer is not None:
            self.progress.from_ledger += 1
            return claim.answer
        if claim.state == "ambiguous":
            if self.limits.on_ambiguous != "retry":
                kind = "held" if self.limits.on_ambiguous == "hold" else "ambiguous"
                raise HeldError("a killed run had sent this call, and its answer is unknown", kind)
            self.ledger.retake(key)
        try:
            return await self._attempts(key, ask)
        finally:
            self.ledger.release(key)

    async def _attempts(self, key: str, ask: Ask) -> ModelAnswer:
        for attempt in range(1, self.limits.attempts + 1):
            async with self._slots:
                await self._breaker.wait()
                reserved = most(ask.call, self.price)
                await self._rate.wait(reserved.tokens)
                await self.budget.reserve(reserved)
                try:
                    return await self._attempt(key, ask, reserved)
                except CallFailure as failure:
                    self.progress.last_failure = str(failure)
                    self._breaker.failed(failure)
                    self._rate.hold(failure.retry_after or 0.0)
                    if not failure.may_be_retried or attempt == self.limits.attempts:
                        raise
                    pause = _pause(attempt, failure)
            self.progress.retried += 1
            self.say(self.progress)
            await anyio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, key: str, ask: Ask, reserved: Spending) -> ModelAnswer:
        number = self.ledger.sending(key)
        started = time.monotonic()
        self.progress.in_flight += 1
        self.say(self.progress)
        actual = reserved  # what is not known to be less may have been charged in full
        try:
            with anyio.fail_after(self.limits.seconds):
                answer = await self.model.answer(ask.call)
        except (CallFailure, TimeoutError) as error:
            failure = error if isinstance(error, CallFailure) else _too_late(self.limits.seconds)
            if failure.status:  # a refused request is a call that nobody charges for
                actual = Spending(1, 0, reserved.usd and reserved.usd * 0)
            self.ledger.failed(key, number, failure, time.monotonic() - started, actual.usd)
            raise failure from None
        else:
            actual = spent(ask.call, answer.usage, self.price)
            self.ledger.answered(key, number, answer, time.monotonic() - started, actual.usd)
            self._breaker.succeeded()
            self.progress.answered += 1
            self.progress.last_answer = time.monotonic()
            return answer
        finally:
            self.progress.in_flight -= 1
            self.budget.settle(reserved, actual)

    async def _renew(self) -> None:
        while True:
            await anyio.sleep(RENEWAL)
            self.ledger.renew()

    async def _report(self) -> None:
        while True:
            await anyio.sleep(HEARTBEAT)
            self.say(self.progress)


def _too_late(seconds: float) -> CallFailure:
    return CallFailure(f"no answer within {seconds:g} s", "timeout")


def _pause(attempt: int, failure: CallFailure) -> float:
    """Seconds before the next attempt: what the server asks for, else doubling, with jitter so that not all come back
    at once."""
    longest = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
    jittered = random.uniform(longest / 2, longest)
    return max(jittered, failure.retry_after or 0.0)
