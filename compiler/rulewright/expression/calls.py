"""Resolves the overload of a call, and with it the type of the result."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rulewright.errors import Reason
from rulewright.expression import scores
from rulewright.expression.checking_context import CheckingContext, did_you_mean, fields_help, no_overload, operator
from rulewright.expression.declarations import Overload
from rulewright.expression.syntax_tree import MACROS, Call, Expr, ListLiteral, Literal, MapLiteral, Name, TextSpan
from rulewright.expression.trial_calls import OPERANDS, UNKNOWN, refused
from rulewright.expression.types import (
    BOOL,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    SCORE,
    STRING,
    UINT,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    Type,
    TypeType,
)
from rulewright.expression.unify import is_ground
from rulewright.expression.unparse import unparse
from rulewright_runtime.english import ticked
from rulewright_runtime.plugins import FUNCTIONS, installed

_VARIADIC: Final = ("math.greatest", "math.least")
ORDERING: Final = ("_<_", "_<=_", "_>_", "_>=_")
_ABSENT: Final = "give a default, as in `x.orValue(0)`, or test `x.hasValue()` first"
_UNKNOWN: Final = Reason.UNKNOWN_FUNCTION
_PLUGIN_HINT: Final = "conditions of checks may call functions of plug-ins that the project names under `plugins`"

# A function's name in other languages; the equivalent function, and how to write it.
FOREIGN_NAMES: Final[dict[str, tuple[str, str]]] = {
    "any": ("exists", "write `xs.exists(x, ...)`"),
    "average": ("mean", "write `mean(xs)`"),
    "avg": ("mean", "write `mean(xs)`"),
    "contains_any_word": ("has_any_word", "write `has_any_word(text, words)`"),
    "contains_word": ("has_any_word", "write `has_any_word(text, [word])`"),
    "count": ("size", "write `size(xs)`, or `size(xs.filter(x, ...))`"),
    "every": ("all", "write `xs.all(x, ...)`"),
    "includes": ("contains", "write `text.contains(part)`, or `item in list`"),
    "len": ("size", "write `size(xs)`"),
    "length": ("size", "write `size(xs)`"),
    "lower": ("lowerAscii", "write `text.lowerAscii()`, or `contains_ci`, which ignores case"),
    "match": ("matches", "write `text.matches(pattern)`"),
    "math.max": ("math.greatest", "write `math.greatest(a, b)`"),
    "math.min": ("math.least", "write `math.least(a, b)`"),
    "regex": ("matches", "write `text.matches(pattern)`"),
    "regex.find": ("regex.extract", "write `regex.extract(text, pattern)`"),
    "regex.match": ("matches", "write `text.matches(pattern)`"),
    "search": ("matches", "write `text.matches(pattern)`"),
    "some": ("exists", "write `xs.exists(x, ...)`"),
    "str": ("string", "write `string(x)`"),
    "tolower": ("lowerAscii", "write `text.lowerAscii()`, or `contains_ci`, which ignores case"),
    "sentences": ("sentence_count", "write `sentence_count(text)`"),
    "upper": ("upperAscii", "write `text.upperAscii()`"),
    "words": ("word_count", "write `word_count(text)`"),
}
LOOPS: Final = frozenset({"any", "every", "some"})


class Arguments(NamedTuple):
    """The arguments of a function or operator, a method's target first: their `types`, and as written (`nodes`), where
    they are known."""

    name: str
    types: Sequence[Type]
    is_method: bool = False
    nodes: Sequence[Expr] = ()


def check_call(c: CheckingContext, e: Call) -> Type:
    """The type of a call: checks the arguments, finds the function with or without a namespace, then its overload."""
    if _is_misspelt_macro(c, e):  # its arguments use variables that it would bind
        return _unknown(c, e, e.function, None if e.target is None else c.visit(e.target))
    arguments = []
    for argument in e.args:
        arguments.append(c.visit(argument))
    if e.target is None:
        return _check_function(c, e, e.function, arguments, e.args, e.absolute)
    qualified = c.qualified(e.target)
    if qualified is not None:
        found = c.environment.function(f"{qualified[0]}.{e.function}", qualified[1])
        if found is not None:
            return _check_function(c, e, f"{qualified[0]}.{e.function}", arguments, e.args, qualified[1])
        is_known = e.function in c.environment.overloads and not _is_namespace(c, qualified[0])
        if not c.strict and not is_known and not _is_declared(c, *qualified):
            return _unknown_of_namespace(c, e, qualified[0])
    target = c.visit(e.target)
    if id(e.target) in c.constants:
        known = sorted(name for name in c.environment.variables if "." not in name)
        word = unparse(e.target)
        return c.report(e.target, f'`{word}` is a constant, the text "{word}"', f"the values here are {ticked(known)}")
    if e.function not in c.environment.overloads:
        return _unknown(c, e, e.function, target)
    return _finish(c, e, Arguments(e.function, [target, *arguments], True, (e.target, *e.args)))


def _is_namespace(c: CheckingContext, name: str) -> bool:
    return any(each.startswith(f"{name}.") for each in c.environment.overloads)


def _unknown_of_namespace(c: CheckingContext, e: Call, namespace: str) -> Type:
    name = f"{namespace}.{e.function}"
    help = (
        _plug_in_of(name)
        or _foreign_name_help(c, name)
        or did_you_mean(name, c.environment.overloads)
        or did_you_mean(namespace, c.environment.variables)
        or _foreign_name_help(c, e.function)
        or _PLUGIN_HINT
    )
    assert e.target is not None
    return c.report(e.target, f"unknown function `{name}`", help, reason=_UNKNOWN)


def _plug_in_of(name: str) -> str | None:
    """The help for a function of a plug-in that is installed but not named by the project."""
    found = next((each.distribution for each in installed(FUNCTIONS) if each.name == name), None)
    return found and f"it is a function of a plug-in: write `plugins: [{found}]` in the project file"


def _is_declared(c: CheckingContext, name: str, absolute: bool) -> bool:
    """Whether a name, or the first part of a dotted one, is declared or has a hint."""
    first = name.partition(".")[0]
    known = (name, first)
    return (
        any(c.environment.variable(each, absolute) for each in known)
        or any(each in c.environment.members and not _is_namespace(c, each) for each in known)
        or any(each in c.environment.hints for each in known)
        or any(each.partition(".")[0] == first for each in c.environment.variables)
    )


def _is_misspelt_macro(c: CheckingContext, e: Call) -> bool:
    """Whether an unknown method was meant as a macro: the name is misspelt or from another language."""
    if c.strict or e.function in c.environment.overloads:
        return False
    binds = len(e.args) > 1 and isinstance(e.args[0], Name) and did_you_mean(e.function, MACROS) is not None
    return e.function in LOOPS or binds or e.function in MACROS


def _check_function(
    c: CheckingContext, e: Call, name: str, types: list[Type], nodes: Sequence[Expr], absolute: bool
) -> Type:
    declared = c.environment.function(name, absolute)
    if declared is None:
        return _unknown(c, e, name)
    full, _ = declared
    c.functions[id(e)] = full
    if full in _VARIADIC:
        invalid = _non_number(e, nodes)
        if invalid is not None:
            return c.report(invalid, f"`{full}` takes one or more numbers, or a list of numbers")
        if len(types) > 2:
            joined: Type | None = None
            for t in types:
                joined = c.join(joined, t)
            types = [ListType(joined or DYN)]
    return _finish(c, e, Arguments(full, types, nodes=nodes))


def _non_number(e: Call, nodes: Sequence[Expr]) -> Expr | None:
    """The first literal that isn't a number, at which cel-go's macros `math.greatest` and `math.least` report."""
    if not nodes:
        return e.target
    first = nodes[0]
    if len(nodes) == 1 and isinstance(first, ListLiteral):
        return None if first.items and not any(map(_is_non_number, first.items)) else first
    return next(filter(_is_non_number, nodes), None)


def _is_non_number(e: Expr) -> bool:
    if isinstance(e, Literal):
        return e.value is None or isinstance(e.value, (bool, str, bytes))
    return isinstance(e, (ListLiteral, MapLiteral))


def _unknown(c: CheckingContext, e: Call, name: str, target: Type | None = None) -> Type:
    if name in c.environment.hints:
        return c.report(e, f"unknown function `{name}`", c.environment.hints[name], reason=_UNKNOWN)
    kind = "function" if target is None else "method"
    if target is not None and name in MACROS and not c.strict:
        message = f"`{name}` needs a variable for the items, and then a condition"
        return c.report(_name_of(c, e), message, f"write `xs.{name}(x, ...)`", reason=_UNKNOWN)
    macros = () if target is None or c.strict else MACROS
    as_method = f"write `xs.{name}(x, ...)`" if target is None and name in MACROS else None
    hint = as_method or _foreign_name_help(c, name) or did_you_mean(name, (*c.environment.overloads, *macros))
    hint = hint or (None if c.strict else "`rulewright explain functions` lists the functions")
    return c.report(_name_of(c, e), f"unknown {kind} `{name}`", hint, reason=_UNKNOWN)


def _foreign_name_help(c: CheckingContext, name: str) -> str | None:
    """The help for a function's name from another language, if the environment has the equivalent."""
    known, help = FOREIGN_NAMES.get(name.lower(), ("", None))
    return help if known in c.environment.overloads or known in MACROS else None


def _name_of(c: CheckingContext, e: Call) -> Expr:
    """The node to report for a call: the function's name, or the call itself in plain CEL."""
    start = c.text.rfind(e.function, 0, e.span.at)
    return e if c.strict or start < e.span.start else Name(e.function, TextSpan(start, start + len(e.function), start))


def _finish(c: CheckingContext, e: Call, arguments: Arguments) -> Type:
    before = len(c.mistakes)
    result = resolve(c, e, arguments)
    if len(c.mistakes) == before:
        _check_literals(c, e, arguments)
    return result


def resolve(c: CheckingContext, e: Expr, arguments: Arguments) -> Type:
    """The result type of a function for its arguments; reports a call without a matching overload.

    In the profile, number literals among the arguments become exact scores where only that fits.
    """
    result = _result_type(c, arguments)
    if result is not None:
        return result
    name, types, is_method, nodes = arguments
    if not c.strict and nodes:
        exact = scores.reread(c, nodes, types)
        result = None if exact is None else _result_type(c, arguments._replace(types=exact))
        if result is not None:
            return result
    actual = [c.known.resolve(t, final=True) for t in types]
    absent = [t for t in actual if isinstance(t, OptionalType)]
    if absent and not c.strict and not name[0].isalpha():
        return c.report(e, f"{operator(name)} needs values, but one of type `{absent[0]}` may be absent", _ABSENT)
    help = fields_help(actual)
    if help is None and not c.strict:
        help = _as_method(c, e, arguments) or _argument_help(c, arguments, actual)
        help = help or _other_form(c, arguments) or _page_of(name)
    return c.report(e, no_overload(name, c.environment.overloads[name], actual, is_method), help)


def _other_form(c: CheckingContext, arguments: Arguments) -> str | None:
    """The help for an argument that would fit in a list, without quotes, or instead of `null`."""
    name, types, _, nodes = arguments
    for place, (node, type_) in enumerate(zip(nodes, types, strict=False)):

        def fits(other: Type, place: int = place) -> bool:
            changed = [*types[:place], other, *types[place + 1 :]]
            return _result_type(c, arguments._replace(types=changed)) is not None

        if type_ == STRING and name[0].isalpha() and fits(ListType(STRING)):
            return f"write the text in a list, as in `[{unparse(node)}]`"
        if isinstance(node, Literal) and isinstance(node.value, str) and node.value.isdecimal() and fits(INT):
            return f"write the number without quotes, as in `{node.value}`"
        if name in ("_==_", "_!=_") and isinstance(other := types[place - 1], ListType) and other.element == type_:
            return f"write `{unparse(node)} in {unparse(nodes[place - 1])}`"
        if isinstance(node, Literal) and node.value is None:
            return "it is never null here; `size(x) == 0` tests whether it is empty, `has(x.f)` whether a field exists"
    return None


def _page_of(name: str) -> str | None:
    return f"`rulewright explain {name}` shows its arguments" if name[0].isalpha() else None


def _argument_help(c: CheckingContext, arguments: Arguments, actual: Sequence[Type]) -> str | None:
    """The help for arguments of these `actual` types that would fit in the other order, or in another form."""
    name, types, is_method, _ = arguments
    if len(types) == 2 and not is_method and _result_type(c, arguments._replace(types=types[::-1])):
        return f"swap the two {'sides' if name.startswith(('_', '@')) else 'arguments'}"
    first, second = (*actual, None, None)[:2]
    if name == "contains" and isinstance(first, ListType):
        return "write `item in list`, or `list.exists(item, ...)` for a part of an item"
    if name == "@in" and first == second == STRING:
        return "write `text.contains(part)`"
    if name in ORDERING and any(isinstance(each, ListType | MapType) for each in (first, second)):
        return "compare the number of its items, as in `size(list) > 0`"
    return None


def _as_method(c: CheckingContext, e: Expr, arguments: Arguments) -> str | None:
    """The help for a call `name(x, y)` that should be `x.name(y)`."""
    if arguments.is_method or not isinstance(e, Call) or not arguments.nodes:
        return None
    if _result_type(c, arguments._replace(is_method=True)) is None:
        return None
    target, *others = arguments.nodes
    return f"write `{unparse(Call(arguments.name, target, tuple(others), e.span))}`"


def _result_type(c: CheckingContext, arguments: Arguments) -> Type | None:
    """The result type, cached if it depends only on the argument types; None without a matching overload."""
    name, types, is_method, _ = arguments
    overloads = c.environment.overloads[name]
    resolved = tuple(c.known.resolve(t) for t in types)
    if not all(is_ground(t) for t in resolved):
        return _search(c, overloads, types, is_method)
    key = (name, is_method, resolved)
    remembered = c.environment.resolved.get(key)
    if remembered is not None:
        return remembered[0] if remembered else None
    result = _search(c, overloads, resolved, is_method)
    if result is None or is_ground(result):
        c.environment.resolved[key] = () if result is None else (result,)
    return result


def _search(c: CheckingContext, overloads: Sequence[Overload], types: Sequence[Type], method: bool) -> Type | None:
    result: Type | None = None
    for overload in overloads:
        if overload.method != method or len(overload.arguments) != len(types):
            continue
        parameters: Sequence[Type] = overload.arguments
        yields = overload.result
        if overload.generic:
            *parameters, yields = c.known.instantiate((*overload.arguments, overload.result), overload.generic)
        if c.known.all_fit(types, parameters):
            type_ = c.known.resolve(yields)
            if result is None:
                result = type_
            elif result != DYN and type_ != result:
                result = DYN
    return result


def expect(c: CheckingContext, e: Expr, found: Type, expected: Type) -> None:
    """Report an expression of type `found` that doesn't have the type `expected`; plain CEL accepts `dyn`."""
    actual = c.known.resolve(found, final=True)
    if expected == SCORE and scores.convert(c, e, SCORE):
        scores.within(c, e)
        return
    if expected == DOUBLE and actual in (INT, UINT) and not c.strict and scores.convert(c, e, DOUBLE):
        return
    if isinstance(expected, EnumType):
        c.conform(e, expected)
    if actual == DYN and expected != DYN and not c.strict:
        help = "compare it with a value" if expected == BOOL else f"convert it, as in `{expected}(...)`"
        message = f"expected a `{expected}`, but the type of this is only known at run time"
        c.report(e, message, help, whole=True, reason=Reason.OPEN_TYPE)
    elif not (_widens(actual, expected) or c.known.fits(actual, expected)):
        compare = "compare it with a value" if expected == BOOL else None
        advice = _ABSENT if isinstance(actual, OptionalType) else compare
        c.report(e, f"expected a `{expected}`, found `{actual}`", advice, whole=True)


def _widens(actual: Type, expected: Type) -> bool:
    """Whether a number of type `actual` can be converted to `expected` without loss of meaning."""
    return (expected == SCORE and actual in (DOUBLE, INT, UINT)) or (
        expected == DOUBLE and actual in (INT, UINT, SCORE)
    )


_CLAUSES: Final = {
    "d": ("int", "uint", "double"),
    "f": ("int", "uint", "double"),
    "e": ("int", "uint", "double"),
    "b": ("int", "uint", "bool"),
    "o": ("int", "uint"),
    "x": ("int", "uint", "string", "bytes"),
    "X": ("int", "uint", "string", "bytes"),
}
_ANY_CLAUSE: Final = ("bool", "bytes", "double", "duration", "int", "null_type", "string", "timestamp", "uint", "score")


def _check_literals(c: CheckingContext, e: Call, arguments: Arguments) -> None:
    """Report invalid literal arguments of a call that has a matching overload."""
    name = arguments.name
    if name == "format":
        _format(c, e)
    elif c.environment.validate and name in OPERANDS:
        values = [each.value if isinstance(each, Literal) else UNKNOWN for each in arguments.nodes]
        for at, why in refused(name, values):
            argument = arguments.nodes[at]
            c.report(argument, f"`{values[at]}` is not a valid argument of `{name}`: {why}", whole=True)


def _format(c: CheckingContext, e: Call) -> None:
    """Check a literal format against a literal list of arguments (cel-go `ext`, `string.format`)."""
    target, (arguments, *_) = e.target, e.args
    if not (isinstance(target, Literal) and isinstance(target.value, str) and isinstance(arguments, ListLiteral)):
        return
    used = 0
    for verb in _clauses(target.value):
        if len(verb) != 1 or verb not in {*_CLAUSES, "s"}:
            c.report(e, f"`%{verb}` is not a clause of a format; expected one of %s %d %f %e %b %o %x %X")
            return
        if used >= len(arguments.items):
            c.report(e, f"the format needs an argument {used + 1}, but there are {len(arguments.items)}")
            return
        item = arguments.items[used]
        used += 1
        type_ = c.known.resolve(c.types[id(item)], final=True)
        if not _formats(verb, type_):
            c.report(item, f"`%{verb}` can't format `{type_}`; expected {_accepted(verb)}")
            return
    if used < len(arguments.items):
        c.report(e, f"the format uses {used} arguments, but there are {len(arguments.items)}")


def _clauses(text: str) -> Iterator[str]:
    """Yield the verbs of a format's clauses; of a malformed clause its whole text."""
    at = 0
    while (at := text.find("%", at)) >= 0:
        if text[at + 1 : at + 2] == "%":
            at += 2
            continue
        end = at + 1
        if text[end : end + 1] == ".":
            end += 1
            while text[end : end + 1].isdecimal():
                end += 1
        yield text[end : end + 1] or text[at + 1 :]
        at = end + 1


def _formats(verb: str, t: Type) -> bool:
    if t in (DYN, ERROR):
        return True
    if verb == "s":
        parts = t.params if isinstance(t, (ListType, MapType)) else ()
        plain = isinstance(t, (TypeType, EnumType)) or str(t) in _ANY_CLAUSE
        return plain or (bool(parts) and all(_formats("s", p) for p in parts))
    return str(t) in (*_CLAUSES[verb], *(("score",) if verb in "fe" else ()))


def _accepted(verb: str) -> str:
    return "a value that has a text" if verb == "s" else ticked(_CLAUSES[verb])
