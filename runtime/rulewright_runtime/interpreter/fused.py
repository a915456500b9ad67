"""Fused closures for the common forms of conditions: a path, a chain of simple conditions, a choice after one, and a
search for a record. Each exists because a measured expression is slower without it (docs/benchmarks.md).

A fused closure returns only values that it can decide; for others (absent, or of another type) it calls the general
closure of the same node. Expressions have no side effects, so evaluating twice is always sound.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from operator import truth
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter.closures import FIRST_SLOT, Closure, Layout
from rulewright_runtime.ir import MIRRORED, Node, literal_value
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import INT_MAX, INT_MIN, Value

_INEXACT: Final = 2**53  # from here on a double may represent several integers
_MOST: Final = sys.float_info.max  # an exact score can't be compared with infinity
Keys: TypeAlias = tuple[Value, ...]  # the subscripts from a closure's argument to a value


class Number(msgspec.Struct, frozen=True):
    """True for a number in [low, high], false for any other in [other_low, other_high]."""

    keys: Keys
    low: Value
    high: Value
    other_low: Value
    other_high: Value

    def negated(self) -> Number | None:
        """The opposite condition; None for equality with a number."""
        if self.low == self.high:
            return None
        return replace(self, low=self.other_low, high=self.other_high, other_low=self.low, other_high=self.high)


class Test(msgspec.Struct, frozen=True):
    """True if `asks(value)` equals `expected`, for a value of the type `kind`. For a text, `asks` tests membership in
    `texts`; values of other types are left to the general closure."""

    keys: Keys
    kind: type
    expected: bool
    asks: Callable[[Value], bool]
    texts: frozenset[str] = frozenset()

    def negated(self) -> Test:
        return replace(self, expected=not self.expected)


Condition: TypeAlias = Number | Test


def path_of(layout: Layout, number: int) -> Keys | None:
    """The subscripts to the value of a plain path; None for any other node.

    They are interned, because a dict finds an identical key faster than an equal one.
    """
    fields: list[str] = []
    node = layout.program.nodes[number]
    while node.op == "select":
        fields.insert(0, sys.intern(node.value))
        node = layout.program.nodes[node.args[0]]
    if node.op == "name" and len(node.value) == 1:
        name, more = node.value[0]
        path = (sys.intern(name), *map(sys.intern, more), *fields)
        return (0, *path) if layout.framed else path
    if node.op == "local" and node.value not in layout.lazy:
        return (FIRST_SLOT + node.value, *fields)
    return None


def condition_of(layout: Layout, number: int) -> Condition | None:
    """The node as a simple condition, or None."""
    nodes = layout.program.nodes
    node = nodes[number]
    if node.op == "not":
        inner = condition_of(layout, node.args[0])
        return None if inner is None else inner.negated()
    if node.op in ("name", "local", "select"):
        keys = path_of(layout, number)
        return None if keys is None else Test(keys, bool, True, truth)
    if node.op in ("exists", "all"):
        return _items(layout, node)
    if node.op != "call" or len(node.args) != 2:
        return None
    left, right = node.args
    if node.value == "@in":
        return _member(layout, left, right)
    if node.value in MIRRORED and nodes[right].op == "const":
        return _comparison(layout, left, node.value, nodes[right])
    if node.value in MIRRORED and nodes[left].op == "const":
        return _comparison(layout, right, MIRRORED[node.value], nodes[left])
    return None


def _comparison(layout: Layout, operand: int, operator: str, constant: Node) -> Condition | None:
    node, value = layout.program.nodes[operand], literal_value(constant.value)
    is_score = node.op == "call" and node.value == "score" and not layout.program.strict and len(node.args) == 1
    keys = path_of(layout, node.args[0] if is_score else operand)
    if keys is None:
        return None
    if is_score:
        exact = Score(value) if value.__class__ is int else value
        if exact.__class__ is not Score or not 0 <= exact <= 1:
            return None
        double = float(exact)
        is_double = exact_pair(double) == (exact.numerator, exact.denominator)
        return _number(keys, operator, double, 0.0, 1.0) if is_double else None
    if value.__class__ is int or (value.__class__ is float and math.isfinite(value)):
        return _number(keys, operator, value, *((INT_MIN, INT_MAX) if value.__class__ is int else (-_MOST, _MOST)))
    if operator not in ("_==_", "_!=_") or value.__class__ not in (str, bool):
        return None
    equal = operator == "_==_"
    return (
        _among(keys, frozenset({value}), equal) if value.__class__ is str else Test(keys, bool, value is equal, truth)
    )


def _number(keys: Keys, operator: str, bound: Value, least: Value, most: Value) -> Number | None:
    if abs(bound) >= _INEXACT:
        return None  # CEL compares such an integer as the nearest double, Python exactly
    whole = bound.__class__ is int
    above, below = (bound + 1, bound - 1) if whole else (math.nextafter(bound, end) for end in (math.inf, -math.inf))
    ranges = {
        "_<_": (least, below, bound, most),
        "_<=_": (least, bound, above, most),
        "_>_": (above, most, least, bound),
        "_>=_": (bound, most, least, below),
        "_==_": (bound, bound, least, most),
    }.get(operator)
    if ranges is None or ranges[0] > ranges[1] or ranges[2] > ranges[3]:
        return None
    return Number(keys, *ranges)


def _member(layout: Layout, item: int, items: int) -> Condition | None:
    """`path in ['a', 'b']` or `'a' in path`."""
    keys, texts = path_of(layout, item), _texts_of(layout, items)
    if keys is not None and texts is not None:
        return _among(keys, texts, True)
    keys, text = path_of(layout, items), _text_of(layout.program.nodes[item])
    return None if keys is None or text is None else Test(keys, list, False, frozenset({text}).isdisjoint)


def _items(layout: Layout, node: Node) -> Test | None:
    """`path.exists(t, t == 'a')`, `path.all(t, t in ['a', 'b'])`, and the like."""
    keys, element = path_of(layout, node.args[0]), condition_of(layout, node.args[1])
    if keys is None or len(node.value) != 1 or not isinstance(element, Test):
        return None
    if element.kind is not str or element.keys != (FIRST_SLOT + node.value[0],):
        return None
    asks = element.texts.isdisjoint if element.expected is (node.op == "exists") else element.texts.issuperset
    return Test(keys, list, node.op == "all", asks)


def _among(keys: Keys, texts: frozenset[str], expected: bool) -> Test:
    return Test(keys, str, expected, texts.__contains__, texts)


def _text_of(node: Node) -> str | None:
    value = literal_value(node.value) if node.op == "const" else None
    return value if value.__class__ is str else None


def _texts_of(layout: Layout, number: int) -> frozenset[str] | None:
    """The texts of a list of texts, written as a constant or item by item; None for any other node."""
    node = layout.program.nodes[number]
    items: Value = None
    if node.op == "const":
        items = literal_value(node.value)
    elif node.op == "list" and not node.value:
        items = [_text_of(layout.program.nodes[a]) for a in node.args]
    is_texts = items.__class__ is list and all(item.__class__ is str for item in items)
    return frozenset(items) if is_texts else None


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
