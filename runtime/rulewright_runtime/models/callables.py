"""Models behind a Python callable, `python:MODULE:CALLABLE`: any client of the user."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any, Final

import msgspec

from rulewright_runtime.digests import file_digest
from rulewright_runtime.models import ModelError
from rulewright_runtime.models.call import CallFailure, Identity, ModelAnswer, ModelCall
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.processes.user_code import Called, UserCode, failure_of, state_kept

WRAPPER: Final = "1"


class CallableModel:
    """A callable from a `ModelCall` to a string or a `ModelAnswer`, run in a thread; all calls of an async one share a
    thread."""

    host = ""
    capabilities = Capabilities()

    def __init__(self, name: str, function: Callable[[ModelCall], Any]) -> None:
        """`name` is `MODULE:CALLABLE`. Part of every call's key is the callable's attribute `version`, or else the
        digests of its source files: an edited one answers again."""
        self._function, self._has_answered = function, False
        self._loop: _LoopThread | None = None
        version = str(getattr(function, "version", "")) or _source_digests(name, function)
        self.identity = Identity("python", name, name, version, WRAPPER)

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the callable's answer. Raises CallFailure, which may be retried, for any exception of the callable,
        SystemExit included."""
        try:
            with state_kept():
                value = await (self._in_loop(call) if _is_async(self._function) else self._in_thread(call))
        except CallFailure:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # our task was cancelled; otherwise the callable raised it
            raise self._failure(error) from error
        except (Exception, SystemExit) as error:
            raise self._failure(error) from error
        answer = self._validate(ModelAnswer(value, self.identity.model, raw=value) if isinstance(value, str) else value)
        self._has_answered = True
        return answer

    async def _in_loop(self, call: ModelCall) -> object:
        self._loop = self._loop or _LoopThread()
        return await self._loop.result(self._guarded(call))

    async def _guarded(self, call: ModelCall) -> object:
        """The callable's value. Raises CallFailure for SystemExit, which would end the loop."""
        try:
            return await self._function(call)
        except (SystemExit, KeyboardInterrupt) as error:
            raise self._failure(error) from error

    async def _in_thread(self, call: ModelCall) -> Any:
        """Run the callable in its own daemon thread, which does not keep the process alive if it never ends."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, failure: CallFailure | None) -> None:
            if not done.done():
                done.set_result(value) if failure is None else done.set_exception(failure)

        def work() -> None:
            value, failure = None, None
            try:
                value = self._function(call)
            except CallFailure as error:
                failure = error
            except BaseException as error:
                failure = self._failure(error)
            with suppress(RuntimeError):  # the loop has ended: the result is not needed
                loop.call_soon_threadsafe(settle, value, failure)

        Thread(target=work, daemon=True).start()
        return await done

    def _validate(self, value: object) -> ModelAnswer:
        """Return the value if it is a `ModelAnswer` that can be stored. Raises CallFailure for any other value."""
        if not isinstance(value, ModelAnswer):
            form = ", such as `json.dumps(...)` of it," if isinstance(value, dict) else ""
            message = (
                f"`{self.identity.model}` returned a `{type(value).__name__}`; expected a text{form} or a `ModelAnswer`"
            )
            raise CallFailure(message, "denied")
        try:
            return msgspec.json.decode(msgspec.json.encode(value), type=ModelAnswer)
        except UnicodeEncodeError as error:
            raise CallFailure(
                f"`{self.identity.model}` returned text that is not Unicode: {error}", "malformed"
            ) from None
        except (msgspec.ValidationError, TypeError, OverflowError) as error:
            message = f"`{self.identity.model}` returned a `ModelAnswer` that can't be read: {error}"
            raise CallFailure(message, "denied") from None

    def _failure(self, error: BaseException) -> CallFailure:
        """The failure of an exception. A callable that has never answered counts as out of reach, not as overloaded."""
        return CallFailure(f"{type(error).__name__}: {error}", "server" if self._has_answered else "network")

    async def aclose(self) -> None:
        """End the loop of an async callable."""
        if self._loop is not None:
            self._loop.close()
            self._loop = None


class _LoopThread:
    """An event loop in a daemon thread of its own: what blocks it does not keep the process alive, and the limits of
    time for its calls hold."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop):  # cancels what is left when the loop stops
            self._loop.run_forever()

    async def result(self, coroutine: Coroutine[object, object, object]) -> object:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        with suppress(RuntimeError):  # the callable has ended the loop
            self._loop.call_soon_threadsafe(self._loop.stop)


def open_model(_: str, rest: str) -> CallableModel:
    """Open the callable `MODULE:CALLABLE`, from the working folder or an installed package.

    Raises ModelError when it can't be imported or is not callable.
    """
    module, colon, name = rest.partition(":")
    if not colon or not module or not name:
        raise ModelError(f"`python:{rest}` names no callable; expected `python:MODULE:CALLABLE`")
    if module.endswith(".py"):
        meant = module.removesuffix(".py").replace("/", ".")
        raise ModelError(f"`python:{rest}` names a file, not a module; did you mean `python:{meant}:{name}`?")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with UserCode(Called(f"`python:{rest}`")):
            function: object = import_module(module)
            for part in name.split("."):
                function = getattr(function, part)
    except Exception as error:
        raise ModelError(f"`python:{rest}` can't be imported: {failure_of(error)}") from error
    if not callable(function):
        raise ModelError(f"`python:{rest}` is not callable")
    return CallableModel(rest, function)


def _source_digests(name: str, function: object) -> str:
    """The digests of the modules that name and define a callable; empty without files."""
    modules = (name.partition(":")[0], getattr(function, "__module__", None) or type(function).__module__)
    files = dict.fromkeys(getattr(sys.modules.get(module), "__file__", None) for module in modules)
    return " ".join(file_digest(file) for file in files if isinstance(file, str) and os.path.isfile(file))


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
