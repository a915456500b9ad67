"""Fused closures for the common forms of conditions: a path, a chain of simple conditions, a choice after one, and a
search for a record. Each exists because a measured run is slower without it (docs/benchmarks.md).

A fused closure returns only values that it can decide; for others (absent, or of another type) it calls the general
closure of the same node. Expressions have no side effects, so evaluating twice is always sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter.closures import FIRST_SLOT, Closure, Layout
from rulewright_runtime.interpreter.conditions import Condition, Keys, Number, Test, condition_of, path_of
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.values import Value

_ABSENT: Final = (LookupError, TypeError)
_UNDECIDED: Final = (*_ABSENT, EvaluationError)
_MAX_CHAIN: Final = 8  # conditions in one chain, which are nested calls
_MAX_KEYS: Final = 3  # subscripts of a path
_NO_NUMBER: Final = Number((None,), 0.0, 0.0, 0.0, 0.0)


def fuse(layout: Layout, number: int, general: Closure, built: Sequence[Closure]) -> Closure | None:
    """The fused closure of a node, or None. `built` has the closures of the nodes before it."""
    op = layout.program.nodes[number].op
    if op in ("select", "name"):
        return _path(path_of(layout, number), general)
    if op == "cond":
        return _choice(layout, number, general, built)
    if op in ("and", "or", "not", "call", "all", "exists"):
        return _test(layout, number, general, built)
    return None


def _three(keys: Keys) -> tuple[object, object, object]:
    """The first three keys of a path, padded with None."""
    first, second, third = (*keys, None, None, None)[:3]
    return first, second, third


def _path(keys: Keys | None, general: Closure) -> Closure | None:
    if keys is None or len(keys) > _MAX_KEYS:
        return None
    first, second, third = _three(keys)

    def read(a: Value) -> Value:
        try:
            return a[first] if second is None else a[first][second] if third is None else a[first][second][third]
        except _ABSENT:
            return general(a)

    return read


def _parts(layout: Layout, number: int, op: str) -> list[Condition] | None:
    """The operands of `op`, `and` or `or`, as simple conditions (those of `or` negated); None if one is not simple. Any
    other node is its own only operand."""
    node = layout.program.nodes[number]
    simple: list[Condition] = []
    for operand in node.args if node.op == op else (number,):
        condition = condition_of(layout, operand)
        if condition is not None and op == "or":
            condition = condition.negated()
        if condition is None or len(condition.keys) > _MAX_KEYS or len(simple) == _MAX_CHAIN:
            return None
        simple.append(condition)
    return simple


def _test(layout: Layout, number: int, general: Closure, built: Sequence[Closure]) -> Closure | None:
    node = layout.program.nodes[number]
    op = "or" if node.op == "or" else "and"
    simple = _parts(layout, number, op)
    if simple is not None:
        return _chain(simple, None, op == "and", op == "or", general)
    return _search(layout, node, general, built) if node.op in ("all", "exists") else None


def _choice(layout: Layout, number: int, general: Closure, built: Sequence[Closure]) -> Closure | None:
    """`a || b ? constant : otherwise` and `a && b ? then : constant` as a chain, including nested choices of the same
    form and constant."""
    nodes = layout.program.nodes
    for op, stop, onward in (("or", 1, 2), ("and", 2, 1)):
        constant, here, simple = nodes[nodes[number].args[stop]], number, list[Condition]()
        while constant.op == "const" and nodes[here].op == "cond":
            args = nodes[here].args
            more = _parts(layout, args[0], op)
            same = nodes[args[stop]].op == "const" and nodes[args[stop]].value == constant.value
            if more is None or not same or len(simple) + len(more) > _MAX_CHAIN:
                break
            simple, here = simple + more, args[onward]
        if simple:
            last = nodes[here].op == "const"
            yes = literal_value(nodes[here].value) if last else None
            return _chain(simple, None if last else built[here], yes, literal_value(constant.value), general)
    return None


def _search(layout: Layout, node: Node, general: Closure, built: Sequence[Closure]) -> Closure | None:
    """`exists` and `all` with one variable over a list. A test of a text comes first, because few elements equal it and
    the others need no further test."""
    (over, body), hit = node.args, node.op == "exists"
    simple = _parts(layout, body, "and" if hit else "or")
    if len(node.value) != 1 or simple is None:
        return None
    slot = FIRST_SLOT + node.value[0]
    fields = [each for each in simple if isinstance(each, Test) and each.texts and each.keys[:-1] == (slot,)]
    text = min(fields, key=lambda each: (not each.expected, len(each.texts)), default=None)
    rest = _chain([each for each in simple if each is not text], None, hit, not hit, built[body])
    return _search_loop(built[over], slot, text, rest, hit, general)


def _search_loop(
    over: Closure, slot: int, text: Test | None, rest: Closure | None, hit: bool, general: Closure
) -> Closure:
    """An element decides if its text test passes and `rest` returns `hit`."""
    key, expected, among = (text.keys[1], text.expected, text.texts) if text else (None, True, ())

    def decide(frame: Value) -> Value:
        try:
            items = over(frame)
            if items.__class__ is list and len(items) <= frame[1]:
                frame[1] -= len(items)
                for item in items:
                    if key is None or (item[key] in among) is expected:
                        frame[slot] = item
                        if rest is None or rest(frame) is hit:
                            return hit
                return not hit
        except _UNDECIDED:
            pass
        return general(frame)

    return decide


def _chain(
    simple: Sequence[Condition], rest: Closure | None, yes: Value, no: Value, general: Closure
) -> Closure | None:
    """The closure that returns `no` if a condition is false, else `yes` or the value of `rest`. Conditions are tested
    in order: the first of two choices must be decided before the second."""
    groups: list[list[Value]] = []
    for each in simple:
        last = groups[-1] if groups else [None]
        numbers = isinstance(each, Number) and isinstance(last[0], Number) and last[0].keys[:-1] == each.keys[:-1]
        if numbers and len(last) < 3:
            last.append(each)
        else:
            groups.append([each])
    for group in reversed(groups):
        closure = _single_test if isinstance(group[0], Test) else _numbers
        rest = closure(group, rest, yes, no, general)
    return rest


def _numbers(numbers: Sequence[Number], rest: Closure | None, yes: Value, no: Value, general: Closure) -> Closure:
    """One to three numbers of one record. Python treats a bool as a number, so it is ruled out by identity."""
    first, second, _ = _three(numbers[0].keys[:-1])
    three = (*numbers, _NO_NUMBER, _NO_NUMBER)[:3]
    key, key_2, key_3 = (each.keys[-1] for each in three)
    (low, high), (low_2, high_2), (low_3, high_3) = ((each.low, each.high) for each in three)
    false, false_2, false_3 = ((each.other_low, each.other_high) for each in three)

    def test(a: Value) -> Value:
        try:
            record = a if first is None else a[first] if second is None else a[first][second]
            v, other = record[key], false
            if low <= v <= high and v is not True and v is not False:
                if key_2 is None:
                    return yes if rest is None else rest(a)
                v, other = record[key_2], false_2
                if low_2 <= v <= high_2 and v is not True and v is not False:
                    if key_3 is None:
                        return yes if rest is None else rest(a)
                    v, other = record[key_3], false_3
                    if low_3 <= v <= high_3 and v is not True and v is not False:
                        return yes if rest is None else rest(a)
            under, over = other
            if under <= v <= over and v is not True and v is not False:
                return no
        except _ABSENT:
            pass
        return general(a)

    return test


def _single_test(tests: Sequence[Test], rest: Closure | None, yes: object, no: object, general: Closure) -> Closure:
    """One test of a text, a bool or a list."""
    (test,) = tests
    first, second, third = _three(test.keys)
    kind, asks, expected = test.kind, test.asks, test.expected

    def ask(a: Value) -> Value:
        try:
            v = a[first] if second is None else a[first][second] if third is None else a[first][second][third]
            if v.__class__ is kind:
                if asks(v) is not expected:
                    return no
                return yes if rest is None else rest(a)
        except _ABSENT:
            pass
        return general(a)

    return ask
