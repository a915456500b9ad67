"""A copy of its code for every closure.

CPython (from 3.11) specialises bytecode where it stands: a comparison that has seen doubles becomes one of doubles, a
call that has met one function remembers it. Closures made by one `def` share their code, so that a condition over texts
would undo what a condition over numbers has learnt. With code of its own each stays as fast as one written for it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def own(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same closure with a copy of its code; anything else as it is."""
    if not isinstance(function, FunctionType):
        return function
    return FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
