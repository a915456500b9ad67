"""CEL's lists and sets extensions."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table, check_list, check_steps
from rulewright_runtime.values import NONE, Optional, Value, comparable, equal, no_overload


def _lists(function: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, (list, tuple)):
            raise no_overload(function, *values)


def distinct(items: Value) -> list[object]:
    """Return the elements without duplicates."""
    _lists("distinct", items)
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


def flatten(items: Value, depth: object = 1) -> list[object]:
    """Replace elements that are lists by their elements, `depth` times."""
    _lists("flatten", items)
    if depth.__class__ is not int:
        raise no_overload("flatten", items, depth)
    if depth < 0:
        raise EvaluationError("flatten needs a depth of 0 or more", "invalid_argument")
    flat = list(items)
    while depth > 0 and any(isinstance(item, (list, tuple)) for item in flat):
        check_list(sum(len(item) if isinstance(item, (list, tuple)) else 1 for item in flat))
        flat = [leaf for item in flat for leaf in (item if isinstance(item, (list, tuple)) else (item,))]
        depth -= 1
    return flat


def make_range(count: object) -> list[int]:
    """Return the ints from 0 to `count` - 1."""
    if count.__class__ is not int:
        raise no_overload("lists.range", count)
    check_list(count)
    return list(range(count))


def reverse(value: Value) -> Value:
    """Return a list or a string in reverse order."""
    if not isinstance(value, (list, tuple, str)):
        raise no_overload("reverse", value)
    return value[::-1] if isinstance(value, str) else list(value[::-1])


def cut(items: Value, start: Value, end: Value) -> list[Value]:
    """Return the elements from `start` to `end` - 1."""
    _lists("slice", items)
    if start.__class__ is not int or end.__class__ is not int:
        raise no_overload("slice", items, start, end)
    if not 0 <= start <= end <= len(items):
        raise EvaluationError(f"can't cut {start} to {end} from a list of {len(items)}", "index_out_of_bounds")
    return list(items[start:end])


def sort_by_keys(items: Value, keys: Value) -> list[object]:
    """Sort items by their keys, which must be of one ordered type; the sort is stable."""
    pairs = list(zip(keys, items, strict=True))
    if pairs:
        first = keys[0]
        for key in keys:
            if key.__class__ is not first.__class__ or not comparable(first, key):
                raise EvaluationError("the elements to sort must be of one type that has an order", "no_such_overload")
    return [item for _, item in sorted(pairs, key=cmp_to_key(_compare))]


def _compare(left: tuple[Value, Value], right: tuple[Value, Value]) -> int:
    return int(left[0] > right[0]) - int(left[0] < right[0])


def sort(items: Value) -> list[Value]:
    """Return the elements, which must be of one ordered type, in ascending order."""
    _lists("sort", items)
    return sort_by_keys(items, items)


def first(items: Value) -> Optional:
    """Return the first element, or `optional.none()`."""
    _lists("first", items)
    return Optional(items[0]) if items else NONE


def last(items: Value) -> Optional:
    """Return the last element, or `optional.none()`."""
    _lists("last", items)
    return Optional(items[-1]) if items else NONE


def _all_in(items: Value, others: Value) -> bool:
    check_steps(len(items) * len(others))
    return all(any(equal(item, other) for other in others) for item in items)


def set_contains(items: object, others: object) -> bool:
    """Whether every element of `others` is in `items`."""
    _lists("sets.contains", items, others)
    return _all_in(others, items)


def set_equivalent(items: object, others: object) -> bool:
    """Whether the two lists have the same elements, regardless of their counts."""
    _lists("sets.equivalent", items, others)
    return _all_in(items, others) and _all_in(others, items)


def set_intersects(items: Value, others: Value) -> bool:
    """Whether the two lists share an element."""
    _lists("sets.intersects", items, others)
    check_steps(len(items) * len(others))
    return any(equal(item, other) for item in items for other in others)


TABLE: Final[Table] = {
    "distinct": (distinct, 1, 1),
    "flatten": (flatten, 1, 2),
    "lists.range": (make_range, 1, 1),
    "reverse": (reverse, 1, 1),
    "slice": (cut, 3, 3),
    "sort": (sort, 1, 1),
    "first": (first, 1, 1),
    "last": (last, 1, 1),
    "sets.contains": (set_contains, 2, 2),
    "sets.equivalent": (set_equivalent, 2, 2),
    "sets.intersects": (set_intersects, 2, 2),
}
