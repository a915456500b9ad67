"""Finds which overloads of a function a call means, and so the type of its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rulewright.errors import Reason
from rulewright.expression import literals_of_calls, scores
from rulewright.expression.checking_context import CheckingContext
from rulewright.expression.declarations import Overload
from rulewright.expression.nodes import MACROS, Call, Expr, ListLiteral, Literal, MapLiteral, Name, TextSpan
from rulewright.expression.type_messages import did_you_mean, no_overload, operator
from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    SCORE,
    UINT,
    EnumType,
    ListType,
    OptionalType,
    Type,
)
from rulewright.expression.unify import is_ground

_VARIADIC: Final = ("math.greatest", "math.least")
_ABSENT: Final = "say what holds then with `.orValue(...)`, or ask `.hasValue()` first"
_UNKNOWN: Final = Reason.UNKNOWN_FUNCTION
_BROUGHT: Final = "conditions of checks may call functions of plug-ins that the project names under `plugins`"

# How other languages call a function; the one that does it here, and how to write it.
HABITS: Final[dict[str, tuple[str, str]]] = {
    "any": ("exists", "write `xs.exists(x, ...)`"),
    "average": ("mean", "write `mean(xs)`"),
    "avg": ("mean", "write `mean(xs)`"),
    "count": ("size", "write `size(xs)`, or `size(xs.filter(x, ...))`"),
    "every": ("all", "write `xs.all(x, ...)`"),
    "includes": ("contains", "write `text.contains(part)`, or `item in list`"),
    "len": ("size", "write `size(xs)`"),
    "length": ("size", "write `size(xs)`"),
    "lower": ("lowerAscii", "write `text.lowerAscii()`, or `contains_ci`, which ignores case"),
    "match": ("matches", "write `text.matches(pattern)`"),
    "search": ("matches", "write `text.matches(pattern)`"),
    "some": ("exists", "write `xs.exists(x, ...)`"),
    "str": ("string", "write `string(x)`"),
    "tolower": ("lowerAscii", "write `text.lowerAscii()`, or `contains_ci`, which ignores case"),
    "sentences": ("sentence_count", "write `sentence_count(text)`"),
    "upper": ("upperAscii", "write `text.upperAscii()`"),
    "words": ("word_count", "write `word_count(text)`"),
}
LOOPS: Final = frozenset({"any", "every", "some"})


def check_call(c: CheckingContext, e: Call) -> Type:
    """The type of a call: arguments first, then the function, with or without a namespace, then its overloads."""
    if _is_a_loop(c, e):  # its arguments bind names that nothing declares
        return _unknown(c, e, e.function, None if e.target is None else c.visit(e.target))
    arguments = []
    for argument in e.args:
        arguments.append(c.visit(argument))
    if e.target is None:
        return _called(c, e, e.function, arguments, e.args, e.absolute)
    spelt = c.qualified(e.target)
    if spelt is not None:
        found = c.environment.function(f"{spelt[0]}.{e.function}", spelt[1])
        if found is not None:
            return _called(c, e, f"{spelt[0]}.{e.function}", arguments, e.args, spelt[1])
        if not c.strict and e.function not in c.environment.overloads and not _names_something(c, *spelt):
            return _unknown_of_namespace(c, e, spelt[0])
    target = c.visit(e.target)
    if e.function not in c.environment.overloads:
        return _unknown(c, e, e.function, target)
    return _finish(c, e, e.function, [target, *arguments], True, (e.target, *e.args))


def _unknown_of_namespace(c: CheckingContext, e: Call, namespace: str) -> Type:
    name = f"{namespace}.{e.function}"
    help = did_you_mean(name, c.environment.overloads) or did_you_mean(namespace, c.environment.variables)
    assert e.target is not None
    return c.report(e.target, f"unknown function `{name}`", help or _habit(c, e.function) or _BROUGHT, reason=_UNKNOWN)


def _names_something(c: CheckingContext, name: str, absolute: bool) -> bool:
    """Whether a name, or the first part of a dotted one, is declared or explained."""
    first = name.partition(".")[0]
    known = (name, first)
    return (
        any(c.environment.variable(each, absolute) for each in known)
        or any(each in c.environment.members or each in c.environment.hints for each in known)
        or any(each.partition(".")[0] == first for each in c.environment.variables)
    )


def _is_a_loop(c: CheckingContext, e: Call) -> bool:
    """Whether a method that does not exist was meant for a macro: its name is misspelt, or another language's."""
    if c.strict or e.function in c.environment.overloads:
        return False
    binds = len(e.args) > 1 and isinstance(e.args[0], Name) and did_you_mean(e.function, MACROS) is not None
    return e.function in LOOPS or binds or (e.target is None and e.function in MACROS)


def _called(c: CheckingContext, e: Call, name: str, given: list[Type], nodes: Sequence[Expr], absolute: bool) -> Type:
    found = c.environment.function(name, absolute)
    if found is None:
        return _unknown(c, e, name)
    full, _ = found
    c.functions[id(e)] = full
    if full in _VARIADIC:
        wrong = _no_number(e, nodes)
        if wrong is not None:
            return c.report(wrong, f"`{full}` takes one number or more, or a list of such")
        if len(given) > 2:
            joined: Type | None = None
            for t in given:
                joined = c.join(joined, t)
            given = [ListType(joined or DYN)]
    return _finish(c, e, full, given, False, nodes)


def _no_number(e: Call, nodes: Sequence[Expr]) -> Expr | None:
    """What is written out and is surely no number, where cel-go's macros `math.greatest` and `math.least` point."""
    if not nodes:
        return e.target
    first = nodes[0]
    if len(nodes) == 1 and isinstance(first, ListLiteral):
        return None if first.items and not any(map(_is_no_number, first.items)) else first
    return next(filter(_is_no_number, nodes), None)


def _is_no_number(e: Expr) -> bool:
    if isinstance(e, Literal):
        return e.value is None or isinstance(e.value, (bool, str, bytes))
    return isinstance(e, (ListLiteral, MapLiteral))


def _unknown(c: CheckingContext, e: Call, name: str, target: Type | None = None) -> Type:
    if name in c.environment.hints:
        return c.report(e, f"unknown function `{name}`", c.environment.hints[name], reason=_UNKNOWN)
    kind = "function" if target is None else "method"
    macros = () if target is None or c.strict else MACROS
    as_method = f"write `xs.{name}(x, ...)`" if target is None and name in MACROS else None
    hint = as_method or _habit(c, name) or did_you_mean(name, (*c.environment.overloads, *macros))
    return c.report(_name_of(c, e), f"unknown {kind} `{name}`", hint, reason=_UNKNOWN)


def _habit(c: CheckingContext, name: str) -> str | None:
    """What stands here for a function that other languages have, where the environment knows it."""
    known, help = HABITS.get(name.lower(), ("", None))
    return help if known in c.environment.overloads or known in MACROS else None


def _name_of(c: CheckingContext, e: Call) -> Expr:
    """The name of a called function; plain CEL points at the bracket behind it."""
    start = c.text.rfind(e.function, 0, e.span.at)
    return e if c.strict or start < e.span.start else Name(e.function, TextSpan(start, start + len(e.function), start))


def _finish(c: CheckingContext, e: Call, name: str, given: list[Type], method: bool, nodes: Sequence[Expr]) -> Type:
    before = len(c.mistakes)
    found = resolve(c, e, name, given, method, nodes)
    if len(c.mistakes) == before:
        literals_of_calls.validate(c, e, name, given)
    return found


def resolve(
    c: CheckingContext, e: Expr, name: str, given: Sequence[Type], method: bool, nodes: Sequence[Expr] = ()
) -> Type:
    """The type of applying `name` to values of the `given` types; reports when nothing fits.

    In the profile, number literals among `nodes` become exact scores where only that fits.
    """
    overloads = c.environment.overloads[name]
    found = _resolve(c, name, overloads, given, method)
    if found is not None:
        return found
    if not c.strict and nodes:
        exact = scores.reread(c, nodes, given)
        if exact is not None:
            found = _resolve(c, name, overloads, exact, method)
            if found is not None:
                return found
    types = [c.known.resolve(t, final=True) for t in given]
    absent = [t for t in types if isinstance(t, OptionalType)]
    if absent and not c.strict and name.startswith("_"):
        return c.report(e, f"{operator(name)} needs values, but one of type `{absent[0]}` may be absent", _ABSENT)
    return c.report(e, no_overload(name, overloads, types, method))


def _resolve(
    c: CheckingContext, name: str, overloads: Sequence[Overload], given: Sequence[Type], method: bool
) -> Type | None:
    """The result's type, remembered where it depends on the `given` types alone; None when nothing fits."""
    types = tuple(c.known.resolve(t) for t in given)
    if not all(is_ground(t) for t in types):
        return _search(c, overloads, given, method)
    key = (name, method, types)
    remembered = c.environment.resolved.get(key)
    if remembered is not None:
        return remembered[0] if remembered else None
    found = _search(c, overloads, types, method)
    if found is None or is_ground(found):
        c.environment.resolved[key] = () if found is None else (found,)
    return found


def _search(c: CheckingContext, overloads: Sequence[Overload], given: Sequence[Type], method: bool) -> Type | None:
    result: Type | None = None
    for overload in overloads:
        if overload.method != method or len(overload.arguments) != len(given):
            continue
        wanted: Sequence[Type] = overload.arguments
        yields = overload.result
        if overload.generic:
            *wanted, yields = c.known.instantiate((*overload.arguments, overload.result), overload.generic)
        if c.known.all_fit(given, wanted):
            found = c.known.resolve(yields)
            if result is None:
                result = found
            elif result != DYN and found != result:
                result = DYN
    return result


def expect(c: CheckingContext, e: Expr, found: Type, wanted: Type) -> None:
    """Report when the whole expression, of type `found`, is not `wanted`; plain CEL admits what is only `dyn`."""
    given = c.known.resolve(found, final=True)
    if wanted == SCORE and scores.as_score(c, e):
        scores.within(c, e)
        return
    if wanted == DOUBLE and given in (INT, UINT) and not c.strict and scores.as_double(c, e):
        return
    if isinstance(wanted, EnumType):
        c.conform(e, wanted)
    if given == DYN and wanted != DYN and not c.strict:
        help = "compare it with something" if wanted == BOOL else f"convert it, as in `{wanted}(...)`"
        c.report(e, f"expected a `{wanted}`, but the type of this is only known when it runs", help, whole=True)
    elif not (_widens(given, wanted) or c.known.fits(given, wanted)):
        compare = "compare it with something" if wanted == BOOL else None
        advice = _ABSENT if isinstance(given, OptionalType) else compare
        c.report(e, f"expected a `{wanted}`, found `{given}`", advice, whole=True)


def _widens(given: Type, wanted: Type) -> bool:
    """Whether a number of type `given` becomes a `wanted` one without loss of meaning."""
    return (wanted == SCORE and given in (DOUBLE, INT, UINT)) or (wanted == DOUBLE and given in (INT, UINT, SCORE))
