"""What ends a run before all is asked: a circuit breaker, for an endpoint that stops answering, and the watch over a
judge's replies, for a judge whose last replies are not verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import anyio

from rulewright_runtime.english import plural
from rulewright_runtime.errors import OutageError
from rulewright_runtime.models.call import CallFailure

THRESHOLD: Final = 8  # consecutive failures
FIRST_COOLING: Final = 1.0  # seconds without calls; doubled after each failed probe
MAX_COOLING: Final = 60.0  # seconds
FIRST_OUTAGE: Final = 60.0  # seconds that an endpoint may fail before its first answer
ABSENCE: Final = 30.0  # seconds that nobody may listen at its address until then
UNREADABLE: Final = 24  # responses without an answer, before the first answer: the address or the request is wrong
FORBIDDEN: Final = 8  # transcripts in a row of which a call is forbidden: the access was withdrawn
FEW: Final = 3  # transcripts in a row that may be the cause of their failures; of more, the endpoint is
MAX_HOLD: Final = 600.0  # seconds that a server may ask to wait; for more the run stops
_NONE: Final = ("", "")  # the question of a failure that no question causes
ENDPOINT_FAILURES: Final = frozenset({"network", "server", "timeout"})  # not failures of one request
MISNAMED: Final = ENDPOINT_FAILURES | {"malformed"}  # failures that a wrong address may have
_WITHOUT_ANSWER: Final = frozenset({"malformed", "rejected"})
NOT_FOUND: Final = 404  # the status of a wrong address or model
UNAVAILABLE: Final = 503  # that of a server which will answer later


class Breaker:
    """A closed breaker passes all calls. An open one lets them wait, and sends one at a time as a probe."""

    def __init__(self, outage: float, is_known: Callable[[], bool], *, resumed: bool = False) -> None:
        """End the run after `outage` seconds without an answer; `is_known` says whether the model has answered any
        run. A run that is `resumed` asks to the end, also if every request is rejected."""
        self._outage, self._is_known = outage, is_known
        self._failures = 0
        self._since: float | None = None  # the first failure after the last answer, or the run's first call
        self._limited_since: float | None = None  # the first call that was one too many, after the last answer
        self._open_until = 0.0
        self._cooling = FIRST_COOLING
        self._give_up_at = 0.0  # set by the first failure
        self._probe = anyio.Lock()
        self._fatal: OutageError | None = None
        self.has_answered = False
        self._unreadable, self._is_resumed = 0, resumed
        self._forbidden: set[str] = set()  # transcripts since the last answer
        self._failed: set[tuple[str, str]] = set()  # transcripts and checks that the endpoint failed on, likewise
        self._doubtful: set[tuple[str, str]] = set()  # those of before the last answer, to another question

    async def wait(self) -> None:
        """Wait until a call may be sent. Raises OutageError when the run has to stop."""
        self._check()
        if self._since is None and not self.has_answered:
            self._since = anyio.current_time()
        if self._failures < THRESHOLD:
            return
        async with self._probe:
            while self._failures >= THRESHOLD and (remaining := self._open_until - anyio.current_time()) > 0:
                await anyio.sleep(remaining)
            self._cool(anyio.current_time())  # this call is the probe; the next one waits
        self._check()

    def record_success(self, transcript: str, check: str) -> None:
        """Close the breaker: the endpoint answered a call about a transcript and a check."""
        self._forbidden.clear()
        self._doubtful = (self._doubtful | self._failed) - {(transcript, check), _NONE}
        self._failed.clear()
        self._failures, self._since, self._cooling, self.has_answered = 0, None, FIRST_COOLING, True
        self._limited_since = None

    def record_failure(self, failure: CallFailure, transcript: str, check: str) -> None:
        """Count a failed attempt of a call about a transcript and a check. Raises OutageError when the run has to
        stop: not for failures about a few transcripts, which are their own if others were answered."""
        if failure.is_fatal:
            self._give_up(str(failure), failure)
        elif (failure.retry_after or 0.0) > MAX_HOLD:
            self._give_up(f"{failure}; it asks to wait {failure.retry_after:.0f} s", failure)
        elif failure.kind in ENDPOINT_FAILURES or (failure.kind == "limited" and not self.has_answered):
            self._count(failure, (transcript, check))
        elif failure.kind == "limited":
            self._count_limited(failure)
        elif failure.kind in _WITHOUT_ANSWER and not self.has_answered:
            self._count_unreadable(failure)
        self._check()

    def _count_unreadable(self, failure: CallFailure) -> None:
        """Count a response without an answer. A model that has ever answered may reject many chats."""
        self._unreadable += 1
        if self._unreadable < UNREADABLE:
            return
        if failure.kind == "malformed":
            self._give_up(f"{failure}; no response could be read so far: is the address right?", failure)
        elif not self._is_resumed and not self._is_known():
            self._give_up(f"{failure}; no request was accepted so far", failure)

    def refuse_replies(self, reason: str) -> None:
        """Stop the run, because no reply is usable. Raises OutageError."""
        self._fatal = OutageError(reason, "replies")
        self._check()

    def _give_up(self, reason: str, failure: CallFailure) -> None:
        may_be_misnamed = failure.kind in MISNAMED or failure.status == NOT_FOUND
        self._fatal = OutageError(reason, "name" if may_be_misnamed and not self._has_ever_answered() else "outage")

    def record_forbidden(self, failure: CallFailure, transcript: str) -> None:
        """Record that all attempts of a call were forbidden.

        Raises OutageError if no call seems to be allowed. A firewall that forbids one text only costs that text.
        """
        self._forbidden.add(transcript)
        if not self._has_ever_answered() or len(self._forbidden) >= FORBIDDEN:
            self._give_up(f"{failure}; may this key use the model, and does a firewall let the requests pass?", failure)
        self._check()

    def _count(self, failure: CallFailure, question: tuple[str, str]) -> None:
        """Count a failure of the endpoint, unless it is the question's own: others were answered after one before."""
        if failure.kind == "network":
            question = _NONE
        elif question in self._doubtful:
            return
        now = anyio.current_time()
        self._since = now if self._since is None else self._since
        self._failures += 1
        self._failed.add(question)
        patience = self._patience(failure)
        self._give_up_at = self._since + patience
        if self._failures >= THRESHOLD:
            self._cool(now)
            self._cooling = min(self._cooling * 2, MAX_COOLING)
        is_over = now - self._since >= patience and (self._failures >= THRESHOLD or not self.has_answered)
        if is_over and not self._is_of_few_transcripts():
            if failure.kind == "timeout" and not self.has_answered:
                self._give_up(f"{failure}; `--timeout` gives a slow model longer", failure)
            else:
                self._give_up(f"no answer for {patience:g} s; the last failure: {failure}", failure)

    def _count_limited(self, failure: CallFailure) -> None:
        """Stop the run when an endpoint that has answered refuses every call as one too many for a long time."""
        now = anyio.current_time()
        self._limited_since = now if self._limited_since is None else self._limited_since
        patience = max(self._outage, MAX_HOLD)
        if now - self._limited_since >= patience:
            self._give_up(f"no answer for {patience:g} s; the last failure: {failure}", failure)

    def _is_of_few_transcripts(self) -> bool:
        """Whether all failures since the last answer are about a few transcripts, and the model has answered before."""
        transcripts = {transcript for transcript, _ in self._failed}
        return len(transcripts) <= FEW and "" not in transcripts and self._has_ever_answered()

    def _has_ever_answered(self) -> bool:
        return self.has_answered or self._is_known()

    def _cool(self, now: float) -> None:
        """Let no call pass for a while, at most until the run is given up."""
        self._open_until = min(now + self._cooling, max(now, self._give_up_at))

    def _patience(self, failure: CallFailure) -> float:
        """Return the seconds to wait for an answer: few before the first one, unless there is a limit of calls or
        a server that is still loading its model."""
        if self.has_answered or failure.kind == "limited" or failure.status == UNAVAILABLE:
            return self._outage
        return min(self._outage, ABSENCE if failure.kind == "network" else FIRST_OUTAGE)

    def _check(self) -> None:
        if self._fatal is not None:
            raise self._fatal


UNUSABLE: Final = 16  # replies before the first usable one, or chats in a row after it


class ReplyWatch:
    """The replies after the last usable one.

    A judge may refuse to talk about many chats, also the first ones, so a run is ended for its replies only once.
    """

    def __init__(self, *, stops_later: bool) -> None:
        """`stops_later`: the run is also ended for replies after a usable one."""
        self.has_usable = False
        self._may_stop, self._stops_later = True, stops_later
        self._reasons: dict[str, str] = {}  # by key
        self._chats: set[str] = set()  # that they are about

    def resume(self, used: int, asked_again: int) -> None:
        """Continue a run that uses so many replies, and was ended for those that are asked again if they are many."""
        self.has_usable = bool(used)
        self._may_stop = not used and asked_again < UNUSABLE

    def record(self, key: str, about: str, reason: str) -> None:
        """Record a reply about a chat, and why it is not usable; one that comes while the run ends changes nothing."""
        if reason:
            self._reasons[key] = reason
            self._chats.add(about)
        elif not self.why_stop:
            self.has_usable = True
            self._reasons.clear()
            self._chats.clear()

    @property
    def is_in_doubt(self) -> bool:
        """Whether the run may be ended for the last replies: until then, nothing is decided by them."""
        return bool(self._reasons) and self._may_stop and (self._stops_later or not self.has_usable)

    @property
    def why_stop(self) -> str:
        """Why the run is to be ended; empty if it is not."""
        if not self.is_in_doubt or not self._are_many:
            return ""
        if self.has_usable:
            return f"no reply of the judge about {UNUSABLE} chats in a row is a verdict: {self._last_reason}"
        return f"none of the first {UNUSABLE} replies of the judge is a verdict: {self._last_reason}"

    @property
    def asked_again(self) -> Iterable[str]:
        """The keys of the calls that the next run makes again: the judge does not seem to work."""
        return self._reasons.keys() if not self.has_usable or self._are_many else ()

    @property
    def why_asked_again(self) -> str:
        """Why the next run makes calls again; empty if it makes none."""
        if not self.asked_again:
            return ""
        which = f" about the last {plural(len(self._chats), 'chat')}" if self.has_usable else ""
        return f"no reply of the judge{which} is a verdict, so the next run asks again: {self._last_reason}"

    @property
    def _are_many(self) -> bool:
        return len(self._chats if self.has_usable else self._reasons) >= UNUSABLE

    @property
    def _last_reason(self) -> str:
        return next(reversed(self._reasons.values()))
