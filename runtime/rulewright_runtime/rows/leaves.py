"""The simplest conditions, found in a program: a path compared with a constant, as a closed range of one Python type.

Comparisons, equality and truth all have that shape: `x >= 0.8` asks for a float in [0.8, inf], `d == 'GO'` for a str in
['GO', 'GO'], `b` for a bool in [True, True]. A value of another type, or in neither range, is left to the general
closures, so that a fast path is right whenever it answers.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Final

from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.rows.building import FIRST_SLOT, FRAME, Building
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import INT_MAX, INT_MIN

_INEXACT: Final = 2**53  # from here on a double may stand for several integers
_MIRRORED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}


@dataclass(frozen=True, slots=True)
class Leaf:
    """True when the value at `keys` is a `kind` in [low, high], false when it is one in [other_low, other_high].

    `test` says how to find out: `r` a range of numbers, `t` a bool, `e` a text that equals `low` (any other value is
    unequal, whatever its type), `d` one that differs from it.
    """

    test: str
    keys: tuple[Any, ...]
    kind: type
    low: Any
    high: Any
    other_low: Any
    other_high: Any


@dataclass(frozen=True, slots=True)
class Member:
    """True when the value at `keys` is one of the texts."""

    keys: tuple[Any, ...]
    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Holder:
    """True when the list or map at `keys` holds one of the texts."""

    keys: tuple[Any, ...]
    texts: frozenset[str]


def path_of(building: Building, number: int, mode: int) -> tuple[Any, ...] | None:
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
    """The node as a `Leaf`, or None."""
    nodes = building.program.nodes
    node = nodes[number]
    if node.op == "not":
        keys = path_of(building, node.args[0], mode)
        return None if keys is None else Leaf("t", keys, bool, False, False, True, True)
    if node.op in ("name", "local", "select"):
        keys = path_of(building, number, mode)
        return None if keys is None else Leaf("t", keys, bool, True, True, False, False)
    if node.op != "call" or node.value not in _MIRRORED:
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
        return _number(keys, operator, float, value, -math.inf, math.inf)
    if value.__class__ is int:
        return _number(keys, operator, int, value, INT_MIN, INT_MAX)
    if operator in ("_==_", "_!=_") and value.__class__ is str:
        return Leaf("e" if operator == "_==_" else "d", keys, str, value, value, "", "")
    if operator in ("_==_", "_!=_") and value.__class__ is bool:
        wanted = value is (operator == "_==_")
        return Leaf("t", keys, bool, wanted, wanted, not wanted, not wanted)
    return None


def _number(keys: tuple[Any, ...], operator: str, kind: type, bound: Any, least: Any, most: Any) -> Leaf | None:
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
    return Leaf("r", keys, kind, *ranges)


def _texts(node: Node) -> frozenset[str] | None:
    if node.op != "const":
        return None
    value = literal_value(node.value)
    if isinstance(value, list) and all(item.__class__ is str for item in value):
        return frozenset(value)
    return None


def member_of(building: Building, number: int, mode: int) -> Member | None:
    """`path in ['a', 'b']`, or None."""
    nodes = building.program.nodes
    node = nodes[number]
    if node.op != "call" or node.value != "@in":
        return None
    texts = _texts(nodes[node.args[1]]) if nodes[node.args[1]].op == "const" else _list_of(building, node.args[1])
    keys = path_of(building, node.args[0], mode)
    return None if texts is None or keys is None else Member(keys, texts)


def _list_of(building: Building, number: int) -> frozenset[str] | None:
    nodes = building.program.nodes
    node = nodes[number]
    if node.op != "list" or node.value:
        return None
    found = [literal_value(nodes[a].value) if nodes[a].op == "const" else None for a in node.args]
    texts = frozenset(item for item in found if item.__class__ is str)
    return texts if all(item.__class__ is str for item in found) else None


def holder_of(building: Building, number: int, mode: int) -> Holder | None:
    """`'a' in path`, `path.exists(t, t == 'a')`, `path.exists(t, t in ['a', 'b'])`, or None."""
    nodes = building.program.nodes
    node = nodes[number]
    if node.op == "call" and node.value == "@in":
        first = nodes[node.args[0]]
        text = literal_value(first.value) if first.op == "const" else None
        keys = path_of(building, node.args[1], mode)
        return Holder(keys, frozenset({text})) if text.__class__ is str and keys is not None else None
    if node.op != "exists" or len(node.value) != 1:
        return None
    keys, inner = path_of(building, node.args[0], mode), node.value[0]
    if keys is None or building.bodies[number, mode] != inner:
        return None
    leaf = leaf_of(building, node.args[1], inner)
    if leaf is not None and leaf.keys == () and leaf.test == "e":
        return Holder(keys, frozenset({leaf.low}))
    member = member_of(building, node.args[1], inner)
    return Holder(keys, member.texts) if member is not None and member.keys == () else None
