"""The operations that bind no variable: a closure for each kind of node, with the full semantics of the language."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import operators
from rulewright_runtime.functions.operators import list_index, no_such_key
from rulewright_runtime.interpreter.closures import FIRST_SLOT, Builder, Closure, Failed, Layout, deciding
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.values import NONE, Optional, Value, find, make_map, no_overload


def _const(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    value = literal_value(node.value)
    return lambda _: value


def _name(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    candidates = [(sys.intern(name), tuple(fields)) for name, fields in node.value]
    framed, last = layout.framed, candidates[-1][0]

    def resolve(argument: Value) -> object:
        bindings = argument[0] if framed else argument
        for name, fields in candidates:
            if name in bindings:
                value = bindings[name]
                for field in fields:
                    value = _selected(value, field)
                return value
        raise EvaluationError(f"no such name: `{last}`", "no_such_name")

    return resolve


def _local(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    slot = FIRST_SLOT + node.value
    if node.value not in layout.lazy:
        return lambda frame: frame[slot]

    def bound(frame: Value) -> Value:
        value = frame[slot]
        if value.__class__ is Failed:
            raise value.error
        return value

    return bound


def _selected(value: object, field: str) -> object:
    """`value.field`; for an optional, the optional field of its value."""
    if isinstance(value, Mapping):
        entry = find(value, field)
        if not entry.present:
            raise no_such_key(field)
        return entry.value
    if isinstance(value, Optional):
        return _optional(value, field, "select")
    raise no_overload(f"selection of `{field}`", value)


def _optional(value: object, key: object, function: str) -> Optional:
    """`value.?key` or `value[?key]`: an optional, empty for an absent key or an index out of bounds; for an optional,
    that of its value."""
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    if isinstance(value, Mapping):
        return find(value, key)
    if function != "_[?_]":
        raise no_overload(f"selection of `{key}`", value)
    if not isinstance(value, (list, tuple)):
        raise no_overload(function, value, key)
    index = list_index(value, key)
    return NONE if index is None else Optional(value[index])


def _element(value: Value, key: Value) -> Value:
    """`value[key]`; for an optional, the optional element of its value."""
    return _optional(value, key, "_[?_]") if isinstance(value, Optional) else operators.index(value, key)


def _select(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (operand,), field = args, sys.intern(node.value)

    def select(argument: Value) -> Value:
        value = operand(argument)
        return value[field] if value.__class__ is dict and field in value else _selected(value, field)

    return select


def _of_field(function: Callable[[Value, str], Value]) -> Builder:
    def build(layout: Layout, node: Node, args: list[Closure]) -> Closure:
        (operand,), field = args, node.value
        return lambda argument: function(operand(argument), field)

    return build


def _of_key(function: Callable[[object, object], object]) -> Builder:
    def build(layout: Layout, node: Node, args: list[Closure]) -> Closure:
        operand, key = args
        return lambda argument: function(operand(argument), key(argument))

    return build


def _list(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    optional = frozenset(node.value or ())
    if not optional:
        return lambda argument: [item(argument) for item in args]

    def collect(argument: object) -> list[object]:
        items = [_as_optional("[?]", item(argument), number in optional) for number, item in enumerate(args)]
        return [each.value for each in items if each.present]

    return collect


def _map(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    entries, optional = list(zip(args[::2], args[1::2], strict=True)), frozenset(node.value or ())

    def collect(argument: object) -> object:
        pairs = [
            (key(argument), _as_optional("{?}", item(argument), number in optional))
            for number, (key, item) in enumerate(entries)
        ]
        return make_map([(key, each.value) for key, each in pairs if each.present])

    return collect


def _as_optional(syntax: str, value: object, is_optional: bool) -> Optional:
    """An element as an optional; one written with `?` must already be an optional."""
    if not is_optional:
        return Optional(value)
    if not isinstance(value, Optional):
        raise no_overload(syntax, value)
    return value


def _logic(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    sign = "_||_" if node.op == "or" else "_&&_"
    decide = deciding(sign, node.op == "or", lambda argument, part: part(argument))
    return lambda argument: decide(argument, args)


def _not(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    (operand,) = args

    def negate(argument: object) -> bool:
        value = operand(argument)
        if value is True or value is False:
            return value is False
        raise no_overload("!_", value)

    return negate


def _cond(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    condition, then, otherwise = args

    def choose(argument: object) -> object:
        value = condition(argument)
        if value.__class__ is not bool:
            raise no_overload("_?_:_", value)
        return then(argument) if value else otherwise(argument)

    return choose


def _call(layout: Layout, node: Node, args: list[Closure]) -> Closure:
    if node.value in ("or", "orValue") and len(args) == 2:
        return _optional_or(args[0], args[1], node.value)
    function = layout.function(node.value, len(args), layout.program.strict)
    if len(args) == 1:
        (only,) = args
        return lambda argument: function(only(argument))
    if len(args) == 2:
        left, right = args
        return lambda argument: function(left(argument), right(argument))
    return lambda argument: function(*[part(argument) for part in args])


def _optional_or(operand: Closure, other: Closure, name: str) -> Closure:
    """`or` and `orValue` are not functions: they evaluate their second operand only if needed."""
    unwraps = name == "orValue"

    def choose(argument: object) -> object:
        value = operand(argument)
        if not isinstance(value, Optional):
            raise no_overload(name, value)
        if value.present:
            return value.value if unwraps else value
        alternative = other(argument)
        if not unwraps and not isinstance(alternative, Optional):
            raise no_overload(name, value, alternative)
        return alternative

    return choose


OPERATIONS: Final[Mapping[str, Builder]] = {
    "const": _const,
    "name": _name,
    "local": _local,
    "select": _select,
    "opt_select": _of_field(lambda value, field: _optional(value, field, "select")),
    "has": _of_field(lambda value, field: _optional(value, field, "has").present),
    "index": _of_key(_element),
    "opt_index": _of_key(lambda value, key: _optional(value, key, "_[?_]")),
    "list": _list,
    "map": _map,
    "and": _logic,
    "or": _logic,
    "not": _not,
    "cond": _cond,
    "call": _call,
}
