"""The simplest conditions, found in a program: what stands at a path, tested against constants.

Each is true for some values and false for others. A value of which it says neither (a bool among numbers, an absent
one) is left to the general closures, so that a fast path is right whenever it answers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.rows.building import FIRST_SLOT, FRAME, Building
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import INT_MAX, INT_MIN

_INEXACT: Final = 2**53  # from here on a double may stand for several integers
_MOST: Final = sys.float_info.max  # an exact score can't be compared with infinity
_MIRRORED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}
Keys: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """True for a number in [low, high], else false for one in [other_low, other_high]. `kind` is the constant's."""

    keys: Keys
    kind: type
    low: Any
    high: Any
    other_low: Any
    other_high: Any

    def negated(self) -> Number | None:
        """The leaf that is true where this one is false; equality with a number has none."""
        if self.low == self.high:
            return None
        return replace(self, low=self.other_low, high=self.other_high, other_low=self.low, other_high=self.high)


@dataclass(frozen=True, slots=True)
class Flag:
    """True for the bool `good`, false for the other one."""

    keys: Keys
    good: bool

    def negated(self) -> Flag:
        """The leaf that is true where this one is false."""
        return replace(self, good=not self.good)


@dataclass(frozen=True, slots=True)
class Text:
    """True for the text, false for any other value."""

    keys: Keys
    text: str

    def negated(self) -> Member:
        """The leaf that is true where this one is false."""
        return Member(self.keys, frozenset({self.text}), False)


@dataclass(frozen=True, slots=True)
class Member:
    """Whether a value is among the texts is as `wanted`; none but a text is."""

    keys: Keys
    texts: frozenset[str]
    wanted: bool

    def negated(self) -> Member:
        """The leaf that is true where this one is false."""
        return replace(self, wanted=not self.wanted)


@dataclass(frozen=True, slots=True)
class Items:
    """Whether what `asks` says of a list or a map (a method of a set of texts) is as `wanted`."""

    keys: Keys
    asks: Callable[[Iterable[Any]], bool]
    wanted: bool

    def negated(self) -> Items:
        """The leaf that is true where this one is false."""
        return replace(self, wanted=not self.wanted)


Leaf: TypeAlias = Number | Flag | Text | Member | Items


def three(keys: Keys) -> tuple[Any, Any, Any]:
    """The first three keys of a path, None where there are fewer."""
    first, second, third = (*keys, None, None, None)[:3]
    return first, second, third


def path_of(building: Building, number: int, mode: int) -> Keys | None:
    """The subscripts from the argument of `mode` to the value of a plain path, or None for anything else.

    They are interned, because a dict finds the very object it holds as a key faster than an equal one.
    """
    fields: list[str] = []
    nodes = building.program.nodes
    node = nodes[number]
    while node.op == "select":
        fields.append(sys.intern(node.value))
        node = nodes[node.args[0]]
    rest = tuple(reversed(fields))
    if node.op == "name" and len(node.value) == 1:
        name, more = node.value[0]
        path = (sys.intern(name), *map(sys.intern, more), *rest)
        return (0, *path) if mode == FRAME else path
    if node.op == "local":
        if mode != FRAME:
            return rest
        return None if node.value in building.bind_slots else (FIRST_SLOT + node.value, *rest)
    return None


def leaf_of(building: Building, number: int, mode: int) -> Leaf | None:
    """The node as a leaf, or None."""
    nodes = building.program.nodes
    node = nodes[number]
    if node.op == "not":
        leaf = leaf_of(building, node.args[0], mode)
        return None if leaf is None else leaf.negated()
    if node.op in ("name", "local", "select"):
        keys = path_of(building, number, mode)
        return None if keys is None else Flag(keys, True)
    if node.op in ("exists", "all"):
        return _items(building, number, mode)
    if node.op != "call" or len(node.args) != 2:
        return None
    if node.value == "@in":
        return _member(building, node, mode)
    if node.value not in _MIRRORED:
        return None
    left, right = (nodes[a] for a in node.args)
    if right.op == "const":
        return _comparison(building, node.args[0], node.value, right, mode)
    if left.op == "const":
        return _comparison(building, node.args[1], _MIRRORED[node.value], left, mode)
    return None


def _comparison(building: Building, operand: int, operator: str, constant: Node, mode: int) -> Leaf | None:
    node = building.program.nodes[operand]
    value = literal_value(constant.value)
    is_score = node.op == "call" and node.value == "score" and not building.program.strict and len(node.args) == 1
    keys = path_of(building, node.args[0] if is_score else operand, mode)
    if keys is None:
        return None
    if is_score:
        if value.__class__ is int:
            value = Score(value)
        if value.__class__ is not Score or not 0 <= value <= 1:
            return None
        double = float(value)
        if exact_pair(double) != (value.numerator, value.denominator):
            return None
        return _number(keys, operator, float, double, 0.0, 1.0)
    if value.__class__ is float and math.isfinite(value):
        return _number(keys, operator, float, value, -_MOST, _MOST)
    if value.__class__ is int:
        return _number(keys, operator, int, value, INT_MIN, INT_MAX)
    if operator in ("_==_", "_!=_") and value.__class__ is str:
        return Text(keys, value) if operator == "_==_" else Text(keys, value).negated()
    if operator in ("_==_", "_!=_") and value.__class__ is bool:
        return Flag(keys, value is (operator == "_==_"))
    return None


def _number(keys: Keys, operator: str, kind: type, bound: Any, least: Any, most: Any) -> Number | None:
    if abs(bound) >= _INEXACT:
        return None  # there an integer beside a double counts as the nearest double, which Python's order does not know
    if kind is int:
        above, below = bound + 1, bound - 1
    else:
        above, below = math.nextafter(bound, math.inf), math.nextafter(bound, -math.inf)
    true_and_false = {
        "_<_": (least, below, bound, most),
        "_<=_": (least, bound, above, most),
        "_>_": (above, most, least, bound),
        "_>=_": (bound, most, least, below),
        "_==_": (bound, bound, least, most),
    }
    ranges = true_and_false.get(operator)
    if ranges is None or ranges[0] > ranges[1] or ranges[2] > ranges[3]:
        return None
    return Number(keys, kind, *ranges)


def _member(building: Building, node: Node, mode: int) -> Leaf | None:
    """`path in ['a', 'b']` or `'a' in path`."""
    item, items = node.args
    keys, texts = path_of(building, item, mode), _texts_of(building, items)
    if keys is not None and texts is not None:
        return Member(keys, texts, True)
    keys, text = path_of(building, items, mode), _text_of(building.program.nodes[item])
    return None if keys is None or text is None else Items(keys, frozenset({text}).isdisjoint, False)


def _items(building: Building, number: int, mode: int) -> Items | None:
    """`path.exists(t, t == 'a')`, `path.all(t, t in ['a', 'b'])`, and the like."""
    node = building.program.nodes[number]
    keys, inner = path_of(building, node.args[0], mode), building.bodies[number, mode]
    leaf = leaf_of(building, node.args[1], inner) if [inner] == list(node.value) else None
    if isinstance(leaf, Text):
        leaf = Member(leaf.keys, frozenset({leaf.text}), True)
    if keys is None or not isinstance(leaf, Member) or leaf.keys:
        return None
    asks = leaf.texts.isdisjoint if leaf.wanted is (node.op == "exists") else leaf.texts.issuperset
    return Items(keys, asks, node.op == "all")


def _text_of(node: Node) -> str | None:
    value = literal_value(node.value) if node.op == "const" else None
    return value if value.__class__ is str else None


def _texts_of(building: Building, number: int) -> frozenset[str] | None:
    """The texts of a list that holds nothing else, written as a constant or item by item."""
    nodes = building.program.nodes
    node = nodes[number]
    items: list[Any] = [None]
    if node.op == "const":
        value = literal_value(node.value)
        items = value if value.__class__ is list else items
    elif node.op == "list" and not node.value:
        items = [_text_of(nodes[a]) for a in node.args]
    return frozenset(items) if all(item.__class__ is str for item in items) else None
