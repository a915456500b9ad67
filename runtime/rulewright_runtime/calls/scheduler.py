"""The scheduler: sends calls to a model within limits, retries failures, and serves stored answers."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import CancelledError
from contextlib import ExitStack, asynccontextmanager, suppress
from copy import copy
from typing import Final, Literal

import anyio
import msgspec
from aiolimiter import AsyncLimiter
from anyio.from_thread import start_blocking_portal
from msgspec.structs import replace

from rulewright_runtime.calls.breaker import Breaker, ReplyWatch
from rulewright_runtime.calls.budget import Budget, Price, Spending, actual_spending, max_spending
from rulewright_runtime.calls.ledger import Ledger, LedgerError
from rulewright_runtime.models.call import CallFailure, CallRequest, Model, ModelAnswer, request_key
from rulewright_runtime.terminal import complain, safe_stream

OnAmbiguous = Literal["retry", "unclear", "hold"]
FIRST_PAUSE: Final = 0.5  # seconds before the first retry; doubled for each further one
MAX_PAUSE: Final = 60.0  # seconds
POLL: Final = 0.2  # seconds between checks of a call that another process makes
RENEWAL: Final = 15.0  # seconds between renewals of the leases
HEARTBEAT: Final = 1.0  # seconds between progress reports without changes
SILENCE: Final = 10.0  # seconds without an answer that are reported, and between two reports


class CallLimits(msgspec.Struct, frozen=True):
    """Limits of the scheduler.

    At most `concurrency` calls are in flight. `requests` and `tokens` are per minute, `seconds` per attempt, `attempts`
    per call. After `outage` seconds in which every attempt failed the run stops, unless only a few transcripts failed;
    before the first answer after 60 seconds or the first attempt, or after 30 if nobody listens.
    """

    concurrency: int = 8
    requests: int | None = None
    tokens: int | None = None
    seconds: float = 180.0
    attempts: int = 6
    outage: float = 300.0
    on_ambiguous: OnAmbiguous = "retry"


class HeldError(CallFailure):
    """A call sent by a killed process, which must not be sent again before a person decides."""


class Progress(msgspec.Struct):
    """Counters of the scheduler."""

    asked: int = 0
    from_ledger: int = 0
    answered: int = 0
    unanswered: set[tuple[object, ...]] = msgspec.field(default_factory=set)  # questions whose last call failed
    retried: int = 0
    asked_again: int = 0  # questions of a check whose reply before was missing or no vote
    first_again: tuple[str, ...] = ()  # the transcript and the check of the first of them
    waiting: int = 0
    in_flight: int = 0
    last_failure: str = ""
    last_answer: float = 0.0  # on the monotonic clock; initially when the first call was asked for
    noted: float = 0.0  # when `note_silence` printed last

    def silence(self) -> list[str]:
        """For how long no answer has arrived, and the last failure; empty before `SILENCE` seconds have passed."""
        silent = time.monotonic() - self.last_answer
        if not self.waiting or silent < SILENCE:
            return []
        return [f"no answer for {silent:.0f} s", *filter(None, [self.last_failure])]


def note_silence(progress: Progress) -> None:
    """Print that a model is silent, and why, unless that was printed less than `SILENCE` seconds ago."""
    if (silence := progress.silence()) and time.monotonic() >= progress.noted + SILENCE:
        progress.noted = time.monotonic()
        safe_stream(sys.stderr).show_progress("")
        complain(f"note: {' · '.join(silence)}")


class Scheduler:
    """Answers requests concurrently. Use it inside `running()`."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        run: str,
        limits: CallLimits | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        *,
        resumed: bool = False,
    ) -> None:
        """Send calls to `model` for the run named `run`, which is `resumed` or begins; `on_progress` is called after
        every change."""
        self.model, self.ledger, self.price = model, ledger, price
        self.limits, self.budget, self.progress = limits or CallLimits(), budget or Budget(), Progress()
        self._run, self._is_resumed, self.on_progress = run, resumed, on_progress
        self.reasons: Counter[tuple[str, str]] | None = None  # calls by check and reason; None: not counted
        self._slots = anyio.Semaphore(max(self.limits.concurrency, 1))
        self._breaker = Breaker(self.limits.outage, lambda: ledger.has_answer_of(model.identity), resumed=resumed)
        self._rate = Rate(self.limits.requests, self.limits.tokens)
        self._active: dict[str, anyio.Event] = {}  # keys of calls in this process
        self.replies = ReplyWatch(stops_later=bool(run))

    def for_model(self, model: Model, price: Price | None) -> Scheduler:
        """Return a scheduler for another model in the same run, with the same limits and budget."""
        return Scheduler(model, self.ledger, self._run, self.limits, self.budget, price, self.on_progress)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Scheduler]:
        """Renew the leases while the block runs, and close connections at its end."""
        if self._is_resumed:
            self.replies.resume(*self.ledger.replies_in(self._run, self.model.identity))
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._renew)
                group.start_soon(self._report)
                try:
                    yield self
                finally:
                    group.cancel_scope.cancel()
                    with anyio.CancelScope(shield=True):
                        await self.model.aclose()
        finally:
            if asked_again := list(self.replies.asked_again):
                self.ledger.reopen(asked_again)

    async def ask(self, request: CallRequest) -> ModelAnswer:
        """Return the answer to a request, from the ledger if it was paid before.

        Raises CallFailure when no attempt is answered, BudgetError when the budget does not allow a call, and
        OutageError when the endpoint is down: the last two end the run, which can be resumed.
        """
        if not self._active:
            self.progress.last_answer = time.monotonic()
        self.progress.asked += 1
        if request.attempt > 0:
            self.progress.asked_again += 1
            self.progress.first_again = self.progress.first_again or (request.transcript_id, request.check_id)
        key = request_key(self.model.identity, request)
        while (active := self._active.get(key)) is not None:
            await active.wait()  # the same call is made elsewhere in this run
        self._active[key] = anyio.Event()
        self.progress.waiting = len(self._active)
        self.progress.unanswered.add(request.question)
        try:
            answer = await self._claim_and_call(key, request)
            self.progress.unanswered.discard(request.question)
        finally:
            self._active.pop(key).set()
            self.progress.waiting = len(self._active)
            self.on_progress(self.progress)
        is_counted = None not in (answer.usage.input_tokens, answer.usage.output_tokens)
        usd = actual_spending(request.call, answer.usage, self.price).usd if is_counted else None
        return replace(answer, usd=None if usd is None else float(usd))

    def record_reading(self, key: str, answer: ModelAnswer, about: str, reason: str) -> None:
        """Record that the reply to a call about a chat is usable, or the reason why not.

        Raises OutageError if the judge does not seem to work; its last replies are asked again in the next run.
        """
        if answer.is_new or not reason:
            self.replies.record(key, about, reason)
        if reason and (why := self.replies.why_stop):
            self._breaker.refuse_replies(why)

    async def _claim_and_call(self, key: str, request: CallRequest) -> ModelAnswer:
        claim = self.ledger.claim(key, self.model.identity, request)
        if claim.state == "claimed" and self.reasons is not None:
            self.reasons[request.check_id, self.ledger.reason(request, self.model.identity)] += 1
        self.ledger.add_use(self._run, request, key)  # also for a failing call, so that `prune` finds its text
        while claim.state == "busy":
            await anyio.sleep(POLL)
            claim = self.ledger.claim(key, self.model.identity, request)
        if claim.answer is not None:
            self.progress.from_ledger += 1
            self.progress.last_answer = time.monotonic()
            return claim.answer
        if claim.state == "ambiguous":
            if self.limits.on_ambiguous != "retry":
                kind = "held" if self.limits.on_ambiguous == "hold" else "ambiguous"
                raise HeldError("a killed run had sent this call, and its answer is unknown", kind)
            self.ledger.retake(key)
        try:
            return await self._attempts(key, request)
        finally:
            self.ledger.release(key)

    async def _attempts(self, key: str, request: CallRequest) -> ModelAnswer:
        attempt = 0
        while True:
            attempt += 1
            async with self._slots:
                await self._breaker.wait()
                reserved = max_spending(request.call, self.price)
                await self._rate.wait(reserved.tokens)
                await self.budget.reserve(reserved)
                try:
                    return await self._attempt(key, request, reserved)
                except CallFailure as failure:
                    failure.attempts = attempt
                    self.progress.last_failure = str(failure)
                    self._breaker.record_failure(failure, request.transcript_id, request.check_id)
                    self._rate.hold(failure.retry_after or 0.0)
                    if not failure.may_be_retried or attempt >= self.limits.attempts:
                        if failure.kind == "forbidden":
                            self._breaker.record_forbidden(failure, request.transcript_id)
                        raise
                    pause = pause_after(attempt, failure)
            self.progress.retried += 1
            self.on_progress(self.progress)
            await anyio.sleep(pause)

    async def _attempt(self, key: str, request: CallRequest, reserved: Spending) -> ModelAnswer:
        number = self.ledger.begin_attempt(key)
        started = time.monotonic()
        self.progress.in_flight += 1
        self.on_progress(self.progress)
        actual = reserved  # without a known cost the attempt counts in full
        try:
            with anyio.fail_after(self.limits.seconds):
                answer = await self.model.answer(request.call)
        except (CallFailure, TimeoutError) as error:
            late = f"no answer within {self.limits.seconds:g} s"
            failure = error if isinstance(error, CallFailure) else CallFailure(late, "timeout")
            if failure.status:  # an endpoint does not charge for a refused request
                actual = Spending(1, 0, reserved.usd and reserved.usd * 0)
            self.ledger.store_failure(key, number, failure, time.monotonic() - started, actual.usd)
            raise failure from None
        else:
            actual = actual_spending(request.call, answer.usage, self.price)
            seconds = time.monotonic() - started
            answer = replace(answer, seconds=round(seconds, 3))
            self.ledger.store_answer(key, number, answer, seconds, actual.usd)
            self._breaker.record_success(request.transcript_id, request.check_id)
            self.progress.answered += 1
            self.progress.last_answer = time.monotonic()
            return replace(answer, is_new=True)
        finally:
            self.progress.in_flight -= 1
            self.budget.settle(reserved, actual)

    async def _renew(self) -> None:
        while True:
            await anyio.sleep(RENEWAL)
            with suppress(LedgerError):  # the next call can't be written either, and raises it
                self.ledger.renew()

    async def _report(self) -> None:
        while True:
            await anyio.sleep(HEARTBEAT)
            self.on_progress(self.progress)


def pause_after(attempt: int, failure: CallFailure) -> float:
    """Return the seconds before the next attempt: exponential backoff with jitter, at least what the server asks
    for."""
    longest = min(FIRST_PAUSE * 2 ** (attempt - 1), MAX_PAUSE)
    jittered = random.uniform(longest / 2, longest)
    return max(jittered, failure.retry_after or 0.0)


MINUTE: Final = 60.0


class Rate:
    """Requests and tokens per minute; None means no limit."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        self._requests = None if requests is None else AsyncLimiter(max(requests, 1), MINUTE)
        self._tokens = None if tokens is None else AsyncLimiter(max(tokens, 1), MINUTE)
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds, as the server asked."""
        if seconds > 0:
            self._held_until = max(self._held_until, anyio.current_time() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a request of at most `tokens` may be sent; one above the limit waits for a full bucket."""
        while (remaining := self._held_until - anyio.current_time()) > 0:
            await anyio.sleep(remaining)
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))


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
        *,
        resumed: bool = False,
    ) -> None:
        """Open the ledger and start the loop; the run is `resumed` or begins. Raises LedgerError."""

        @asynccontextmanager
        async def open_scheduler() -> AsyncGenerator[Scheduler]:
            store = Ledger(ledger)  # it belongs to the thread of the loop
            try:
                made = Scheduler(model, store, run, limits, budget, price, note_silence, resumed=resumed)
                async with made.running() as scheduler:
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
        """Return the answer, from the ledger if it was paid before; an interruption, such as Ctrl-C, cancels the call.
        Raises what `Scheduler.ask` raises."""
        scopes: list[anyio.CancelScope] = []

        async def asked() -> ModelAnswer:
            with anyio.CancelScope() as scope:
                scopes.append(scope)
                return await self._scheduler.ask(request)
            raise CancelledError

        async def cancel() -> None:
            for scope in scopes:
                scope.cancel()

        try:
            return self._portal.call(asked)
        except Exception:
            raise
        except BaseException:  # also while the call is handed over, when no future can be cancelled yet
            self._portal.start_task_soon(cancel)
            raise

    def record_reading(self, key: str, answer: ModelAnswer, about: str, reason: str) -> None:
        """Record how a reply was read. Raises what `Scheduler.record_reading` raises."""
        self._portal.call(self._scheduler.record_reading, key, answer, about, reason)

    def close(self) -> None:
        """Close connections and end the loop."""
        self._stack.close()
