"""The types of expanded macros: comprehensions, bindings, optional maps and sorting."""

from rulewright.expression.checking_context import CheckingContext
from rulewright.expression.declarations import COMPARABLE
from rulewright.expression.syntax_tree import Expr, ListLiteral, Literal, Macro, MapLiteral
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


def check_macro(c: CheckingContext, e: Macro) -> Type:
    """The type of a macro's result."""
    bound = _variable_types(c, e, c.visit(e.target))
    if bound is None:
        return ERROR
    mark, ranges = len(c.locals), c.ranges
    c.locals.extend(zip(e.variables, bound, strict=True))
    c.ranges = {name: over for name, over in ranges.items() if name not in e.variables}
    if isinstance(e.target, ListLiteral | MapLiteral) or e.kind == "bind":
        c.ranges |= {e.variables[0] if isinstance(e.target, MapLiteral) else e.variables[-1]: e.target}
    for condition in e.bodies[:-1]:
        _must_be_bool(c, condition, c.visit(condition), e)
    body = c.visit(e.bodies[-1])
    del c.locals[mark:]
    c.ranges = ranges
    return _result(c, e, bound, body)


def _variable_types(c: CheckingContext, e: Macro, target: Type) -> tuple[Type, ...] | None:
    """The types of the variables; None after a mistake that makes further checks impossible."""
    match e.kind:
        case "bind":
            return (target,)
        case "optMap" | "optFlatMap":
            return (_optional_value(c, e, target),)
        case "sortBy":
            return _sort_variable(c, e, target)
    return _elements(c, e, target)


def _result(c: CheckingContext, e: Macro, bound: tuple[Type, ...], body_type: Type) -> Type:
    """The type of a macro whose last body has the type `body_type`."""
    body = e.bodies[-1]
    match e.kind:
        case "all" | "exists" | "exists_one":
            _must_be_bool(c, body, body_type, e if e.kind == "exists_one" else body)
            return BOOL
        case "filter":
            _must_be_bool(c, body, body_type, e)
            return ListType(bound[-1])
        case "map" | "transformList":
            return ListType(body_type)
        case "transformMap":
            return MapType(bound[0], body_type)
        case "transformMapEntry":
            return _entry(c, body, c.known.resolve(body_type))
        case "sortBy":
            return _sort_result(c, e, bound[0], c.known.resolve(body_type, final=True))
        case "optMap":
            return OptionalType(body_type)
        case "optFlatMap":
            return _flat(c, e, body_type)
    return body_type


def _must_be_bool(c: CheckingContext, body: Expr, actual: Type, at: Expr) -> None:
    if not c.known.fits(actual, BOOL):
        c.report(at, f"expected a `bool` for each element, found `{c.known.resolve(actual, final=True)}`")


def _elements(c: CheckingContext, e: Macro, target: Type) -> tuple[Type, ...]:
    """The types of the variables that iterate over a value of type `target`."""
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


def _optional_value(c: CheckingContext, e: Macro, target: Type) -> Type:
    """The type of the value inside an optional."""
    value = c.known.fresh()
    if not c.known.fits(target, OptionalType(value)):
        c.report(e, f"`{e.kind}` needs an optional value, found `{c.known.resolve(target, final=True)}`")
        c.known.fits(ERROR, value)
    return c.known.resolve(value)


def _flat(c: CheckingContext, e: Macro, actual: Type) -> Type:
    result = OptionalType(c.known.fresh())
    if not c.known.fits(actual, result):
        return c.report(e, f"`optFlatMap` must give an optional value, found `{c.known.resolve(actual)}`")
    return c.known.resolve(result)


def _entry(c: CheckingContext, body: Expr, actual: Type) -> Type:
    entry = MapType(c.known.fresh(), c.known.fresh())
    if not c.known.fits(actual, entry):
        return c.report(body, f"an entry must be a map such as `{{key: value}}`, found `{actual}`")
    return c.known.resolve(entry)


def _sort_variable(c: CheckingContext, e: Macro, target: Type) -> tuple[Type, ...] | None:
    holder = c.known.resolve(target)
    if isinstance(holder, ListType):
        return (holder.element,)
    if holder in (DYN, ERROR):
        return (DYN,)
    is_literal = isinstance(e.target, (Literal, MapLiteral))
    c.report(e.target if is_literal else e, f"`sortBy` sorts a list, found `{holder}`")
    return None


def _sort_result(c: CheckingContext, e: Macro, element: Type, key: Type) -> Type:
    if str(key) not in (*COMPARABLE, "score", "dyn", "error"):
        return c.report(e, f"`sortBy` needs a key that has an order, found `{key}`")
    return ListType(element)
