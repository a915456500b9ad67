"""CEL's lists, sets and optional values. `or` and `orValue` are not functions: they evaluate their argument lazily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import LIST, Table, check_list, check_steps, typed
from rulewright_runtime.values import NONE, Duration, Optional, Timestamp, Value, comparable, equal, no_overload


def distinct(items: list[Value]) -> list[object]:
    """Return the elements without duplicates."""
    strings: set[str] = set()
    unique: list[object] = []
    others: list[Value] = []
    for item in items:
        if item.__class__ is str:
            if item not in strings:
                strings.add(item)
                unique.append(item)
        elif not any(equal(item, other) for other in others):
            others.append(item)
            check_steps(len(others) * len(items))
            unique.append(item)
    return unique


def flatten(items: list[Value], depth: int = 1) -> list[object]:
    """Replace elements that are lists by their elements, `depth` times. Raises EvaluationError."""
    if depth < 0:
        raise EvaluationError("flatten needs a depth of 0 or more", "invalid_argument")
    flat = list(items)
    while depth > 0 and any(isinstance(item, (list, tuple)) for item in flat):
        check_list(sum(len(item) if isinstance(item, (list, tuple)) else 1 for item in flat))
        flat = [leaf for item in flat for leaf in (item if isinstance(item, (list, tuple)) else (item,))]
        depth -= 1
    return flat


def make_range(count: int) -> list[int]:
    check_list(count)
    return list(range(count))


def reverse(value: Value) -> Value:
    """Return a list or a string in reverse order."""
    return value[::-1] if isinstance(value, str) else list(value[::-1])


def cut(items: list[Value], start: int, end: int) -> list[Value]:
    """Return the elements from `start` to `end` - 1. Raises EvaluationError."""
    if not 0 <= start <= end <= len(items):
        raise EvaluationError(f"can't cut {start} to {end} from a list of {len(items)}", "index_out_of_bounds")
    return list(items[start:end])


def sort_by_keys(items: Sequence[Value], keys: Sequence[Value]) -> list[object]:
    """Sort items by their keys, which must be of one ordered type; the sort is stable. Raises EvaluationError."""
    if any(key.__class__ is not keys[0].__class__ or not comparable(keys[0], key) for key in keys):
        raise EvaluationError("the elements to sort must be of one type that has an order", "no_such_overload")
    return [item for _, item in sorted(zip(keys, items, strict=True), key=itemgetter(0))]


def _all_in(items: list[Value], others: list[Value]) -> bool:
    check_steps(len(items) * len(others))
    return all(any(equal(item, other) for other in others) for item in items)


def set_intersects(items: list[Value], others: list[Value]) -> bool:
    """Whether the two lists share an element."""
    check_steps(len(items) * len(others))
    return any(equal(item, other) for item in items for other in others)


def is_zero(value: object) -> bool:
    """Whether a value is the zero of its type: null, false, 0, empty."""
    if value is None:
        return True
    if isinstance(value, (Timestamp, Duration)):
        return value.nanos == 0
    if isinstance(value, Optional):
        return not value.present
    if isinstance(value, (bool, int, float)):
        return value == 0
    return isinstance(value, (str, bytes, list, tuple, Mapping)) and len(value) == 0


def value_of(value: Optional) -> Value:
    """Return the value of the optional. Raises EvaluationError when it is empty."""
    if not value.present:
        raise EvaluationError("optional.none() has no value", "no_value")
    return value.value


def unwrap(values: list[Value]) -> list[Value]:
    """Return the values of a list of optionals, without the empty ones. Raises EvaluationError."""
    if not all(isinstance(item, Optional) for item in values):
        raise no_overload("optional.unwrap", values)
    return [item.value for item in values if item.present]


TABLE: Final[Table] = typed(
    {
        "distinct": (distinct, LIST),
        "flatten": (flatten, LIST, int),
        "lists.range": (make_range, int),
        "reverse": (reverse, (*LIST, str)),
        "slice": (cut, LIST, int, int),
        "sort": (lambda items: sort_by_keys(items, items), LIST),
        "first": (lambda items: Optional(items[0]) if items else NONE, LIST),
        "last": (lambda items: Optional(items[-1]) if items else NONE, LIST),
        "sets.contains": (lambda items, others: _all_in(others, items), LIST, LIST),
        "sets.equivalent": (lambda items, others: _all_in(items, others) and _all_in(others, items), LIST, LIST),
        "sets.intersects": (set_intersects, LIST, LIST),
        "optional.of": (Optional, object),
        "optional.none": (lambda: NONE,),
        "optional.ofNonZeroValue": (lambda value: NONE if is_zero(value) else Optional(value), object),
        "hasValue": (lambda optional: optional.present, Optional),
        "value": (value_of, Optional),
        "optional.unwrap": (unwrap, LIST),
        "unwrapOpt": (unwrap, LIST),
    }
)
