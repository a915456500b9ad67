"""CEL's lists and sets extensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import LIST, Table, check_list, check_steps, typed
from rulewright_runtime.values import NONE, Optional, Value, comparable, equal


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
    """Replace elements that are lists by their elements, `depth` times."""
    if depth < 0:
        raise EvaluationError("flatten needs a depth of 0 or more", "invalid_argument")
    flat = list(items)
    while depth > 0 and any(isinstance(item, (list, tuple)) for item in flat):
        check_list(sum(len(item) if isinstance(item, (list, tuple)) else 1 for item in flat))
        flat = [leaf for item in flat for leaf in (item if isinstance(item, (list, tuple)) else (item,))]
        depth -= 1
    return flat


def make_range(count: int) -> list[int]:
    """Return the ints from 0 to `count` - 1."""
    check_list(count)
    return list(range(count))


def reverse(value: Value) -> Value:
    """Return a list or a string in reverse order."""
    return value[::-1] if isinstance(value, str) else list(value[::-1])


def cut(items: list[Value], start: int, end: int) -> list[Value]:
    """Return the elements from `start` to `end` - 1."""
    if not 0 <= start <= end <= len(items):
        raise EvaluationError(f"can't cut {start} to {end} from a list of {len(items)}", "index_out_of_bounds")
    return list(items[start:end])


def sort_by_keys(items: Sequence[Value], keys: Sequence[Value]) -> list[object]:
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


def _all_in(items: list[Value], others: list[Value]) -> bool:
    check_steps(len(items) * len(others))
    return all(any(equal(item, other) for other in others) for item in items)


def set_intersects(items: list[Value], others: list[Value]) -> bool:
    """Whether the two lists share an element."""
    check_steps(len(items) * len(others))
    return any(equal(item, other) for item in items for other in others)


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
    }
)
