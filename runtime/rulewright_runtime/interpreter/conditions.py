"""Simple conditions in a program: tests of the value at a path against constants.

Each is true for some values and false for others. Any other value (a bool instead of a number, an absent one) is left
to the general closures, so that a fused closure is right whenever it returns.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from operator import truth
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from rulewright_runtime.interpreter.closures import FIRST_SLOT, Layout
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import INT_MAX, INT_MIN, Value

_INEXACT: Final = 2**53  # from here on a double may represent several integers
_MOST: Final = sys.float_info.max  # an exact score can't be compared with infinity
_MIRRORED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}
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
        """The opposite condition."""
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
    if node.value in _MIRRORED and nodes[right].op == "const":
        return _comparison(layout, left, node.value, nodes[right])
    if node.value in _MIRRORED and nodes[left].op == "const":
        return _comparison(layout, right, _MIRRORED[node.value], nodes[left])
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
