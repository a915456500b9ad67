"""Code of the user in this process, such as plug-ins: it prints to the standard error, can't end the process, leaves
the precision of decimals, the recursion limit, the working folder and the standard streams as they were, and is stopped
when it does not return.

This holds in the main thread only, except for the first three; `state_kept` is for code in other threads. Code is
stopped where the system has alarms (not on Windows), and native code only between its checks for signals.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from decimal import localcontext
from threading import Lock, Thread, current_thread, main_thread
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Final

from rulewright_runtime.english import escape_surrogates
from rulewright_runtime.errors import OutageError, RuntimeFailure
from rulewright_runtime.processes.process_end import end_now
from rulewright_runtime.terminal import PrintsToErrors

SECONDS = 180.0  # for one call; as long as a model may take
AGAIN: Final = 1.0  # seconds after which code that caught the exception is stopped again
MOST: Final = 3  # calls that don't return before the run ends
PATIENCE: Final = 5.0  # seconds for threads and exit handlers that it left, when the command ends
_REFUSED: Final = 3


class UserCodeError(RuntimeFailure):
    """Code of the user ended the process, or did not return in time."""


def failure_of(why: Exception) -> str:
    """What code of the user raised, as text that a file can hold."""
    return escape_surrogates(str(why) if isinstance(why, UserCodeError) else f"{type(why).__name__}: {why}")


class Called:
    """What is called, by its name in a message; counts the calls that do not return."""

    def __init__(self, name: str) -> None:
        self.name, self.late = name, 0


class _LateError(BaseException):
    """Raised in code that does not return; no `except Exception` catches it."""


class _ProcessState:
    """What code may change for the whole process: the working folder, which relative paths of the run depend on, the
    standard streams, and the depth at which a recursion ends as an error and not as a crash."""

    def __init__(self) -> None:
        self._streams, self._folder = (sys.stdout, sys.stderr), _working_folder()
        self._recursion = sys.getrecursionlimit()

    def restore(self) -> None:
        sys.stdout, sys.stderr = self._streams
        sys.setrecursionlimit(self._recursion)
        if self._folder is not None and _working_folder() != self._folder:
            with suppress(OSError):  # it is removed
                os.chdir(self._folder)


def _working_folder() -> str | None:
    """The working folder; None if it is removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


class _Elsewhere:
    """The calls in other threads, and the state of the process before the first of them."""

    lock, running, state = Lock(), 0, _ProcessState()


@contextmanager
def state_kept() -> Generator[None]:
    """Restore what code in another thread changes for the whole process; calls may overlap."""
    with _Elsewhere.lock:
        if not _Elsewhere.running:
            _Elsewhere.state = _ProcessState()
        _Elsewhere.running += 1
    try:
        yield
    finally:
        with _Elsewhere.lock:
            _Elsewhere.running -= 1
            _Elsewhere.state.restore()


class UserCode:
    """The context in which code of the user is called.

    Leaving it raises UserCodeError where the code raises anything but an Exception (KeyboardInterrupt passes), or does
    not return; OutageError where that happened three times to the same `called`.
    """

    def __init__(self, called: Called) -> None:
        self._called, self._prints, self._decimals = called, PrintsToErrors(), localcontext()

    def __enter__(self) -> None:
        self._prints.__enter__()
        self._decimals.__enter__()
        self._process = os.getpid()
        is_main = current_thread() is main_thread()
        self._state = _ProcessState() if is_main else None
        self._is_late, self._is_limited = False, is_main and hasattr(signal, "setitimer")
        if self._is_limited:
            self._started, self._is_running = monotonic(), True
            self._handler = signal.signal(signal.SIGALRM, self._stop)
            self._timer = signal.setitimer(signal.ITIMER_REAL, SECONDS, AGAIN)

    def _stop(self, _: int, __: FrameType | None) -> None:
        if self._is_running:
            self._is_late = True
            raise _LateError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_running = False
        if os.getpid() != self._process:
            end_now(_REFUSED)  # a child that the code forked must not continue the command
        if self._is_limited:
            self._restore_alarm()
        if self._state is not None:
            self._state.restore()
        self._decimals.__exit__(None, None, None)
        self._prints.__exit__()
        if self._is_late:
            self._refuse_late()
        if error is not None and not isinstance(error, Exception | KeyboardInterrupt):
            raise UserCodeError(f"{type(error).__name__}: {error}") from error

    def _restore_alarm(self) -> None:
        """Give the alarm back to whom it belonged."""
        left, interval = self._timer
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler or signal.SIG_DFL)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - self._started), 0.001), interval)

    def _refuse_late(self) -> None:
        self._called.late += 1
        if self._called.late >= MOST:
            raise OutageError(f"{self._called.name} returned no result within {SECONDS:g} s, {MOST} times") from None
        raise UserCodeError(f"no result within {SECONDS:g} s") from None


def limit_exit(status: int) -> None:
    """End the process with `status` after a while, if the threads and exit handlers that the code left don't end."""

    def end() -> None:
        sleep(PATIENCE)
        end_now(status)

    Thread(target=end, daemon=True).start()
