"""The types of expanded macros: comprehensions, bindings, optional maps and sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright.expression.declarations import extensions
from rulewright.expression.nodes import Expr, Literal, Macro, MapLiteral
from rulewright.expression.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    STRING,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    TypeParam,
)

if TYPE_CHECKING:
    from rulewright.expression.checker import Checker

_SORTABLE: Final = extensions.COMPARABLE


def check_macro(c: Checker, e: Macro) -> Type:
    """The type of a macro's result."""
    target = c.visit(e.target)
    match e.kind:
        case "bind":
            return _inside(c, e, (target,), e.bodies[0])
        case "optMap" | "optFlatMap":
            return _optional(c, e, target)
        case "sortBy":
            return _sorted(c, e, target)
    bound = _elements(c, e, target)
    match e.kind:
        case "all" | "exists":
            _must_be_bool(c, e.bodies[0], _inside(c, e, bound, e.bodies[0]), e.bodies[0])
            return BOOL
        case "exists_one":
            _must_be_bool(c, e.bodies[0], _inside(c, e, bound, e.bodies[0]), e)
            return BOOL
        case "filter":
            _must_be_bool(c, e.bodies[0], _inside(c, e, bound, e.bodies[0]), e)
            return ListType(bound[-1])
    return _transformed(c, e, bound)


def _transformed(c: Checker, e: Macro, bound: tuple[Type, ...]) -> Type:
    for condition in e.bodies[:-1]:
        _must_be_bool(c, condition, _inside(c, e, bound, condition), e)
    body = e.bodies[-1]
    found = _inside(c, e, bound, body)
    if e.kind in ("map", "transformList"):
        return ListType(found)
    if e.kind == "transformMap":
        return MapType(bound[0], found)
    resolved = c.known.resolve(found)
    entry = MapType(c.known.fresh(), c.known.fresh())
    if not c.known.fits(resolved, entry):
        return c.report(body, f"an entry must be a map such as `{{key: value}}`, found `{resolved}`")
    return c.known.resolve(entry)


def _inside(c: Checker, e: Macro, bound: tuple[Type, ...], body: Expr) -> Type:
    """The type of `body` with the macro's variables bound."""
    mark = len(c.locals)
    c.locals.extend(zip(e.variables, bound, strict=True))
    found = c.visit(body)
    del c.locals[mark:]
    return found


def _must_be_bool(c: Checker, body: Expr, found: Type, at: Expr) -> None:
    if not c.known.fits(found, BOOL):
        c.report(at, f"expected a `bool` for each element, found `{c.known.resolve(found, final=True)}`")


def _elements(c: Checker, e: Macro, target: Type) -> tuple[Type, ...]:
    """The types of the variables that run over something of type `target`."""
    two = len(e.variables) == 2
    holder = c.known.resolve(target)
    match holder:
        case ListType(element=element):
            return (INT, element) if two else (element,)
        case MapType(key=key, value=value):
            return (key, value) if two else (key,)
        case RecordType():
            return (STRING, DYN) if two else (STRING,)
        case TypeParam():
            c.known.fits(DYN, holder)
    if holder not in (DYN, ERROR) and not isinstance(holder, TypeParam):
        c.report(e.target, f"`{e.kind}` runs over a list or a map, found `{holder}`")
        return (ERROR,) * len(e.variables)
    return (DYN,) * len(e.variables)


def _optional(c: Checker, e: Macro, target: Type) -> Type:
    value = c.known.fresh()
    if not c.known.fits(target, OptionalType(value)):
        c.report(e, f"`{e.kind}` needs an optional value, found `{c.known.resolve(target, final=True)}`")
        c.known.fits(ERROR, value)
    found = _inside(c, e, (c.known.resolve(value),), e.bodies[0])
    if e.kind == "optMap":
        return OptionalType(found)
    result = OptionalType(c.known.fresh())
    if not c.known.fits(found, result):
        return c.report(e, f"`optFlatMap` must give an optional value, found `{c.known.resolve(found)}`")
    return c.known.resolve(result)


def _sorted(c: Checker, e: Macro, target: Type) -> Type:
    holder = c.known.resolve(target)
    if not isinstance(holder, ListType) and holder not in (DYN, ERROR):
        written = isinstance(e.target, (Literal, MapLiteral))
        return c.report(e.target if written else e, f"`sortBy` sorts a list, found `{holder}`")
    element = holder.element if isinstance(holder, ListType) else DYN
    key = c.known.resolve(_inside(c, e, (element,), e.bodies[0]), final=True)
    if str(key) not in (*_SORTABLE, "score", "dyn", "error"):
        return c.report(e, f"`sortBy` needs a key that has an order, found `{key}`")
    return ListType(element)
