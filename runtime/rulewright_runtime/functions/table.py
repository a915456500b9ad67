"""Tables of functions (name to function and argument counts), with checked arguments, and the limits on their results
and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.values import no_overload

Function: TypeAlias = Callable[..., Any]
Entry: TypeAlias = tuple[Function, int, int]  # function, minimum and maximum number of arguments
Table: TypeAlias = Mapping[str, Entry]
PLUGIN_FUNCTIONS: Final[dict[str, Entry]] = {}  # filled when a plan that calls them is opened

LIST: Final = (list, tuple)
_EXACT: Final = frozenset({str, bytes, int, float, bool})  # types whose subclasses are other types of the language
MAX_TEXT: Final = 10_000_000  # code points or bytes
MAX_LIST: Final = 1_000_000
MAX_STEPS: Final = 3_000_000  # of nested loops, and of functions that compare all pairs of elements


def typed(functions: Mapping[str, tuple[Any, ...]]) -> dict[str, Entry]:
    """The table of functions that are each given with the types of their arguments; what has a default may be missing.

    An argument of another type raises EvaluationError before the function is called.
    """
    return {name: _typed(name, function, kinds) for name, (function, *kinds) in functions.items()}


def _typed(name: str, function: Function, kinds: list[Any]) -> Entry:
    least = len(kinds) - len(getattr(function, "__defaults__", None) or ())
    usual = tuple(list if kind is LIST else kind for kind in kinds)

    def call_with_two(one: object, other: object) -> object:  # as most are called: without a tuple of arguments
        return function(one, other) if (one.__class__, other.__class__) == usual else call(one, other)

    def call(*values: object) -> object:
        if (*map(type, values),) != usual:
            for value, kind in zip(values, kinds, strict=False):
                if value.__class__ is not kind and (kind in _EXACT or not isinstance(value, kind)):
                    raise no_overload(name, *values)
        return function(*values)

    return call_with_two if least == len(kinds) == 2 else call, least, len(kinds)


def not_nan(value: object) -> object:
    """The value. Raises EvaluationError for NaN: no limit is under it, so that a condition on it would never hold."""
    if value.__class__ is float and value != value:
        raise EvaluationError("the result is not a number", "not_a_number")
    return value


def check_text(length: int) -> None:
    """Raise EvaluationError for a string or bytes longer than `MAX_TEXT`, before it is created."""
    if length > MAX_TEXT:
        raise EvaluationError(f"a text would be longer than {MAX_TEXT}", "limit")


def check_list(length: int) -> None:
    """Raise EvaluationError for a list longer than `MAX_LIST`, before it is created."""
    if length > MAX_LIST:
        raise EvaluationError(f"a list would be longer than {MAX_LIST}", "limit")


def check_steps(steps: int) -> None:
    """Raise EvaluationError for more than `MAX_STEPS` steps."""
    if steps > MAX_STEPS:
        raise EvaluationError(f"more than {MAX_STEPS} steps", "limit")
