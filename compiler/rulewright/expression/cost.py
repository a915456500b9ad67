"""Bounds on the work an expression can do, from hints how large its inputs are.

The unit is one step: a name read, an operator applied, ten characters of a text looked at. Loops cost their body times
the size of their range. An input without a hint has no upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rulewright.expression.nodes import (
    Binary,
    Call,
    Conditional,
    Expr,
    Has,
    Index,
    ListLiteral,
    Literal,
    Macro,
    MapLiteral,
    Name,
    Select,
    children,
)

UNBOUNDED: Final = math.inf
_PER_CHARACTER: Final = 0.1
_BY_LENGTH: Final = frozenset(
    ("contains", "startsWith", "endsWith", "matches", "indexOf", "lastIndexOf", "replace", "split", "lowerAscii",
     "upperAscii", "trim", "reverse", "join", "format", "contains_ci", "substring_ci", "sum", "mean", "wmean", "min",
     "max", "quantile", "share", "distinct", "sort", "flatten", "slice")
)  # fmt: skip
_KEEPS_SIZE: Final = frozenset(("reverse", "sort", "lowerAscii", "upperAscii", "distinct", "trim", "string", "slice"))


@dataclass(frozen=True, slots=True)
class Bounds:
    """At least and at most; `UNBOUNDED` when nothing is known."""

    least: float
    most: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.least + other.least, self.most + other.most)

    def times(self, other: Bounds) -> Bounds:
        """The product; nothing times anything is nothing."""
        most = 0.0 if 0 in (self.most, other.most) else self.most * other.most
        return Bounds(self.least * other.least, most)

    def either(self, other: Bounds) -> Bounds:
        """What holds whichever of the two it is."""
        return Bounds(min(self.least, other.least), max(self.most, other.most))


_NOTHING: Final = Bounds(0, 0)
_STEP: Final = Bounds(1, 1)
_UNKNOWN: Final = Bounds(0, UNBOUNDED)


def cost(expr: Expr, sizes: Mapping[str, int | tuple[int, int]]) -> Bounds:
    """The least and the most steps one evaluation of `expr` takes.

    `sizes` maps a path to the largest number of elements or characters it holds, or to the least and the largest;
    `"items[]"` speaks of each element of `items`.
    """
    hints = {path: Bounds(*size) if isinstance(size, tuple) else Bounds(0, size) for path, size in sizes.items()}
    return _Costing(hints, {}).cost(expr)


class _Costing:
    def __init__(self, hints: Mapping[str, Bounds], paths: Mapping[str, str]) -> None:
        self.hints = hints
        self.paths = paths  # a bound variable: the path of what it stands for

    def cost(self, e: Expr) -> Bounds:
        """The steps that `e` takes."""
        match e:
            case Literal():
                return _NOTHING
            case Name():
                return _STEP
            case Binary(operator="&&" | "||"):
                return Bounds(min(self.cost(e.left).least, self.cost(e.right).least), self._parts(e).most)
            case Conditional():
                return self.cost(e.condition) + self.cost(e.then).either(self.cost(e.otherwise))
            case Macro():
                return self._macro(e)
            case Binary(operator="in"):
                return self._parts(e) + Bounds(1, max(1, self.size(e.right).most))
            case Binary(operator="==" | "!=" | "<" | "<=" | ">" | ">="):
                shorter = min(self.size(e.left).most, self.size(e.right).most)
                return self._parts(e) + Bounds(1, max(1, shorter * _PER_CHARACTER))
            case Call() if e.function in _BY_LENGTH:
                subject = e.target if e.target is not None else e.args[0] if e.args else None
                length = _UNKNOWN if subject is None else self.size(subject)
                return self._parts(e) + Bounds(1, 1 + length.most * _PER_CHARACTER)
        return _STEP + self._parts(e)

    def _parts(self, e: Expr) -> Bounds:
        total = _NOTHING
        for part in children(e):
            total += self.cost(part)
        return total

    def _macro(self, e: Macro) -> Bounds:
        target = self.cost(e.target)
        inner = self._inside(e)
        body = _NOTHING
        for part in e.bodies:
            body += inner.cost(part)
        if e.kind == "bind":
            return Bounds(0, target.most) + body
        if e.kind in ("optMap", "optFlatMap"):
            return target + Bounds(0, body.most)
        rounds = self.size(e.target)
        if e.kind in ("all", "exists"):
            rounds = Bounds(min(rounds.least, 1), rounds.most)
        return target + _STEP + rounds.times(body + _STEP)

    def _inside(self, e: Macro) -> _Costing:
        """How the body sees its variables: the last one is an element, and a bound name stands for its value."""
        path = self.path(e.target)
        own = dict.fromkeys(e.variables, "")
        if path:
            own[e.variables[-1]] = path if e.kind in ("bind", "optMap", "optFlatMap") else f"{path}[]"
        return _Costing(self.hints, {**self.paths, **own})

    def path(self, e: Expr) -> str:
        """The path that `e` reads, as hints name it; empty when it is none."""
        match e:
            case Name():
                return self.paths.get(e.name, e.name)
            case Select():
                inner = self.path(e.operand)
                return f"{inner}.{e.field}" if inner else ""
            case Index():
                inner = self.path(e.operand)
                return f"{inner}[]" if inner else ""
            case Macro(kind="filter" | "sortBy"):
                return self.path(e.target)
        return ""

    def size(self, e: Expr) -> Bounds:
        """How many elements or characters `e` has; 1 for what has none."""
        match e:
            case Literal(value=value):
                length = len(value) if isinstance(value, (str, bytes)) else 1
                return Bounds(length, length)
            case ListLiteral():
                return Bounds(len(e.items) - len(e.optional), len(e.items))
            case MapLiteral():
                return Bounds(min(1, len(e.entries)), len(e.entries))
            case Macro(kind="filter"):
                return Bounds(0, self.size(e.target).most)
            case Macro(kind="map" | "transformList" | "transformMap" | "transformMapEntry" | "sortBy"):
                size = self.size(e.target)
                return size if len(e.bodies) == 1 else Bounds(0, size.most)
            case Macro(kind="bind"):
                return self._inside(e).size(e.bodies[0])
            case Macro() | Has():
                return Bounds(1, 1)
            case Conditional():
                return self.size(e.then).either(self.size(e.otherwise))
            case Binary(operator="+"):
                return self.size(e.left) + self.size(e.right)
            case Binary():
                return Bounds(1, 1)
            case Call() if e.function in _KEEPS_SIZE:
                subject = e.target if e.target is not None else e.args[0] if e.args else None
                return _UNKNOWN if subject is None else Bounds(0, self.size(subject).most)
        return self.hints.get(self.path(e), _UNKNOWN)
