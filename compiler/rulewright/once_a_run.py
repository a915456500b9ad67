"""Values that are found once for all files of a lint, such as what a folder of test cases holds."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")
_FOUND: Final[ContextVar[dict[Hashable, Any] | None]] = ContextVar("found", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Everything inside reads the same state of the files."""
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def once_a_run(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """The function, which is called once in a run for the same arguments, and each time outside a run."""

    @wraps(function)
    def found(*args: Given.args, **more: Given.kwargs) -> Found:
        known = _FOUND.get()
        if known is None:
            return function(*args, **more)
        key = function, args, tuple(sorted(more.items()))
        if key not in known:
            known[key] = function(*args, **more)
        value: Found = known[key]
        return value

    return found
