"""The operations that bind no variable: a closure for each kind of node, with the whole meaning of the language."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.rows import access
from rulewright_runtime.rows.building import FIRST_SLOT, FRAME, Building, Closure, same
from rulewright_runtime.rows.loops import Failed, absorbed
from rulewright_runtime.values import Optional, make_map, no_overload


def _const(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    value = literal_value(node.value)
    return lambda _: value


def _name(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    candidates = [(sys.intern(name), tuple(fields)) for name, fields in node.value]
    name, fields = candidates[-1]
    if len(candidates) == 1 and not fields:
        return _plain_name(name, mode)

    def resolve(argument: Any) -> Any:
        bindings = argument[0] if mode == FRAME else argument
        for candidate, rest in candidates:
            if candidate in bindings:
                value = bindings[candidate]
                for field in rest:
                    value = access.select(value, field)
                return value
        raise access.no_such_name(candidates[-1][0])

    return resolve


def _plain_name(name: str, mode: int) -> Closure:
    def from_bindings(bindings: Any) -> Any:
        try:
            return bindings[name]
        except KeyError:
            raise access.no_such_name(name) from None

    def from_frame(frame: Any) -> Any:
        try:
            return frame[0][name]
        except KeyError:
            raise access.no_such_name(name) from None

    return from_frame if mode == FRAME else from_bindings


def _local(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    if mode != FRAME:
        return same
    place = FIRST_SLOT + node.value
    if node.value not in building.bind_slots:
        return lambda frame: frame[place]

    def bound(frame: Any) -> Any:
        value = frame[place]
        if value.__class__ is Failed:
            raise value.error
        return value

    return bound


def _select(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, sys.intern(node.value)

    def select(argument: Any) -> Any:
        value = operand(argument)
        if value.__class__ is dict and field in value:
            return value[field]
        return access.select(value, field)

    return select


def _opt_select(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, node.value
    return lambda argument: access.optional_select(operand(argument), field)


def _has(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,), field = args, node.value
    return lambda argument: access.has(operand(argument), field)


def _index(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    operand, key = args
    return lambda argument: access.index(operand(argument), key(argument))


def _opt_index(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    operand, key = args
    return lambda argument: access.optional_index(operand(argument), key(argument))


def _list(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    items, optional = tuple(args), frozenset(node.value or ())
    if not optional:
        return lambda argument: [item(argument) for item in items]

    def collect(argument: Any) -> list[Any]:
        made = []
        for number, item in enumerate(items):
            value = item(argument)
            if number not in optional:
                made.append(value)
            elif not isinstance(value, Optional):
                raise no_overload("[?]", value)
            elif value.present:
                made.append(value.value)
        return made

    return collect


def _map(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    entries, optional = tuple(zip(args[::2], args[1::2], strict=True)), frozenset(node.value or ())

    def collect(argument: Any) -> Any:
        made = []
        for number, (key, item) in enumerate(entries):
            name, value = key(argument), item(argument)
            if number in optional:
                if not isinstance(value, Optional):
                    raise no_overload("{?}", value)
                if not value.present:
                    continue
                value = value.value
            made.append((name, value))
        return make_map(made)

    return collect


def _absorbing(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    """`and` and `or`: a deciding operand wins over errors on either side (CEL spec, logical operators)."""
    parts = tuple(args)
    decides = node.op == "or"

    def decide(argument: Any) -> bool:
        error: EvaluationError | None = None
        for part in parts:
            try:
                value = part(argument)
            except EvaluationError as why:
                kept = absorbed(why)
                error = error or kept
                continue
            if value is decides:
                return bool(decides)
            if value.__class__ is not bool:
                error = error or no_overload("_||_" if decides else "_&&_", value)
        if error is not None:
            raise error
        return not decides

    return decide


def _not(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    (operand,) = args

    def negate(argument: Any) -> bool:
        value = operand(argument)
        if value is True:
            return False
        if value is False:
            return True
        raise no_overload("!_", value)

    return negate


def _cond(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    condition, then, otherwise = args

    def choose(argument: Any) -> Any:
        value = condition(argument)
        if value is True:
            return then(argument)
        if value is False:
            return otherwise(argument)
        raise no_overload("_?_:_", value)

    return choose


def _call(building: Building, node: Node, mode: int, args: list[Closure]) -> Closure:
    if node.value in ("or", "orValue") and len(args) == 2:
        return _optional_or(args[0], args[1], node.value)
    function = lookup(node.value, len(args), building.program.strict)
    if len(args) == 1:
        (only,) = args
        return lambda argument: function(only(argument))
    if len(args) == 2:
        left, right = args
        return lambda argument: function(left(argument), right(argument))
    parts = tuple(args)
    return lambda argument: function(*[part(argument) for part in parts])


def _optional_or(operand: Closure, other: Closure, name: str) -> Closure:
    unwraps = name == "orValue"

    def choose(argument: Any) -> Any:
        value = operand(argument)
        if not isinstance(value, Optional):
            raise no_overload(name, value)
        if value.present:
            return value.value if unwraps else value
        instead = other(argument)
        if not unwraps and not isinstance(instead, Optional):
            raise no_overload(name, value, instead)
        return instead

    return choose


BUILDERS: Final[Mapping[str, Callable[[Building, Node, int, list[Closure]], Closure]]] = {
    "const": _const,
    "name": _name,
    "local": _local,
    "select": _select,
    "opt_select": _opt_select,
    "has": _has,
    "index": _index,
    "opt_index": _opt_index,
    "list": _list,
    "map": _map,
    "and": _absorbing,
    "or": _absorbing,
    "not": _not,
    "cond": _cond,
    "call": _call,
}
