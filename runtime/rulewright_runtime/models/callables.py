"""Models behind a Python callable, `python:MODULE:CALLABLE`: any client that a user brings."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.models import ModelError
from rulewright_runtime.models.call import CallFailure, Identity, ModelAnswer
from rulewright_runtime.models.capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright_runtime.models.call import ModelCall

WRAPPER: Final = "1"


class CallableModel:
    """A callable that is given the `ModelCall` and gives a text or a `ModelAnswer`; async, or run in a thread."""

    host = ""
    capabilities = Capabilities()

    def __init__(self, name: str, function: Callable[[ModelCall], Any]) -> None:
        """`name` is `MODULE:CALLABLE`; an attribute `version` of the callable becomes part of every call's key."""
        self._function = function
        self.identity = Identity("python", name, name, str(getattr(function, "version", "")), WRAPPER)

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """What the callable gives. Whatever it raises is a CallFailure that may be retried, also that it would end the
        process."""
        try:
            given = await (self._function(call) if _is_async(self._function) else self._in_thread(call))
        except CallFailure:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # ours; another one is the callable's
            raise _raised(error) from error
        except (Exception, SystemExit) as error:
            raise _raised(error) from error
        return self._checked(ModelAnswer(given, self.identity.model, raw=given) if isinstance(given, str) else given)

    async def _in_thread(self, call: ModelCall) -> Any:
        """What the callable gives in a thread of its own; one that never ends does not keep the process alive."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(given: Any, failure: CallFailure | None) -> None:
            if not done.done():
                done.set_result(given) if failure is None else done.set_exception(failure)

        def work() -> None:
            given, failure = None, None
            try:
                given = self._function(call)
            except CallFailure as error:
                failure = error
            except BaseException as error:
                failure = _raised(error)
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(settle, given, failure)

        Thread(target=work, daemon=True).start()
        return await done

    def _checked(self, given: object) -> ModelAnswer:
        """The answer, if it is one that can be kept. Raises CallFailure."""
        if not isinstance(given, ModelAnswer):
            message = f"`{self.identity.model}` gave {type(given).__name__}; expected a text or a `ModelAnswer`"
            raise CallFailure(message, "denied")
        try:
            return msgspec.json.decode(msgspec.json.encode(given), type=ModelAnswer)
        except UnicodeEncodeError as error:
            raise CallFailure(f"`{self.identity.model}` gave text that is not Unicode: {error}", "malformed") from None
        except (msgspec.ValidationError, TypeError, OverflowError) as error:
            message = f"`{self.identity.model}` gave a `ModelAnswer` that can't be read: {error}"
            raise CallFailure(message, "denied") from None

    async def aclose(self) -> None:
        """Nothing is held open."""


def open_model(_: str, rest: str, __: Capabilities | None = None) -> CallableModel:
    """The callable `MODULE:CALLABLE`, from the working folder or an installed package.

    Raises ModelError where it can't be imported or called.
    """
    module, colon, name = rest.partition(":")
    if not colon or not module or not name:
        raise ModelError(f"`python:{rest}` names no callable; expected `python:MODULE:CALLABLE`")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        function: object = import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (Exception, SystemExit) as error:
        raise ModelError(f"`python:{rest}` can't be imported: {type(error).__name__}: {error}") from error
    if not callable(function):
        raise ModelError(f"`python:{rest}` is not callable")
    return CallableModel(rest, function)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _raised(error: BaseException) -> CallFailure:
    return CallFailure(f"{type(error).__name__}: {error}", "server")
