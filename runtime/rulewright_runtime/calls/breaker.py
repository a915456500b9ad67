"""The circuit breaker: when an endpoint answers nothing any more, calls wait, and in the end the run stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio

from rulewright_runtime.errors import OutageError

if TYPE_CHECKING:
    from rulewright_runtime.models.call import CallFailure

THRESHOLD: Final = 8  # failures in a row
FIRST_COOLING: Final = 1.0  # seconds in which no call is sent; doubled while every probe fails
LONGEST_COOLING: Final = 60.0
LONGEST_HOLD: Final = 600.0  # seconds that a server may ask to wait; where it asks for more, the run stops
TELLING: Final = frozenset({"network", "server", "timeout"})  # failures of the endpoint, not of one request


class Breaker:
    """Closed, all calls pass. Open, they wait, and one at a time probes whether the endpoint is back."""

    def __init__(self, outage: float) -> None:
        """Give up after `outage` seconds without any answer."""
        self._outage = outage
        self._failures = 0
        self._since: float | None = None  # the first failure after the last answer
        self._open_until = 0.0
        self._cooling = FIRST_COOLING
        self._probe = anyio.Lock()
        self._fatal: str | None = None

    async def wait(self) -> None:
        """Return when a call may be sent. Raises OutageError when none may be sent any more."""
        self._check()
        if self._failures < THRESHOLD:
            return
        async with self._probe:
            while self._failures >= THRESHOLD and (left := self._open_until - anyio.current_time()) > 0:
                await anyio.sleep(left)
            self._open_until = anyio.current_time() + self._cooling  # this call is the probe; the next one waits
        self._check()

    def succeeded(self) -> None:
        """The endpoint answered."""
        self._failures, self._since, self._cooling = 0, None, FIRST_COOLING

    def failed(self, failure: CallFailure) -> None:
        """An attempt failed. Raises OutageError where that ends the run."""
        if failure.is_fatal:
            self._fatal = str(failure)
        elif (failure.retry_after or 0.0) > LONGEST_HOLD:
            self._fatal = f"{failure}; it asks to wait {failure.retry_after:.0f} s"
        elif failure.kind in TELLING:
            now = anyio.current_time()
            self._since = now if self._since is None else self._since
            self._failures += 1
            if self._failures >= THRESHOLD:
                self._open_until = now + self._cooling
                self._cooling = min(self._cooling * 2, LONGEST_COOLING)
            if self._failures >= THRESHOLD and now - self._since >= self._outage:
                self._fatal = f"no answer for {self._outage:g} s; the last failure: {failure}"
        self._check()

    def _check(self) -> None:
        if self._fatal is not None:
            raise OutageError(self._fatal)
