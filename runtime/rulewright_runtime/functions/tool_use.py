"""Functions on tool calls of a conversation: names, counts, order and arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    return next(matching_calls(calls, name, arguments), None) is not None


def matching_calls(
    calls: list[Value], name: str, arguments: Mapping[Value, Value] | None = None
) -> Iterator[Mapping[Value, Value]]:
    """Iterate over the calls for which `called` holds. Raises EvaluationError."""
    for call, tool in zip(calls, _names("called", calls, name), strict=True):
        is_tool = tool == name and isinstance(call, Mapping)
        if is_tool and (arguments is None or _includes(call.get("arguments"), arguments)):
            yield call


def _includes(actual: object, expected: Mapping[Value, Value]) -> bool:
    return isinstance(actual, Mapping) and all(
        key in actual and equal(actual[key], value) for key, value in expected.items()
    )


def called_in_order(calls: list[Value], names: list[Value]) -> bool:
    """Whether the tools were called in this order, possibly with other calls in between. Raises EvaluationError."""
    remaining = iter(_names("called_in_order", calls, names))
    if not names or any(name.__class__ is not str for name in names):
        raise no_overload("called_in_order", calls, names)
    return all(name in remaining for name in names)


TABLE: Final[Table] = typed(
    {
        "called": (called, LIST, str, (Mapping, type(None))),
        "call_count": (lambda calls, name: _names("call_count", calls, name).count(name), LIST, str),
        "called_in_order": (called_in_order, LIST, LIST),
    }
)
