"""Live judging: sends the requests of checks to a model concurrently and yields results in the order of transcripts.

Results depend only on the replies: they are the same at any concurrency, and if the ledger answers.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from functools import cache, partial
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.calls.budget import Budget, Price, Spending, actual_spending
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, CallPortal, HeldError, Scheduler
from rulewright_runtime.errors import InputError, JudgeError
from rulewright_runtime.execution import Engine
from rulewright_runtime.judging.independence import Independence, NotIndependentError
from rulewright_runtime.judging.judge import JudgeRecord, JudgeRequest, TooLongError
from rulewright_runtime.judging.replies import beginning, reader, why_unusable
from rulewright_runtime.models.call import (
    TOO_LONG,
    CallFailure,
    CallRequest,
    ChatMessage,
    Identity,
    Model,
    ModelAnswer,
    ModelCall,
    ending,
    request_key,
)
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.question import ReplyField
from rulewright_runtime.transcript_execution import CheckAsking, Execution, TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verify.asking import Replies, Reply

LEDGER: Final = os.path.join(".rulewright", "ledger.sqlite3")
OPEN_TRANSCRIPTS: Final = 64  # transcripts that wait for replies at the same time
BYTES_PER_TOKEN: Final = 3  # of natural text; a low estimate, so that tokens are overestimated
LEAST_REPLY: Final = 256  # tokens; a smaller limit leaves no usable reply
_POSITION: Final = attrgetter("purpose", "window", "repetition", "attempt")  # of an exchange among those of its check
FULL_REPLY: Final = 1024  # tokens of the longest rationale and evidence


class JudgeSettings(msgspec.Struct, frozen=True):
    """How a run calls its judge."""

    ledger: str = LEDGER
    limits: CallLimits = CallLimits()
    calls: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None
    price: Price | None = None
    independence: Independence = Independence()
    explain: bool = False  # count the reasons why the ledger has no answer
    resumed: bool = False  # a judge of single questions continues a run, and is asked to the end

    @property
    def has_limit(self) -> bool:
        """Whether calls, tokens or cost are limited."""
        return any(limit is not None for limit in (self.calls, self.tokens, self.usd))

    @property
    def budget(self) -> Budget:
        """A new budget with these limits. Raises BudgetError for a negative limit."""
        return Budget(self.calls, self.tokens, self.usd)


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request of a check with its reply or error; `key` is the request's key in the ledger, empty if not sent.

    Only the first attempt of the first vote has the `prompt`, because the others repeat it.
    """

    check_id: str
    purpose: str
    window: int
    repetition: int
    attempt: int
    key: str
    reply: str | None
    error: str | None
    model: str = ""
    finish: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt: str | None = None


class LiveJudge:
    """A model that answers the requests of checks."""

    def __init__(self, model: Model, settings: JudgeSettings | None = None) -> None:
        self.model, self.settings = model, settings or JudgeSettings()

    @property
    def identity(self) -> str:
        """The judge's fingerprint, which a resumed run compares."""
        parts = (self.model.identity, self.settings.independence)
        return f"live:{msgspec.json.encode(parts, order='deterministic').decode()}"

    @property
    def record(self) -> JudgeRecord:
        """The judge's record for the run's summary."""
        model = self.model.identity
        parameters: dict[str, object] = {
            "endpoint": model.endpoint,
            "api_version": model.api_version,
            "client": model.wrapper,
        }
        if allowed := self.settings.independence.allowed:
            parameters["same_family"] = dict(allowed)
        return JudgeRecord(model.provider, model.model, requested_model=model.model, parameters=parameters)

    @property
    def price(self) -> dict[str, str] | None:
        """USD per million tokens, as `{input, output}`; None if the project sets no price."""
        price: dict[str, str] | None = msgspec.to_builtins(self.settings.price)
        return price

    def results(
        self,
        engine: Engine,
        items: Iterable[Any],
        run: str = "",
        watch: Callable[[Scheduler], None] = lambda _: None,
        *,
        resumed: bool = False,
    ) -> Iterator[TranscriptResult]:
        """Yield one result for each transcript, in order; a transcript of the judge's own model family is refused.
        `resumed`: the run named `run` is continued.

        Raises BudgetError or OutageError if no further call can be made; the ledger holds all replies, and the run can
        be resumed. Raises NotIndependentError if the endpoint turns out to serve a model of that family.
        """
        interruption = _Interruption()
        results = self._results(engine, items, run, watch, interruption, resumed=resumed)
        yield from _in_own_thread(results, interruption) if _has_running_loop() else results

    def _results(
        self,
        engine: Engine,
        items: Iterable[Any],
        run: str,
        watch: Callable[[Scheduler], None],
        interruption: _Interruption,
        *,
        resumed: bool,
    ) -> Generator[TranscriptResult]:
        settings = self.settings
        ledger = Ledger(settings.ledger)
        scheduler = Scheduler(
            self.model, ledger, run, settings.limits, settings.budget, settings.price, resumed=resumed
        )
        scheduler.on_progress = lambda _: watch(scheduler)
        scheduler.reasons = Counter() if settings.explain else None
        try:
            with asyncio.Runner() as runner:
                independence = settings.independence
                pump = _Pump(engine.started(self._independent(items)), scheduler, independence)
                interruption.call = partial(runner.get_loop().call_soon_threadsafe, pump.cancel)
                runner.run(pump.start())
                try:
                    while (result := runner.run(pump.next())) is not None:
                        yield result
                finally:
                    runner.run(pump.stop())
        finally:
            ledger.close()

    def _independent(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, with an InputError in place of each transcript that this judge may not judge."""
        for item in items:
            judge, refuse = self.model.identity.model, self.settings.independence.refusal_among
            refusal = refuse(judge, item.authors) if isinstance(item, Transcript) else None
            yield item if refusal is None else InputError(refusal, item.path, item.line)


def _has_running_loop() -> bool:
    """Whether an event loop runs in this thread, as in a notebook: it can't run a second one."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop() is not None
    return False


class _Interruption:
    """Cancels the calls of results that another thread makes: `call` is set once they can be cancelled."""

    def __init__(self) -> None:
        self.call: Callable[[], object] = lambda: None


def _in_own_thread(results: Generator[TranscriptResult], interruption: _Interruption) -> Iterator[TranscriptResult]:
    """Yield the results, which are made in one thread of their own. An interruption of the caller, such as Ctrl-C,
    waits for no call."""
    with ThreadPoolExecutor(1) as thread:
        try:
            while (result := thread.submit(next, results, None).result()) is not None:
                yield result
        except BaseException:
            with suppress(RuntimeError):  # the event loop of the calls is closed: none of them runs
                interruption.call()
            raise
        finally:
            thread.submit(results.close).result()


class _Pump:
    """Keeps enough transcripts open to occupy the scheduler, and returns their results in order."""

    def __init__(
        self, started: Iterator[Execution | TranscriptResult], scheduler: Scheduler, independence: Independence
    ) -> None:
        self._started, self._scheduler, self._independence = started, scheduler, independence
        self._open: deque[_Open] = deque()
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when the scheduler runs. Raises LedgerError if it can't."""
        ready = asyncio.Event()
        self._running = asyncio.create_task(self._run(ready))
        self._running.add_done_callback(lambda _: ready.set())
        await ready.wait()
        if self._running.done():
            self._running.result()

    async def _run(self, ready: asyncio.Event) -> None:
        async with self._scheduler.running():
            ready.set()
            await self._stopping.wait()

    async def next(self) -> TranscriptResult | None:
        """The next result, or None after the last one."""
        self._refill()
        if not self._open:
            return None
        result = await self._open[0].result()
        while self._scheduler.replies.is_in_doubt and (
            waiting := [task for each in self._open for task in each.tasks if not task.done()]
        ):
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            self._refill()
        self._open.popleft()
        return result

    def _refill(self) -> None:
        enough = 2 * self._scheduler.limits.concurrency
        waiting = sum(not task.done() for each in self._open for task in each.tasks)
        while len(self._open) < OPEN_TRANSCRIPTS and (not self._open or waiting < enough):
            started = next(self._started, None)
            if started is None:
                return
            self._open.append(_Open(started, self._scheduler, self._independence))
            waiting += len(self._open[-1].tasks)

    def cancel(self) -> list[asyncio.Task[None]]:
        """Cancel and return the open tasks."""
        tasks = [task for each in self._open for task in each.tasks]
        for task in tasks:
            task.cancel()
        return tasks

    async def stop(self) -> None:
        """Cancel open tasks and close connections."""
        await asyncio.gather(*self.cancel(), return_exceptions=True)
        self._stopping.set()
        if self._running is not None:
            await self._running


class _Open:
    """A transcript whose checks wait for replies."""

    def __init__(self, started: Execution | TranscriptResult, scheduler: Scheduler, independence: Independence) -> None:
        self._started, self._scheduler, self._independence = started, scheduler, independence
        self._authors = started.transcript.authors if isinstance(started, Execution) else ()
        self._exchanges: list[list[Exchange]] = []
        self._given_up: set[tuple[object, ...]] = set()  # questions that may have been paid for without an answer
        self.tasks: list[asyncio.Task[None]] = []
        if isinstance(started, Execution):
            self._exchanges = [[] for _ in started.askings]
            pairs = list(zip(started.askings, self._exchanges, strict=True))
            sequential = started.is_sequential
            work = [self._settle_in_order(started, pairs)] if sequential else [self._settle(*pair) for pair in pairs]
            self.tasks = [asyncio.create_task(each) for each in work]

    async def result(self) -> TranscriptResult:
        """The transcript's result, once every check is settled. Raises the error that ends the run."""
        if isinstance(self._started, TranscriptResult):
            return self._started
        done, _ = await asyncio.wait(self.tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
        exchanges = tuple(exchange for one in self._exchanges for exchange in sorted(one, key=_POSITION))
        return replace(self._started.result(), exchanges=exchanges)

    async def _settle_in_order(self, started: Execution, pairs: list[tuple[CheckAsking, list[Exchange]]]) -> None:
        """Settle one check after the other, except those that earlier ones make unnecessary."""
        for asking, exchanges in pairs:
            if not started.skips(asking):
                await self._settle(asking, exchanges)

    async def _settle(self, asking: CheckAsking, exchanges: list[Exchange]) -> None:
        replies: Replies | None = None
        while (questions := asking.resume(replies)) is not None:
            replies = tuple(await asyncio.gather(*(self._reply(each, exchanges) for each in questions)))

    async def _reply(self, question: JudgeRequest, exchanges: list[Exchange]) -> Reply:
        ask = ask_of(question, self._scheduler.model.capabilities)
        if ask is None:
            exchanges.append(_exchange(question, "", None, TOO_LONG))
            return TooLongError("the conversation does not fit into the judge's window")
        if ask.question in self._given_up:
            return None
        key = request_key(self._scheduler.model.identity, ask)
        try:
            answer = await self._scheduler.ask(ask)
        except CallFailure as failure:
            if isinstance(failure, HeldError):
                if failure.kind == "held":
                    raise
                self._given_up.add(ask.question)
            exchanges.append(_exchange(question, key, None, failure.kind))
            return TooLongError(str(failure)) if failure.kind == TOO_LONG else None
        refusal = self._independence.refusal_among(answer.model, self._authors) if answer.model else None
        if refusal is not None:
            raise NotIndependentError(f"the endpoint serves a different model than requested: {refusal}")
        exchanges.append(_exchange(question, key, answer, None))
        self._scheduler.record_reading(key, answer, question.transcript_id, _why_unusable(question, answer, str))
        return answer.text if answer.is_whole else None


def _why_unusable(question: JudgeRequest, answer: ModelAnswer, read: Callable[[str], object]) -> str:
    """Why a reply is not usable, and how it begins; empty if it is. `read` is for questions that are not votes."""
    why = why_unusable(answer.text, answer.finish, [reader(question.judging) if question.judging else read])
    return why and f"{why}; {beginning(answer.text)}"


def _exchange(question: JudgeRequest, key: str, answer: ModelAnswer | None, error: str | None) -> Exchange:
    request = (question.check_id, question.purpose, question.window, question.repetition, question.attempt)
    prompt = None if question.repetition or question.attempt else question.prompt
    if answer is None:
        return Exchange(*request, key, None, error, prompt=prompt)
    counts = answer.usage
    tokens = counts.input_tokens, counts.output_tokens
    return Exchange(*request, key, answer.text, None, answer.model, answer.finish, *tokens, prompt)


def ask_of(question: JudgeRequest, capabilities: Capabilities) -> CallRequest | None:
    """The request as a call of a model with these `capabilities`; None if it does not fit into the context window."""
    max_tokens = question.max_tokens
    if capabilities.context is not None:
        max_tokens = min(max_tokens, capabilities.context - len(question.prompt.encode()) // BYTES_PER_TOKEN)
    if max_tokens < min(LEAST_REPLY, question.max_tokens):
        return None
    max_tokens = min(max_tokens, capabilities.reply or max_tokens)
    bound = max_tokens if capabilities.bounds else None
    schema = SCORE if question.purpose == "metric" else reply_schema(question.fields, bound, question.roles)
    call = ModelCall((ChatMessage("user", question.prompt),), max_tokens, question.temperature, schema)
    about = (question.transcript_id, question.check_id, question.purpose)
    return CallRequest(call, *about, question.window, question.repetition, question.attempt)


@cache
def reply_schema(fields: tuple[ReplyField, ...], max_tokens: int | None, roles: tuple[str, ...]) -> dict[str, object]:
    """The JSON Schema of a judge's reply: rationale, evidence, verdict, code, and the fields that the check declares.

    `max_tokens` bounds the length of texts and lists, for models that would otherwise not stop.
    """
    share = None if max_tokens is None else min(max_tokens / FULL_REPLY, 1.0)

    def text(longest: int) -> dict[str, Any]:
        return {"type": "string"} if share is None else {"type": "string", "maxLength": max(int(longest * share), 40)}

    quote = {"role": {"enum": list(roles)}, "turn": {"type": "integer"}, "quote": text(300)}
    most = {} if share is None else {"maxItems": max(int(4 * share), 1)}
    properties: dict[str, object] = {
        "rationale": text(400),
        "evidence": {"type": "array", "items": _closed(quote), **most},
        "verdict": {"enum": sorted(VERDICTS)},
        "rationale_code": text(60),
    }
    for field in fields:
        properties[field.name] = {"enum": list(field.words)} if field.words else {"type": field.type}
    return _closed(properties)


def _closed(properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SCORE: Final = _closed({"rationale": {"type": "string"}, "score": {"type": "number"}})  # of a workflow metric


def model_and_endpoint(identity: Identity) -> str:
    """A judge's identity as text: `openai:gpt-5 at https://api.openai.com/v1`."""
    where = f" at {identity.endpoint}" if identity.endpoint and identity.endpoint != identity.model else ""
    return f"{identity.provider}:{identity.model}{where}"


class WaitingJudge:
    """Calls the model as a live judge does, through the same ledger and within the same limits."""

    recorded = True  # in the ledger

    def __init__(self, live: LiveJudge, read: Callable[[str], object] = str) -> None:
        """Use the model and settings of `live`. `read` raises JudgeError for an unusable reply to a question that does
        not say how it is read. Raises LedgerError."""
        self._live, self.identity, self.record, self._read = live, live.identity, live.record, read
        settings = live.settings
        limits, budget, price = settings.limits, settings.budget, settings.price
        self._portal = CallPortal(live.model, settings.ledger, "", limits, budget, price, resumed=settings.resumed)

    def ask(self, request: JudgeRequest) -> str:
        """The reply. Raises CallFailure, OutageError, TooLongError, and JudgeError if it was truncated, refused or
        filtered."""
        answer, _ = self.answer(request)
        if not answer.is_whole:
            raise JudgeError(f"the reply is incomplete: {ending(answer.finish)}")
        return answer.text

    def answer(self, request: JudgeRequest) -> tuple[ModelAnswer, Spending]:
        """The model's answer, whole or not, and what it cost when it was given. Raises as `ask` does."""
        ask = ask_of(request, self._live.model.capabilities)
        if ask is None:
            raise TooLongError("the text to judge does not fit into the judge's context window")
        answer = self._portal.ask(ask)
        key = request_key(self._live.model.identity, ask)
        self._portal.record_reading(key, answer, request.transcript_id, _why_unusable(request, answer, self._read))
        return answer, actual_spending(ask.call, answer.usage, self._live.settings.price)

    def close(self) -> None:
        self._portal.close()
