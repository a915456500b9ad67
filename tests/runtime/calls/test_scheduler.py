"""The scheduler: limits hold, what may be retried is, what was answered is kept, and an outage ends the run."""

import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from string import ascii_letters
from typing import Any, Final

import anyio
import pytest

from rulewright_runtime.calls import breaker, scheduler
from rulewright_runtime.calls.breaker import UNUSABLE
from rulewright_runtime.calls.budget import Budget, BudgetError
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, CallPortal, Progress, Scheduler
from rulewright_runtime.errors import OutageError
from rulewright_runtime.models.call import (
    CallFailure,
    CallRequest,
    ChatMessage,
    Identity,
    ModelAnswer,
    ModelCall,
    Usage,
    request_key,
)
from rulewright_runtime.models.capabilities import Capabilities

Reply = Callable[[str, int], Awaitable[ModelAnswer]]


class FakeModel:
    """Answers by a function of the text and of how often that text was asked before."""

    identity = Identity("fake", "m")
    host = ""
    capabilities = Capabilities()

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[str] = []
        self.in_flight = self.most = 0

    async def answer(self, call: ModelCall) -> ModelAnswer:
        text = call.messages[-1].content
        before = self.asked.count(text)
        self.asked.append(text)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            return await self.reply(text, before)
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None:
        """Nothing is held open."""


def asked(text: str, repetition: int = 0) -> CallRequest:
    return CallRequest(ModelCall((ChatMessage("user", text),), 9), f"t-{text}", "c", repetition=repetition)


def answers(model: FakeModel, ledger: Ledger, *texts: str, **settings: Any) -> list[str]:
    """What comes of asking each text, all at once."""
    found = [""] * len(texts)

    async def whole() -> None:
        async def one(place: int, text: str) -> None:
            try:
                found[place] = (await running.ask(asked(text))).text
            except CallFailure as failure:
                found[place] = f"{failure.kind}: {failure}"

        made = Scheduler(model, ledger, "run", **settings)
        with anyio.fail_after(60):
            async with made.running() as running, anyio.create_task_group() as group:
                for place, text in enumerate(texts):
                    group.start_soon(one, place, text)

    try:
        anyio.run(whole)
    except BaseExceptionGroup as group:
        raise _first(group) from None
    return found


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


async def echo(text: str, _: int) -> ModelAnswer:
    await anyio.sleep(0.001)
    return ModelAnswer(text.upper(), "m", usage=Usage(3, 2))


def failing(times: int, kind: str = "server", **more: Any) -> Reply:
    async def reply(text: str, before: int) -> ModelAnswer:
        if before < times:
            raise CallFailure("no", kind, **more)
        return ModelAnswer(text.upper(), "m")

    return reply


def test_no_more_calls_are_in_flight_than_allowed(ledger: Ledger) -> None:
    model = FakeModel(echo)
    texts = [f"q{number}" for number in range(40)]
    assert answers(model, ledger, *texts, limits=CallLimits(concurrency=5)) == [text.upper() for text in texts]
    assert model.most == 5


def test_equal_questions_are_paid_once_in_a_run_and_in_the_next(ledger: Ledger) -> None:
    model = FakeModel(echo)
    assert answers(model, ledger, "a", "a", "b", "a") == ["A", "A", "B", "A"]
    assert answers(model, ledger, "b", "a") == ["B", "A"]
    assert sorted(model.asked) == ["a", "b"]


def test_a_run_that_the_ledger_answers_is_not_without_an_answer(ledger: Ledger) -> None:
    answers(FakeModel(echo), ledger, "a")
    seen: list[Progress] = []

    async def again() -> None:
        async with Scheduler(FakeModel(echo), ledger, "next").running() as running:
            running.progress.last_answer = 0.0
            await running.ask(asked("a"))
            seen.append(running.progress)

    anyio.run(again)
    assert (seen[0].last_answer > 0.0, seen[0].from_ledger, seen[0].answered) == (True, 1, 0)


@pytest.mark.parametrize("kind", ["server", "network", "timeout", "limited", "malformed"])
def test_what_may_be_retried_is(kind: str, ledger: Ledger) -> None:
    model = FakeModel(failing(3, kind))
    assert answers(model, ledger, "a") == ["A"]
    assert len(model.asked) == 4
    assert [row[0] for row in ledger.rows("select outcome from attempts order by number")] == [kind] * 3 + ["answer"]


def test_a_failure_says_how_often_the_call_was_made(ledger: Ledger) -> None:
    async def asked_in_vain() -> int:
        limits = CallLimits(attempts=3)
        async with Scheduler(FakeModel(failing(99, "malformed")), ledger, "run", limits).running() as running:
            with pytest.raises(CallFailure) as failed:
                await running.ask(asked("a"))
        return failed.value.attempts

    assert anyio.run(asked_in_vain) == 3


def test_a_rejected_request_is_not_repeated_and_others_go_on(ledger: Ledger) -> None:
    async def reply(text: str, before: int) -> ModelAnswer:
        return await (failing(99, "rejected", status=400) if text == "bad" else echo)(text, before)

    model, told, budget = FakeModel(reply), list[Progress](), Budget()
    assert answers(model, ledger, "bad", "good", on_progress=told.append, budget=budget) == ["rejected: no", "GOOD"]
    assert model.asked.count("bad") == 1
    assert (told[-1].asked, len(told[-1].unanswered)) == (2, 1)
    assert (budget.spent.calls, budget.spent.tokens) == (2, 5)  # a refused request costs no tokens


def test_attempts_are_limited_and_the_next_run_asks_again(ledger: Ledger) -> None:
    model = FakeModel(failing(3))
    assert answers(model, ledger, "a", limits=CallLimits(attempts=3)) == ["server: no"]
    assert answers(model, ledger, "a", limits=CallLimits(attempts=3)) == ["A"]


def test_a_call_that_hangs_is_a_timeout(ledger: Ledger) -> None:
    async def reply(text: str, before: int) -> ModelAnswer:
        if before == 0:
            await anyio.sleep_forever()
        return await echo(text, before)

    assert answers(FakeModel(reply), ledger, "a", limits=CallLimits(seconds=0.05)) == ["A"]
    assert ledger.rows("select message from attempts")[0] == ("no answer within 0.05 s",)


def test_a_wait_that_the_server_asks_for_is_kept_by_all(ledger: Ledger) -> None:
    times: list[float] = []

    async def reply(text: str, before: int) -> ModelAnswer:
        times.append(anyio.current_time())
        if text == "a" and before == 0:
            raise CallFailure("slow", "limited", retry_after=0.2)
        return await echo(text, before)

    assert answers(FakeModel(reply), ledger, "a", "b", limits=CallLimits(concurrency=1)) == ["A", "B"]
    assert min(times[1:]) - times[0] >= 0.19


@pytest.mark.parametrize("limits", [CallLimits(requests=2), CallLimits(tokens=100)])
def test_no_more_requests_or_tokens_are_sent_in_a_minute_than_allowed(limits: CallLimits, ledger: Ledger) -> None:
    model = FakeModel(echo)

    async def impatiently() -> None:
        async with Scheduler(model, ledger, "run", limits).running() as running:
            for text in ("one", "two"):
                await running.ask(asked(text))
            with anyio.move_on_after(0.3):
                await running.ask(asked("three"))

    anyio.run(impatiently)
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("failure", "why", "calls"),
    [
        ({"kind": "limited", "status": 429, "retry_after": 86400.0}, "no; it asks to wait 86400 s", 1),
        ({"kind": "denied", "status": 401}, "no", 1),
        ({"kind": "malformed"}, "is the address right", breaker.UNREADABLE),
    ],
    ids=["asks to wait for a day", "refuses every key", "never answers readably"],
)
def test_an_endpoint_that_can_answer_nothing_ends_the_run(
    ledger: Ledger, failure: dict[str, Any], why: str, calls: int
) -> None:
    model = FakeModel(failing(9999, **failure))
    with pytest.raises(OutageError, match=why):
        answers(model, ledger, *map(str, range(50)), limits=CallLimits(concurrency=1))
    assert len(model.asked) == calls


def test_an_endpoint_whose_limit_lasts_longer_than_it_may_ask_to_wait_ends_the_run(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "MAX_HOLD", 0.2)

    async def reply(text: str, before: int) -> ModelAnswer:
        return await (echo if text == "a" else failing(99, "limited", status=429, retry_after=0.1))(text, before)

    with pytest.raises(OutageError, match=r"no answer for 0\.2 s; the last failure: no$"):
        answers(FakeModel(reply), ledger, *"abcdefg", limits=CallLimits(concurrency=1, outage=0.1, attempts=6))


def test_progress_is_reported_while_nothing_happens(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "HEARTBEAT", 0.01)
    said: list[str] = []

    async def reply(text: str, before: int) -> ModelAnswer:
        if before == 0:
            raise CallFailure("busy", "server")
        reported = len(said)
        while len(said) < reported + 5:  # at most as long as `answers` waits
            await anyio.sleep(0.01)
        return await echo(text, before)

    found = answers(FakeModel(reply), ledger, "a", on_progress=lambda progress: said.append(progress.last_failure))
    assert (found, said.count("busy") > 5) == (["A"], True)


def test_a_wait_for_an_answer_is_reported_with_its_reason_but_not_while_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduler, "HEARTBEAT", 0.01)
    monkeypatch.setattr(scheduler, "SILENCE", 0.1)

    async def reply(text: str, before: int) -> ModelAnswer:
        if text == "z":
            raise CallFailure("no", "denied", status=401)
        if before < 2:
            raise CallFailure("slow down", "limited", status=429, retry_after=0.2)
        return await echo(text, before)

    portal, began = CallPortal(FakeModel(reply), str(tmp_path / "ledger")), time.monotonic()
    try:
        assert portal.ask(asked("a")).text == "A"
        told = capsys.readouterr().err.splitlines()
        assert 1 <= len(told) <= (time.monotonic() - began) / 0.1
        assert all(re.fullmatch(r"note: no answer for \d+ s · slow down", line) for line in told)
        with pytest.raises(OutageError):
            portal.ask(asked("z"))
        capsys.readouterr()
        time.sleep(0.3)
        assert not capsys.readouterr().err
    finally:
        portal.close()


def awaits_a_result(thread: threading.Thread) -> bool:
    frame = sys._current_frames()[thread.ident or 0]
    return any(each.f_code.co_name == "result" for each, _ in traceback.walk_stack(frame))


@pytest.mark.parametrize("is_handed_over", [*[True] * 3, *[False] * 3])
@pytest.mark.usefixtures("interruptible")
def test_an_interruption_waits_for_no_answer(tmp_path: Path, is_handed_over: bool) -> None:
    answered: list[str] = []

    async def reply(text: str, before: int) -> ModelAnswer:
        while is_handed_over and not awaits_a_result(threading.main_thread()):
            await anyio.sleep(0.001)
        for _ in range(6):  # a signal just before a thread waits for a lock does not end the waiting
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await anyio.sleep(5)
        answered.append(text)
        return await echo(text, before)

    portal = CallPortal(FakeModel(reply), str(tmp_path / "ledger"))
    with pytest.raises(KeyboardInterrupt):
        portal.ask(asked("a"))
    portal.close()
    assert not answered


def forbidding(texts: str) -> Reply:
    async def reply(text: str, before: int) -> ModelAnswer:
        return await (failing(99, "forbidden", status=403) if text in texts else echo)(text, before)

    return reply


def late(texts: str, reply: Reply, ledger: Ledger) -> Reply:
    """The reply, to these texts only once another one is answered."""

    async def replying(text: str, before: int) -> ModelAnswer:
        while text in texts and not ledger.has_answer_of(FakeModel.identity):
            await anyio.sleep(0.001)
        return await reply(text, before)

    return replying


def test_one_forbidden_attempt_is_repeated(ledger: Ledger) -> None:
    model = FakeModel(failing(1, "forbidden", status=403))
    assert answers(model, ledger, "a", "b", limits=CallLimits(concurrency=1)) == ["A", "B"]


def test_a_firewall_that_forbids_some_texts_does_not_end_the_run_or_the_next(ledger: Ledger) -> None:
    model = FakeModel(late("bd", forbidding("bd"), ledger))
    found = ["A", "forbidden: no", "C", "forbidden: no"]
    assert answers(model, ledger, *"abcd", limits=CallLimits(attempts=2)) == found
    assert answers(model, ledger, *"bd", limits=CallLimits(attempts=2, concurrency=1)) == [found[1], found[3]]


def test_an_endpoint_that_forbids_everything_ends_the_run(ledger: Ledger) -> None:
    model = FakeModel(forbidding("abcdefghijklm"))
    with pytest.raises(OutageError, match="no"):
        answers(model, ledger, *"abc", limits=CallLimits(attempts=2))
    answers(model, ledger, "z")
    with pytest.raises(OutageError, match="no"):
        answers(model, ledger, *"abcdefghijklm", limits=CallLimits(attempts=2))
    asked_of = set(model.asked[model.asked.index("z") :])
    assert len(asked_of) >= breaker.FORBIDDEN


def test_an_endpoint_that_is_down_is_probed_and_then_given_up(ledger: Ledger) -> None:
    model = FakeModel(failing(9999, "network"))
    with pytest.raises(OutageError, match=r"no answer for 0\.3 s"):
        answers(model, ledger, *map(str, range(50)), limits=CallLimits(concurrency=10, outage=0.3, attempts=99))
    assert len(model.asked) < 80  # it is not hammered


def refusing(texts: str, kind: str = "server") -> Reply:
    async def reply(text: str, before: int) -> ModelAnswer:
        return await (failing(9999, kind) if text in texts else echo)(text, before)

    return reply


SHORT: Final = CallLimits(concurrency=10, outage=0.01, attempts=12)


def test_a_question_on_which_the_endpoint_fails_does_not_end_the_run_or_the_next(ledger: Ledger) -> None:
    for few in ("x", "xyz"):
        expected = ["A", "B", *["server: no" for _ in few]]
        for _ in range(2):
            model = FakeModel(late(few, refusing(few), ledger))
            assert answers(model, ledger, *"ab", *few, limits=SHORT) == expected


def test_an_endpoint_that_fails_on_many_transcripts_or_has_never_answered_ends_the_run(ledger: Ledger) -> None:
    message = r"no answer for 0\.01 s; the last failure: no$"
    with pytest.raises(OutageError, match=message):
        answers(FakeModel(refusing("x")), ledger, "x", limits=SHORT)
    with pytest.raises(OutageError, match=message):
        answers(FakeModel(refusing("xyz", "limited")), ledger, *"xyz", limits=SHORT)
    answers(FakeModel(echo), ledger, "a")
    for texts, kind in (("wxyz", "server"), ("x", "network")):
        with pytest.raises(OutageError, match=message):
            answers(FakeModel(refusing(texts, kind)), ledger, *texts, limits=SHORT)


def test_questions_that_fail_while_others_are_answered_are_failures_of_their_own(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    failed: set[str] = set()
    answered: list[str] = []
    record_success = breaker.Breaker.record_success

    def recorded(self: breaker.Breaker, transcript: str = "", check: str = "") -> None:
        record_success(self, transcript, check)
        answered.append(transcript)

    async def reply(text: str, before: int) -> ModelAnswer:
        """Four texts fail, for the first time after one answer and again after the other."""
        tried.append(text)
        while text in "wxyz" and len(answered) < min(tried.count(text), 2):
            await anyio.sleep(0.001)
        failed.update(text if text in "wxyz" else ())
        while text == "a" and len(failed) < 4:
            await anyio.sleep(0.001)
        return await refusing("wxyz")(text, before)

    monkeypatch.setattr(breaker.Breaker, "record_success", recorded)
    assert answers(FakeModel(reply), ledger, *"bawxyz", limits=SHORT) == ["B", "A", *["server: no"] * 4]


def test_nobody_at_the_address_is_given_up_sooner_than_an_endpoint_that_has_answered(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "ABSENCE", 0.3)
    down = ascii_letters
    limits = CallLimits(concurrency=10, outage=0.6, attempts=99)
    with pytest.raises(OutageError, match=r"no answer for 0\.3 s"):
        answers(FakeModel(failing(9999, "network")), ledger, *down, limits=limits)
    with pytest.raises(OutageError, match=r"no answer for 0\.6 s"):
        answers(FakeModel(late(down, refusing(down, "network"), ledger)), ledger, "1", *down, limits=limits)


def test_an_endpoint_that_hangs_is_given_up_sooner_before_its_first_answer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "FIRST_OUTAGE", 0.05)

    async def hang(text: str, before: int) -> ModelAnswer:
        await anyio.sleep_forever()
        raise AssertionError

    model = FakeModel(hang)
    with pytest.raises(OutageError, match=r"no answer within 0\.1 s; `--timeout` gives a slow model longer") as stopped:
        answers(model, ledger, *"ab", limits=CallLimits(seconds=0.1, concurrency=1))
    assert (model.asked, stopped.value.cause) == (["a"], "name")


def test_an_endpoint_that_only_fails_is_given_up_sooner_before_its_first_answer_than_one_that_may_answer_later(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "FIRST_OUTAGE", 0.1)
    limits = CallLimits(concurrency=10, outage=0.4, attempts=99)
    for kind, status, seconds, cause in (
        ("server", 500, "0.1", "name"),
        ("server", 503, "0.4", "name"),
        ("limited", 429, "0.4", "outage"),
    ):
        with pytest.raises(OutageError, match=f"no answer for {seconds} s") as stopped:
            answers(FakeModel(failing(9999, kind, status=status)), ledger, *map(str, range(20)), limits=limits)
        assert stopped.value.cause == cause


def test_a_usable_reply_that_comes_after_the_end_leaves_the_others_to_be_asked_again(ledger: Ledger) -> None:
    model, texts = FakeModel(echo), [str(number) for number in range(UNUSABLE)]
    keys = [request_key(model.identity, asked(text)) for text in texts]

    async def whole() -> None:
        made = Scheduler(model, ledger, "run")
        async with made.running():
            for text, key in zip(texts, keys, strict=True):
                answer = await made.ask(asked(text))
                with suppress(OutageError):
                    made.record_reading(key, answer, "chat", "no JSON")
            made.record_reading("late", answer, "chat", "")

    anyio.run(whole)
    assert [ledger.answer(key) for key in keys] == [None] * UNUSABLE


def test_after_a_usable_reply_only_replies_about_many_chats_end_a_run(ledger: Ledger) -> None:
    made, answer = Scheduler(FakeModel(echo), ledger, "run"), ModelAnswer("no JSON", "m", is_new=True)
    made.record_reading("refused", answer, "early", "no JSON")
    made.record_reading("usable", answer, "first", "")
    for number in range(UNUSABLE):
        made.record_reading(f"kept {number}", ModelAnswer("no JSON", "m"), f"kept {number}", "no JSON")
        made.record_reading(f"{number}", answer, "chat", "no JSON")
    for number in range(UNUSABLE - 2):
        made.record_reading(f"chat {number}", answer, f"chat {number}", "no JSON")
    with pytest.raises(OutageError, match=f"about {UNUSABLE} chats in a row"):
        made.record_reading("last", answer, "last chat", "no JSON")
    assert "refused" not in made.replies.asked_again


def test_a_run_that_is_resumed_after_a_usable_reply_is_not_ended_for_lack_of_one(ledger: Ledger) -> None:
    model = FakeModel(echo)
    assert answers(model, ledger, "a") == ["A"]

    async def has_usable_reply(run: str, resumed: bool) -> bool:
        async with Scheduler(model, ledger, run, resumed=resumed).running() as running:
            return running.replies.has_usable

    runs = [("run", True), ("next", True), ("run", False)]
    assert [anyio.run(has_usable_reply, *each) for each in runs] == [True, False, False]
    model.identity = Identity("fake", "other")
    assert not anyio.run(has_usable_reply, "run", True)


def test_an_endpoint_that_accepts_no_request_ends_the_run_until_it_is_resumed(ledger: Ledger) -> None:
    model = FakeModel(failing(9999, "rejected"))
    with pytest.raises(OutageError, match="no request was accepted so far"):
        answers(model, ledger, *map(str, range(50)), limits=CallLimits(concurrency=1))
    assert len(model.asked) == breaker.UNREADABLE

    async def resumed() -> None:
        async with Scheduler(model, ledger, "run", CallLimits(concurrency=1), resumed=True).running() as running:
            for number in range(50):
                with pytest.raises(CallFailure):
                    await running.ask(CallRequest(ModelCall((ChatMessage("user", f"{number}"),), 10)))

    anyio.run(resumed)


def test_requests_that_a_model_rejects_end_no_run_that_has_an_answer(ledger: Ledger) -> None:
    async def reply(text: str, before: int) -> ModelAnswer:
        if text != "good":
            raise CallFailure("filtered", "rejected")
        return await echo(text, before)

    assert answers(FakeModel(reply), ledger, "good") == ["GOOD"]
    found = answers(FakeModel(reply), ledger, *map(str, range(50)), limits=CallLimits(concurrency=1))
    assert found == ["rejected: filtered"] * 50


def test_an_endpoint_that_comes_back_answers_everything(ledger: Ledger) -> None:
    broken = 30

    async def reply(text: str, before: int) -> ModelAnswer:
        nonlocal broken
        broken -= 1
        if broken >= 0:
            raise CallFailure("down", "network")
        return await echo(text, before)

    texts = [f"q{number}" for number in range(10)]
    assert answers(FakeModel(reply), ledger, *texts, limits=CallLimits(attempts=50)) == [text.upper() for text in texts]


def test_a_budget_ends_the_run_and_what_was_answered_is_kept(ledger: Ledger) -> None:
    model = FakeModel(echo)
    with pytest.raises(BudgetError, match="3 calls is used up"):
        answers(model, ledger, *"abcdef", limits=CallLimits(concurrency=2), budget=Budget(calls=3))
    assert len(model.asked) == 3
    assert answers(model, ledger, *"abcdef") == list("ABCDEF")
    assert sorted(model.asked) == list("abcdef")


@pytest.mark.parametrize(("on_ambiguous", "found"), [("retry", "A"), ("unclear", "ambiguous: "), ("hold", "held: ")])
def test_a_call_that_a_killed_run_had_sent_is_treated_as_configured(
    on_ambiguous: Any, found: str, ledger: Ledger
) -> None:
    key = request_key(FakeModel.identity, asked("a"))
    ledger.claim(key, FakeModel.identity, asked("a"))
    ledger.begin_attempt(key)
    ledger.owner = "another process that is gone"
    ledger._clock = lambda: 9e12
    model = FakeModel(echo)
    assert answers(model, ledger, "a", limits=CallLimits(on_ambiguous=on_ambiguous))[0].startswith(found)
    assert len(model.asked) == (on_ambiguous == "retry")


def test_a_run_that_is_cancelled_leaves_answers_behind(ledger: Ledger) -> None:
    async def reply(text: str, before: int) -> ModelAnswer:
        if text == "slow":
            await anyio.sleep_forever()
        return await echo(text, before)

    async def whole() -> None:
        made = Scheduler(FakeModel(reply), ledger, "run")
        with anyio.fail_after(60):
            async with made.running() as running, anyio.create_task_group() as group:
                for text in ("fast", "slow"):
                    group.start_soon(running.ask, asked(text))
                while made.progress.answered < 1 or made.progress.in_flight < 1:
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()

    anyio.run(whole)
    assert ledger.rows("select state from calls order by state") == [("done",), ("sent",)]


def test_a_second_vote_is_another_call(ledger: Ledger) -> None:
    model = FakeModel(echo)

    async def whole() -> None:
        async with Scheduler(model, ledger, "run").running() as running:
            for repetition in (0, 1, 0):
                await running.ask(asked("a", repetition))

    anyio.run(whole)
    assert model.asked == ["a", "a"]
    assert ledger.rows("select count(*) from uses") == [(2,)]
