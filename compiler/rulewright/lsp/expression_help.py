"""Hover texts and completions inside expressions."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct

from rulewright.errors import ExpressionError
from rulewright.expression import syntax_tree as ast
from rulewright.expression import types
from rulewright.expression.build import parsed, with_lookups
from rulewright.expression.checker import Checker
from rulewright.expression.declarations import Overload
from rulewright.expression.environment import Environment
from rulewright.expression.parser import parse_unfinished
from rulewright.expression.unify import Substitution
from rulewright.function_pages import function_page
from rulewright.lsp.cursor import MARK

MAX_SHOWN: Final = 12  # overloads, fields or members in one text
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9_]*)*\Z|[a-z][A-Za-z0-9_]*\Z")
_ON_LISTS: Final = ("all", "exists", "exists_one", "filter", "map", "sortBy")
_ON_OPTIONALS: Final = ("optMap", "optFlatMap")

Sort = Literal["variable", "field", "constant", "function"]


class Suggestion(Struct, frozen=True):
    """A completion inside an expression: its text, its kind, its type or signature, and how many characters before the
    word at the cursor it replaces."""

    text: str
    sort: Sort
    detail: str
    before: int = 0


class PartDescription(Struct, frozen=True):
    """The description, in Markdown, of the part of an expression from `start` to `end`."""

    start: int
    end: int
    text: str


def describe_at(text: str, environment: Environment, index: int) -> PartDescription | None:
    """Describe the part at a character: a name with its type, a call with its signatures; None for any other part."""
    try:
        tree = parsed(text, environment)
    except ExpressionError:
        return None
    checker = _checked(tree, text, environment)
    part = tree
    while (inner := next((each for each in ast.children(part) if _covers(each, index)), None)) is not None:
        part = inner
    description = _describe_part(part, checker)
    return PartDescription(*_name_range(part), description) if description else None


def suggestions_at(text: str, environment: Environment) -> list[Suggestion]:
    """Return the completions at `MARK`, the likeliest first; the text after it may be incomplete or invalid."""
    mark = text.index(MARK)
    try:
        tree = parsed(text, environment)
    except ExpressionError:
        text = text[: mark + len(MARK)]
        try:
            tree = with_lookups(parse_unfinished(text, environment.dialect), environment)
        except ExpressionError:
            return []
    ancestors = _ancestors(tree, mark)
    return list(_suggestions(ancestors, _checked(tree, text, environment))) if ancestors else []


def _checked(tree: ast.Expr, text: str, environment: Environment) -> Checker:
    checker = Checker(text, environment)
    try:
        checker.visit(tree)
    except RecursionError:  # nested too deeply to infer types
        checker.types.clear()
    return checker


def _covers(part: ast.Expr, index: int) -> bool:
    return part.span.start <= index <= part.span.end


def _ancestors(tree: ast.Expr, index: int) -> list[ast.Expr]:
    """The parts that hold the mark, the innermost first; empty inside a number."""
    ancestors = [tree]
    while (inner := next((each for each in ast.children(ancestors[0]) if _covers(each, index)), None)) is not None:
        ancestors.insert(0, inner)
    part = ancestors[0]
    names = {ast.Name: "name", ast.Select: "field", ast.Has: "field", ast.Call: "function", ast.Literal: "value"}
    written = getattr(part, names.get(type(part), ""), None)
    return ancestors if isinstance(written, str) and MARK in written else []


def _type(checker: Checker, part: ast.Expr) -> types.Type:
    return checker.known.resolve(checker.types.get(id(part), types.DYN), final=True)


def _suggestions(ancestors: list[ast.Expr], checker: Checker) -> Iterator[Suggestion]:
    part = ancestors[0]
    if isinstance(part, (ast.Select, ast.Has)):
        yield from _members(part.operand, checker)
    elif isinstance(part, ast.Call) and part.target is not None:
        yield from _members(part.target, checker)
    elif isinstance(part, ast.Literal):
        before = str(part.value).partition(MARK)[0]
        yield from (Suggestion(text, "constant", "text", len(before)) for text in _quoted(ancestors, checker))
    else:
        expected = _expected_enum(ancestors, checker)
        if expected is not None:
            yield from (Suggestion(member, "constant", expected.name) for member in expected.members)
        yield from _roots(ancestors, checker, () if expected is None else expected.members)


def _quoted(ancestors: list[ast.Expr], checker: Checker) -> Iterable[str]:
    """The texts that quotes may hold: the members of an enum, or the names that a lookup knows."""
    outer = ancestors[1] if len(ancestors) > 1 else None
    known = _type(checker, outer.operand) if isinstance(outer, ast.Index) else _expected_enum(ancestors, checker)
    if isinstance(known, types.RecordType):
        return known.fields
    return known.members if isinstance(known, types.EnumType) else ()


def _members(operand: ast.Expr, checker: Checker) -> Iterator[Suggestion]:
    """The completions after a dot: fields, functions of a namespace, methods and macros."""
    environment = checker.environment
    if isinstance(operand, ast.Name) and id(operand) not in checker.names and checker.local(operand.name) is None:
        prefix = f"{operand.name}."
        names = [name for name in environment.overloads if name.startswith(prefix)]
        if names:
            yield from (_function(name, environment.overloads[name], prefix) for name in names)
            return
    type_ = _type(checker, operand)
    inner = type_.value if isinstance(type_, types.OptionalType) else type_
    if isinstance(inner, types.RecordType):
        yield from (Suggestion(name, "field", _brief(type_)) for name, type_ in inner.fields.items())
    for name, overloads in environment.overloads.items():
        fitting = tuple(each for each in overloads if each.method and _takes(each, type_))
        if fitting and _WORD.match(name):
            yield _function(name, fitting)
    if isinstance(type_, (types.ListType, types.MapType)):
        yield from (Suggestion(name, "function", "macro") for name in _ON_LISTS)
    elif isinstance(type_, types.OptionalType):
        yield from (Suggestion(name, "function", "macro") for name in _ON_OPTIONALS)


def _takes(each: Overload, target: types.Type) -> bool:
    """Whether a method may be called on a type; false for an unknown type."""
    if target in (types.DYN, types.ERROR) or isinstance(target, types.RecordType):
        return False
    substitution = Substitution()
    parameters = substitution.instantiate(each.arguments, each.generic)
    return not isinstance(each.arguments[0], types.TypeParam) and substitution.fits(target, parameters[0])


def _roots(ancestors: list[ast.Expr], checker: Checker, members: Iterable[str]) -> Iterator[Suggestion]:
    environment = checker.environment
    bound = {
        name: _bound(macro, checker) for macro in ancestors if isinstance(macro, ast.Macro) for name in macro.variables
    }
    yield from (Suggestion(name, "variable", type_) for name, type_ in bound.items())
    yield from (
        Suggestion(name, "variable", _brief(type_))
        for name, type_ in environment.variables.items()
        if name not in bound
    )
    yield from (Suggestion(name, "constant", "constant") for name in sorted(environment.members - set(members)))
    for name, overloads in environment.overloads.items():
        free = tuple(each for each in overloads if not each.method)
        if free and _WORD.match(name):
            yield _function(name, free)


def _bound(macro: ast.Macro, checker: Checker) -> str:
    """The type of a macro's variable, where its target determines it."""
    target = _type(checker, macro.target)
    return _brief(target.element) if isinstance(target, types.ListType) and len(macro.variables) == 1 else "bound here"


def _expected_enum(ancestors: list[ast.Expr], checker: Checker) -> types.EnumType | None:
    """The enum type of the other side of a comparison, or None."""
    for inner, outer in pairwise(ancestors):
        if isinstance(outer, ast.ListLiteral):
            continue
        if isinstance(outer, ast.Binary) and outer.operator not in ("&&", "||"):
            type_ = _type(checker, outer.left if outer.right is inner or outer.left is not inner else outer.right)
            type_ = type_.element if isinstance(type_, types.ListType) else type_
            return type_ if isinstance(type_, types.EnumType) else None
        return None
    return None


def _function(name: str, overloads: tuple[Overload, ...], prefix: str = "") -> Suggestion:
    ellipsis = " ..." if len(overloads) > 1 else ""
    return Suggestion(name.removeprefix(prefix), "function", f"{overloads[0].written(name)}{ellipsis}")


def _brief(type_: types.Type) -> str:
    """A type on one line."""
    if isinstance(type_, types.EnumType):
        return " | ".join(type_.members[:MAX_SHOWN]) + (" | ..." if len(type_.members) > MAX_SHOWN else "")
    return str(type_)


def _describe_type(type_: types.Type) -> str:
    """A type with its fields or members."""
    if isinstance(type_, types.EnumType):
        return f"{type_.name}: {_brief(type_)}"
    record = type_.element if isinstance(type_, types.ListType) else type_
    if isinstance(record, types.RecordType):
        names = list(record.fields)
        return f"{type_} {{{', '.join(names[:MAX_SHOWN])}{', ...' if len(names) > MAX_SHOWN else ''}}}"
    return str(type_)


def _name_range(part: ast.Expr) -> tuple[int, int]:
    """The start and end of a part's name, or of the whole part without one."""
    match part:
        case ast.Select(field=name):
            return part.span.end - len(name), part.span.end
        case ast.Call(function=name):
            return max(part.span.at - len(name), part.span.start), part.span.at
    return part.span.start, part.span.end


def _describe_part(part: ast.Expr, checker: Checker) -> str:
    match part:
        case ast.Name(name=name) if id(part) in checker.constants:
            return _code(f"{name}: a constant")
        case ast.Name(name=name) | ast.Select(field=name) | ast.Has(field=name):
            type_ = _type(checker, part)
            return "" if type_ == types.ERROR else _code(f"{name}: {_describe_type(type_)}")
        case ast.Call(function=name):
            return _describe_call(name, part, checker)
        case ast.Macro(kind=name):
            return _code(f"{name}: macro -> {_brief(_type(checker, part))}") if name in ast.MACROS else ""
        case ast.Literal():
            return _code(_brief(_type(checker, part)))
    return ""


def _describe_call(name: str, part: ast.Call, checker: Checker) -> str:
    full = checker.functions.get(id(part), name)
    is_method = part.target is not None and full == name
    overloads = [each for each in checker.environment.overloads.get(full, ()) if each.method == is_method]
    if not overloads:
        return ""
    lines = [each.written(full) for each in overloads[:MAX_SHOWN]]
    page = function_page(full)
    shown = _code("\n".join([*lines, "..."] if len(overloads) > MAX_SHOWN else lines))
    return "\n\n".join([shown, *(page.descriptions if page else ())])


def _code(text: str) -> str:
    return f"```cel\n{text}\n```"
