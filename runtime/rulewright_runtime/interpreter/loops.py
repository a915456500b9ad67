"""The operations that bind variables: quantifiers and comprehensions, `bind`, maps of optionals, sorting by a key.

A loop stores each step in its slots and evaluates its body on the frame. Every loop runs over pairs: a single variable
is the second of the pair, and the first is stored in a slot that is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.lists import sort_by_keys
from rulewright_runtime.functions.table import MAX_STEPS, check_list
from rulewright_runtime.interpreter.closures import (
    FIRST_SLOT,
    UNUSED,
    Builder,
    Closure,
    Failed,
    Layout,
    absorbed,
    deciding,
)
from rulewright_runtime.ir import Node
from rulewright_runtime.values import NONE, Optional, Value, make_map, no_overload

_Pairs: TypeAlias = Callable[[Value], Iterable[tuple[Value, Value]]]


def take_steps(frame: list[Value], count: int) -> None:
    """Subtract `count` from the frame's remaining steps. Raises EvaluationError if it has fewer."""
    frame[1] -= count
    if frame[1] < 0:
        raise EvaluationError(f"more than {MAX_STEPS} steps in loops", "limit")


def _pairs(node: Node, over: Closure) -> tuple[_Pairs, int, int]:
    """The pairs that a loop runs over, and their two frame indices: index and element of a list, key and value of a
    map; with one variable the elements of a list or the keys of a map."""
    two = len(node.value) == 2
    first, second = (FIRST_SLOT + slot for slot in node.value) if two else (UNUSED, FIRST_SLOT + node.value[0])

    def pairs(frame: Value) -> Iterable[tuple[Value, Value]]:
        value = over(frame)
        is_map = isinstance(value, Mapping)
        if not is_map and not isinstance(value, (list, tuple)):
            raise no_overload("a loop", value)
        take_steps(frame, len(value))
        return value.items() if is_map and two else enumerate(value)

    return pairs, first, second


def _test(body: Closure, name: str) -> Closure:
    def test(frame: Value) -> bool:
        value = body(frame)
        if value is True or value is False:
            return value is True
        raise no_overload(name, value)

    return test


def _quantifier(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (pairs, first, second), body = _pairs(node, args[0]), args[1]

    def ask(frame: Value, step: Value) -> Value:
        frame[first], frame[second] = step
        return body(frame)

    decide = deciding(node.op, node.op == "exists", ask)
    return lambda frame: decide(frame, pairs(frame))


def _exists_one(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (pairs, first, second), test = _pairs(node, args[0]), _test(args[1], "exists_one")
    return lambda frame: sum([test(frame) for frame[first], frame[second] in pairs(frame)]) == 1


def _filter(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (pairs, first, second), test = _pairs(node, args[0]), _test(args[1], "filter")
    return lambda frame: [frame[second] for frame[first], frame[second] in pairs(frame) if test(frame)]


def _tested(args: list[Closure], name: str) -> tuple[Closure, Closure]:
    """The filter of a comprehension (always true if it has none) and its body."""
    return (_test(args[1], name), args[2]) if len(args) == 3 else (lambda _: True, args[1])


def _map_list(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    pairs, first, second = _pairs(node, args[0])
    test, body = _tested(args, "map")
    return lambda frame: [body(frame) for frame[first], frame[second] in pairs(frame) if test(frame)]


def _map_values(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    pairs, first, second = _pairs(node, args[0])
    test, body = _tested(args, "transformMap")
    if len(node.value) != 2:
        return _refused
    return lambda frame: make_map(
        [(frame[first], body(frame)) for frame[first], frame[second] in pairs(frame) if test(frame)]
    )


def _refused(_: Value) -> Value:
    raise EvaluationError("`map_values` binds two variables", "no_such_overload")


def _map_entries(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    pairs, first, second = _pairs(node, args[0])
    test, body = _tested(args, "transformMapEntry")

    def collect(frame: Value) -> object:
        entries, steps = list[tuple[Value, Value]](), pairs(frame)
        for frame[first], frame[second] in steps:
            if test(frame):
                entry = body(frame)
                if not isinstance(entry, Mapping):
                    raise no_overload("transformMapEntry", entry)
                entries.extend(entry.items())
                check_list(len(entries))
        return make_map(entries)

    return collect


def _sort_by(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (over, key), slot = args, FIRST_SLOT + node.value[0]

    def sort(frame: Value) -> list[Value]:
        items = over(frame)
        if not isinstance(items, (list, tuple)):
            raise no_overload("sortBy", items)
        take_steps(frame, len(items))
        return sort_by_keys(items, [key(frame) for frame[slot] in items])

    return sort


def _bind(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (bound, body), slot = args, FIRST_SLOT + node.value[0]

    def bind(frame: Value) -> object:
        try:
            frame[slot] = bound(frame)
        except EvaluationError as why:
            frame[slot] = Failed(absorbed(why))
        return body(frame)

    return bind


def _opt_map(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (operand, body), slot = args, FIRST_SLOT + node.value[0]
    name, flat = node.op, node.op == "opt_flat_map"

    def apply(frame: Value) -> object:
        value = operand(frame)
        if not isinstance(value, Optional):
            raise no_overload(name, value)
        if not value.present:
            return NONE
        frame[slot] = value.value
        result = body(frame)
        if not flat:
            return Optional(result)
        if not isinstance(result, Optional):
            raise no_overload("optFlatMap", result)
        return result

    return apply


LOOPS: Final[Mapping[str, Builder]] = {
    "all": _quantifier,
    "exists": _quantifier,
    "exists_one": _exists_one,
    "filter": _filter,
    "map_list": _map_list,
    "map_values": _map_values,
    "map_entries": _map_entries,
    "bind": _bind,
    "opt_map": _opt_map,
    "opt_flat_map": _opt_map,
    "sort_by": _sort_by,
}
