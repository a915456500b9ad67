"""Expands macros: which calls are one, and what they must look like (cel-go's expanders set the rules)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from rulewright.expression.nodes import Call, Expr, Has, Macro, Name, Place, Select

if TYPE_CHECKING:
    from rulewright.expression.syntax_errors import Mistakes


class _Shape(NamedTuple):
    """A macro of a given name and number of arguments: the node's kind and how many names come first."""

    kind: str
    variables: int


_METHODS = {
    ("all", 2): _Shape("all", 1),
    ("all", 3): _Shape("all", 2),
    ("exists", 2): _Shape("exists", 1),
    ("exists", 3): _Shape("exists", 2),
    ("exists_one", 2): _Shape("exists_one", 1),
    ("exists_one", 3): _Shape("exists_one", 2),
    ("existsOne", 2): _Shape("exists_one", 1),
    ("existsOne", 3): _Shape("exists_one", 2),
    ("filter", 2): _Shape("filter", 1),
    ("map", 2): _Shape("map", 1),
    ("map", 3): _Shape("map", 1),
    ("transformList", 3): _Shape("transformList", 2),
    ("transformList", 4): _Shape("transformList", 2),
    ("transformMap", 3): _Shape("transformMap", 2),
    ("transformMap", 4): _Shape("transformMap", 2),
    ("transformMapEntry", 3): _Shape("transformMapEntry", 2),
    ("transformMapEntry", 4): _Shape("transformMapEntry", 2),
    ("sortBy", 2): _Shape("sortBy", 1),
    ("optMap", 2): _Shape("optMap", 1),
    ("optFlatMap", 2): _Shape("optFlatMap", 1),
}
_NO_LOOP = ("optMap", "optFlatMap")
ACCUMULATOR = "__result__"


def expand(call: Call, mistakes: Mistakes) -> Expr:
    """The macro that `call` writes, or `call` itself where it is none (another name or number of arguments)."""
    target, arguments = call.target, call.args
    if target is None:
        return _has(call, mistakes) if call.function == "has" and len(arguments) == 1 and not call.absolute else call
    if call.function == "bind" and len(arguments) == 3 and isinstance(target, Name) and target.name == "cel":
        return call if target.absolute else _bind(call, mistakes)
    shape = _METHODS.get((call.function, len(arguments)))
    if shape is None:
        return call
    names = _names(call, shape, mistakes)
    if names is None:
        return call
    places = tuple(name.place for name in names)
    bodies = arguments[shape.variables :]
    return Macro(shape.kind, target, tuple(name.name for name in names), bodies, call.place, places)


def _has(call: Call, mistakes: Mistakes) -> Expr:
    argument = call.args[0]
    if isinstance(argument, Select) and not argument.optional:
        return Has(argument.operand, argument.field, call.place)
    _refuse(argument.place, "`has` takes a field, as in `has(record.field)`", mistakes)
    return call


def _bind(call: Call, mistakes: Mistakes) -> Expr:
    variable, value, body = call.args
    if not _is_simple(variable):
        _refuse(variable.place, "`cel.bind` takes a plain name first, as in `cel.bind(x, 1 + 1, x * x)`", mistakes)
        return call
    return Macro("bind", value, (variable.name,), (body,), call.place, (variable.place,))


def _names(call: Call, shape: _Shape, mistakes: Mistakes) -> list[Name] | None:
    names: list[Name] = []
    for argument in call.args[: shape.variables]:
        if not _is_simple(argument):
            example = "`xs.map(x, x + 1)`" if shape.variables == 1 else "`xs.all(i, x, x > i)`"
            message = f"`{call.function}` takes a plain name here, for the element, as in {example}"
            _refuse(argument.place, message, mistakes)
            return None
        if argument.name == ACCUMULATOR and shape.kind not in _NO_LOOP:
            _refuse(argument.place, f"`{ACCUMULATOR}` is reserved: choose another name for the element", mistakes)
            return None
        if names and argument.name == names[0].name:
            _refuse(argument.place, f"`{argument.name}` names two things in one macro: choose another name", mistakes)
            return None
        names.append(argument)
    return names


def _is_simple(expr: Expr) -> TypeGuard[Name]:
    return isinstance(expr, Name) and not expr.absolute


def _refuse(place: Place, message: str, mistakes: Mistakes) -> None:
    if any(place.start <= start <= place.end for start in mistakes.found):
        return  # a guess stands for what is wrong within the argument
    mistakes.add(message, place.at, place.end)
