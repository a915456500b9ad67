"""Functions on tool calls of a conversation: names, counts, order and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright_runtime.functions.table import LIST, Table, typed
from rulewright_runtime.values import Value, equal, no_overload


def _names(function: str, calls: list[Value], other: object) -> list[str]:
    names: list[Value] = [call.get("name") if isinstance(call, Mapping) else None for call in calls]
    if any(name.__class__ is not str for name in names):
        raise no_overload(function, calls, other)
    return names


def called(calls: list[Value], name: str, arguments: Mapping[Value, Value] | None = None) -> bool:
    """Whether one of the calls is of the tool `name` and, if `arguments` are given, includes them."""
    names = _names("called", calls, name)
    of_tool = (call for call, tool in zip(calls, names, strict=True) if tool == name)
    return any(arguments is None or _includes(call.get("arguments"), arguments) for call in of_tool)


def _includes(actual: object, expected: Mapping[Value, Value]) -> bool:
    return isinstance(actual, Mapping) and all(
        key in actual and equal(actual[key], value) for key, value in expected.items()
    )


def call_count(calls: list[Value], name: str) -> int:
    """Return how often the tool was called."""
    return _names("call_count", calls, name).count(name)


def called_in_order(calls: list[Value], names: list[Value]) -> bool:
    """Whether the tools were called in this order, possibly with other calls in between. Raises EvaluationError."""
    remaining = iter(_names("called_in_order", calls, names))
    if not names or any(name.__class__ is not str for name in names):
        raise no_overload("called_in_order", calls, names)
    return all(name in remaining for name in names)


TABLE: Final[Table] = typed(
    {
        "called": (called, LIST, str, (Mapping, type(None))),
        "call_count": (call_count, LIST, str),
        "called_in_order": (called_in_order, LIST, LIST),
    }
)
