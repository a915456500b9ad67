"""Expands macros: which calls are macros, and the form they must have, by the rules of cel-go's expanders."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from rulewright.expression.syntax_tree import Call, Expr, Has, Macro, Name, Select, TextSpan


class _Shape(NamedTuple):
    """A macro with a certain name and number of arguments: the node's kind and the number of leading names."""

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


class Misuse(NamedTuple):
    """The mistake in a call with the name and number of arguments of a macro: a message and its span."""

    message: str
    span: TextSpan


def expand(call: Call) -> Expr:
    """The macro that `call` is, or `call` itself if it is not a macro or a misused one."""
    result = _expanded(call)
    return call if isinstance(result, Misuse) else result


def misuse(call: Call) -> Misuse | None:
    """The mistake in a call that was not expanded; None if it is not a macro."""
    result = _expanded(call)
    return result if isinstance(result, Misuse) else None


def _expanded(call: Call) -> Expr | Misuse:
    target, arguments = call.target, call.args
    if target is None:
        return _has(call) if call.function == "has" and len(arguments) == 1 and not call.absolute else call
    if call.function == "bind" and len(arguments) == 3 and isinstance(target, Name) and target.name == "cel":
        return call if target.absolute else _bind(call)
    shape = _METHODS.get((call.function, len(arguments)))
    if shape is None:
        return call
    names = arguments[: shape.variables]
    error = _misnamed(call, shape, names)
    if error is not None:
        return error
    variables = [name for name in names if isinstance(name, Name)]
    spans = tuple(name.span for name in variables)
    bodies = arguments[shape.variables :]
    return Macro(shape.kind, target, tuple(name.name for name in variables), bodies, call.span, spans)


def _has(call: Call) -> Expr | Misuse:
    argument = call.args[0]
    if isinstance(argument, Select) and not argument.optional:
        return Has(argument.operand, argument.field, call.span)
    return Misuse("`has` takes a field, as in `has(record.field)`", argument.span)


def _bind(call: Call) -> Expr | Misuse:
    variable, value, body = call.args
    if not _is_simple(variable):
        return Misuse("`cel.bind` takes a plain name first, as in `cel.bind(x, 1 + 1, x * x)`", variable.span)
    return Macro("bind", value, (variable.name,), (body,), call.span, (variable.span,))


def _misnamed(call: Call, shape: _Shape, names: tuple[Expr, ...]) -> Misuse | None:
    """The mistake in the names of a macro's elements, or None."""
    before = ""
    for name in names:
        if not _is_simple(name):
            example = "`xs.map(x, x + 1)`" if shape.variables == 1 else "`xs.all(i, x, x > i)`"
            return Misuse(f"`{call.function}` takes a plain name here, for the element, as in {example}", name.span)
        if name.name == ACCUMULATOR and shape.kind not in _NO_LOOP:
            return Misuse(f"`{ACCUMULATOR}` is reserved: choose another name for the element", name.span)
        if name.name == before:
            return Misuse(f"`{name.name}` names two things in one macro: choose another name", name.span)
        before = name.name
    return None


def _is_simple(expr: Expr) -> TypeGuard[Name]:
    return isinstance(expr, Name) and not expr.absolute


MACRO_NAMES = frozenset(("has", "bind", *(name for name, _ in _METHODS)))
