"""Functions on tool calls of a conversation: names, counts, order and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright_runtime.functions.table import Table
from rulewright_runtime.values import Value, equal, no_overload


def _names(function: str, calls: object, *others: object) -> list[str]:
    if not isinstance(calls, (list, tuple)) or not all(isinstance(call, Mapping) for call in calls):
        raise no_overload(function, calls, *others)
    names = [call.get("name") for call in calls]
    if any(name.__class__ is not str for name in names):
        raise no_overload(function, calls, *others)
    return names


def called(calls: Value, name: Value, arguments: object = None) -> bool:
    """Whether one of the calls is of the tool `name` and, if `arguments` are given, includes them."""
    names = _names("called", calls, name)
    if name.__class__ is not str or not (arguments is None or isinstance(arguments, Mapping)):
        raise no_overload("called", calls, name, arguments)
    of_tool = (call for call, tool in zip(calls, names, strict=True) if tool == name)
    return any(arguments is None or _includes(call.get("arguments"), arguments) for call in of_tool)


def _includes(actual: object, expected: Mapping[object, object]) -> bool:
    return isinstance(actual, Mapping) and all(
        key in actual and equal(actual[key], value) for key, value in expected.items()
    )


def call_count(calls: object, name: object) -> int:
    """Return how often the tool was called."""
    if name.__class__ is not str:
        raise no_overload("call_count", calls, name)
    return _names("call_count", calls, name).count(name)


def called_in_order(calls: object, names: object) -> bool:
    """Whether the tools were called in this order, possibly with other calls in between."""
    remaining = iter(_names("called_in_order", calls, names))
    if not isinstance(names, (list, tuple)) or not names or any(name.__class__ is not str for name in names):
        raise no_overload("called_in_order", calls, names)
    return all(name in remaining for name in names)


TABLE: Final[Table] = {
    "called": (called, 2, 3),
    "call_count": (call_count, 2, 2),
    "called_in_order": (called_in_order, 2, 2),
}
