"""Decompiles a program to the syntax that a person would write, so that any program can be printed.

Programs don't contain the names of bound variables; they become `x`, `y`, `z`. Nodes that lowering added, such as the
conversion to a score, are left out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from rulewright.expression.declarations import profile_functions
from rulewright.expression.syntax_tree import (
    NOWHERE,
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
    Unary,
    dotted,
)
from rulewright_runtime.functions.times import format_duration, format_timestamp
from rulewright_runtime.ir import Node, Program, literal_value
from rulewright_runtime.values import UInt, Value

_LETTERS: Final = "xyzuvw"
_MACROS: Final = {
    ("map_list", 1): "map", ("map_list", 2): "transformList",
    ("map_values", 2): "transformMap", ("map_entries", 2): "transformMapEntry",
    ("opt_map", 1): "optMap", ("opt_flat_map", 1): "optFlatMap", ("sort_by", 1): "sortBy",
}  # fmt: skip
# Functions written as methods. Those left out can be called both ways; the seed documents write them as functions.
_METHODS: Final = frozenset(
    name for name, overloads in profile_functions().items() if any(o.method for o in overloads)
) - {"size", "contains_ci", "substring_ci"}


def decompile(program: Program) -> Expr:
    """The syntax tree of `program`; lowering it again gives a program with the same meaning."""
    taken = {part for n in program.nodes if n.op == "name" for full, _ in n.value for part in full.split(".")}
    decompiler = _Decompiler(program.nodes, taken)
    return decompiler.expr(len(program.nodes) - 1)


class _Decompiler:
    def __init__(self, nodes: Sequence[Node], taken: set[str]) -> None:
        self.nodes = nodes
        self.taken = taken

    def expr(self, index: int) -> Expr:
        """The syntax tree of one node."""
        node = self.nodes[index]
        if node.op in _BY_OPERATION:
            return _BY_OPERATION[node.op](self, node)
        if not node.at and node.op in ("map_list", "map_values", "opt_map"):
            return self.expr(node.args[0])
        return self.macro(node)

    def variable(self, slot: int) -> str:
        """The name of the variable bound in a slot, which differs from every name that the program reads."""
        name = _LETTERS[slot] if slot < len(_LETTERS) else f"x{slot}"
        while name in self.taken:
            name += "_"
        return name

    def const(self, node: Node) -> Expr:
        return written(node.value)

    def name(self, node: Node) -> Expr:
        full, fields = node.value[-1]
        return dotted(*full.split("."), *fields)

    def local(self, node: Node) -> Expr:
        return Name(self.variable(node.value), NOWHERE)

    def select(self, node: Node) -> Expr:
        return Select(self.expr(node.args[0]), node.value, NOWHERE, node.op == "opt_select")

    def has(self, node: Node) -> Expr:
        return Has(self.expr(node.args[0]), node.value, NOWHERE)

    def index(self, node: Node) -> Expr:
        return Index(self.expr(node.args[0]), self.expr(node.args[1]), NOWHERE, node.op == "opt_index")

    def list(self, node: Node) -> Expr:
        return ListLiteral(tuple([self.expr(a) for a in node.args]), NOWHERE, tuple(node.value or ()))

    def map(self, node: Node) -> Expr:
        parts = [self.expr(a) for a in node.args]
        return MapLiteral(tuple(zip(parts[::2], parts[1::2], strict=True)), NOWHERE, tuple(node.value or ()))

    def logic(self, node: Node) -> Expr:
        operator = "&&" if node.op == "and" else "||"
        first, *rest = [self.expr(a) for a in node.args]
        for operand in rest:
            first = Binary(operator, first, operand, NOWHERE)
        return first

    def negation(self, node: Node) -> Expr:
        return Unary("!", self.expr(node.args[0]), NOWHERE)

    def cond(self, node: Node) -> Expr:
        condition, then, otherwise = [self.expr(a) for a in node.args]
        return Conditional(condition, then, otherwise, NOWHERE)

    def call(self, node: Node) -> Expr:
        args = [self.expr(a) for a in node.args]
        name: str = node.value
        if name == "score" and not node.at:
            return args[0]
        if name == "-_":
            return Unary("-", args[0], NOWHERE)
        if name == "@in" or (name.startswith("_") and name.endswith("_")):
            return Binary(name.strip("_@"), args[0], args[1], NOWHERE)
        if name in _METHODS and args:
            return Call(name, args[0], tuple(args[1:]), NOWHERE)
        return _call(name, *args)

    def macro(self, node: Node) -> Expr:
        slots: Sequence[int] = node.value
        kind = _MACROS.get((node.op, len(slots)), node.op)
        target, *bodies = [self.expr(a) for a in node.args]
        return Macro(kind, target, tuple([self.variable(s) for s in slots]), tuple(bodies), NOWHERE)


def written(tagged: Sequence[Value]) -> Expr:
    """The syntax tree of a tagged literal."""
    tag, body = tagged[0], tagged[-1]
    match tag:
        case "list":
            return ListLiteral(tuple([written(item) for item in body]), NOWHERE)
        case "map":
            return MapLiteral(tuple([(written(k), written(v)) for k, v in body]), NOWHERE)
        case "optional":
            return _call("optional.of", written(body[0])) if body else _call("optional.none")
        case "score":
            return _score(Fraction(body))
        case "type":
            return dotted(*body.split("."))
        case "timestamp":
            return _call("timestamp", Literal(format_timestamp(literal_value(tagged)), NOWHERE))
        case "duration":
            return _call("duration", Literal(format_duration(literal_value(tagged)), NOWHERE))
        case "double" if body in _NO_LITERAL:
            return _call("double", Literal(body, NOWHERE))
        case "bytes":
            return Literal(base64.b64decode(body), NOWHERE)
    value = literal_value(tagged)
    numeric = isinstance(value, (int, float)) and not isinstance(value, (bool, UInt))
    return Literal(value, NOWHERE, text=repr(value) if numeric else None)


_NO_LITERAL: Final = frozenset(("NaN", "Infinity", "-Infinity"))


def _score(value: Fraction) -> Expr:
    """A score as a decimal, or as a quotient if it has no finite decimal."""
    rest, power = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        power = max(power, count)
    if rest != 1:
        one, top, bottom = (Literal(n, NOWHERE, text=str(n)) for n in (1, value.numerator, value.denominator))
        exact: Expr = _call("score", one)  # an intermediate score may leave the interval
        if value.numerator != 1:
            exact = Binary("*", exact, top, NOWHERE)
        return Binary("/", exact, bottom, NOWHERE)
    sign, digits = "-" if value < 0 else "", str(abs(value.numerator) * 10**power // value.denominator)
    digits = digits.rjust(power + 1, "0")
    text = f"{sign}{digits[: len(digits) - power]}.{digits[len(digits) - power :] or '0'}"
    return Literal(float(value), NOWHERE, text=text)


def _call(name: str, *args: Expr) -> Expr:
    namespace, _, function = name.rpartition(".")
    return Call(function, Name(namespace, NOWHERE) if namespace else None, args, NOWHERE)


_BY_OPERATION: Final[Mapping[str, Callable[[_Decompiler, Node], Expr]]] = {
    "const": _Decompiler.const,
    "name": _Decompiler.name,
    "local": _Decompiler.local,
    "select": _Decompiler.select,
    "opt_select": _Decompiler.select,
    "has": _Decompiler.has,
    "index": _Decompiler.index,
    "opt_index": _Decompiler.index,
    "list": _Decompiler.list,
    "map": _Decompiler.map,
    "and": _Decompiler.logic,
    "or": _Decompiler.logic,
    "not": _Decompiler.negation,
    "cond": _Decompiler.cond,
    "call": _Decompiler.call,
}
