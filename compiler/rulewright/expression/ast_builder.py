"""Builds syntax nodes while Lark parses, one function for each alias of the grammar."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from rulewright.expression.expand import expand
from rulewright.expression.nodes import (
    Binary,
    Call,
    Conditional,
    Expr,
    Index,
    ListLiteral,
    MapLiteral,
    MessageLiteral,
    Name,
    Select,
    TextSpan,
    Unary,
)
from rulewright.expression.syntax_errors import end_of, start_of
from rulewright_runtime.values import Value

if TYPE_CHECKING:
    from lark import Token

_SPELLING = {"OR": "||", "AND": "&&"}
Kids: TypeAlias = list[Value]  # what the symbols of a rule stand for: a token, a node, or what another function gave
_OptionalEntry: TypeAlias = tuple[Value, Expr, bool]  # key and value of an entry, and whether it was written with `?`


def _literal(kids: Kids) -> Expr:
    literal: Expr = kids[0].value
    return literal


def _name(kids: Kids) -> Expr:
    (token,) = kids
    start = start_of(token)
    return Name(token.value, TextSpan(start, end_of(token), start))


def _absolute_name(kids: Kids) -> Expr:
    dot, token = kids
    return Name(token.value, TextSpan(start_of(dot), end_of(token), start_of(token)), absolute=True)


def _field(token: Token) -> str:
    name: str = token.value
    return name[1:-1] if token.type == "QUOTED" else name


def _select(kids: Kids) -> Expr:
    operand, dot, field = kids
    return Select(operand, _field(field), TextSpan(operand.span.start, end_of(field), start_of(dot)))


def _select_optional(kids: Kids) -> Expr:
    operand, dot, _, field = kids
    return Select(operand, _field(field), TextSpan(operand.span.start, end_of(field), start_of(dot)), optional=True)


def _index(kids: Kids) -> Expr:
    operand, opener, index, closer = kids
    return Index(operand, index, TextSpan(operand.span.start, end_of(closer), start_of(opener)))


def _index_optional(kids: Kids) -> Expr:
    operand, opener, _, index, closer = kids
    return Index(operand, index, TextSpan(operand.span.start, end_of(closer), start_of(opener)), optional=True)


def _plain_call(kids: Kids) -> Call:
    name, opener, *arguments, closer = kids
    return _called(None, name, opener, arguments, TextSpan(start_of(name), end_of(closer), start_of(opener)))


def _absolute_call(kids: Kids) -> Call:
    dot, name, opener, *arguments, closer = kids
    span = TextSpan(start_of(dot), end_of(closer), start_of(opener))
    return replace(_called(None, name, opener, arguments, span), absolute=True)


def _plain_method(kids: Kids) -> Call:
    target, _, name, opener, *arguments, closer = kids
    return _called(target, name, opener, arguments, TextSpan(target.span.start, end_of(closer), start_of(opener)))


def _called(target: Expr | None, name: Token, opener: Token, arguments: Kids, span: TextSpan) -> Call:
    return Call(name.value, target, tuple(arguments[0]) if arguments else (), span)


def _call(kids: Kids) -> Expr:
    return _plain_call(kids)


def _method(kids: Kids) -> Expr:
    return _plain_method(kids)


def _macro_call(kids: Kids) -> Expr:
    return expand(_plain_call(kids))


def _macro_method(kids: Kids) -> Expr:
    return expand(_plain_method(kids))


def _parenthesised(kids: Kids) -> Expr:
    """The node within, its span widened to the parentheses so that its neighbours cover them."""
    opener, node, closer = kids
    widened: Expr = replace(node, span=TextSpan(start_of(opener), end_of(closer), node.span.at))
    return widened


def _optional_item(kids: Kids) -> tuple[Expr]:
    return (kids[1],)


def _entry(kids: Kids) -> _OptionalEntry:
    return (kids[0], kids[2], False)


def _optional_entry(kids: Kids) -> _OptionalEntry:
    return (kids[1], kids[3], True)


def _first(kids: Kids) -> Kids:
    return kids


def _more(kids: Kids) -> Kids:
    """A list and one more, behind a comma if there is one between them."""
    found: Kids = kids[0]
    found.append(kids[-1])
    return found


def _parts(kids: Kids) -> Kids:
    return next((kid for kid in kids if type(kid) is list), [])


def _list_literal(kids: Kids) -> Expr:
    parts, start = _parts(kids), start_of(kids[0])
    optional = tuple(i for i, part in enumerate(parts) if type(part) is tuple)
    items = tuple(part[0] if type(part) is tuple else part for part in parts)
    return ListLiteral(items, TextSpan(start, end_of(kids[-1]), start), optional)


def _map_literal(kids: Kids) -> Expr:
    parts, start = _parts(kids), start_of(kids[0])
    optional = tuple(i for i, part in enumerate(parts) if part[2])
    entries = tuple((key, value) for key, value, _ in parts)
    return MapLiteral(entries, TextSpan(start, end_of(kids[-1]), start), optional)


def _message(kids: Kids) -> Expr:
    node, names = kids[0], []
    span = TextSpan(node.span.start, end_of(kids[-1]), start_of(kids[1]))
    while isinstance(node, Select):
        names.append(node.field)
        node = node.operand
    names.append("." + node.name if node.absolute else node.name)
    parts = _parts(kids)
    optional = tuple(i for i, part in enumerate(parts) if part[2])
    fields = tuple((_field(token), value) for token, value, _ in parts)
    return MessageLiteral(".".join(reversed(names)), fields, span, optional)


def _signed(kids: Kids) -> Expr:
    """Pairs cancel out, as in cel-go; `!!x` is `x`."""
    signs, operand = kids
    if len(signs) % 2 == 0:
        node: Expr = operand
        return node
    start = start_of(signs[0])
    return Unary(signs[0].value, operand, TextSpan(start, operand.span.end, start))


def _not_word(kids: Kids) -> Expr:
    word, operand = kids
    start = start_of(word)
    return Unary("!", operand, TextSpan(start, operand.span.end, start))


def _binary(kids: Kids) -> Expr:
    left, operator, right = kids
    return Binary(operator.value, left, right, TextSpan(left.span.start, right.span.end, start_of(operator)))


def _conditional(kids: Kids) -> Expr:
    condition, question, then, _, otherwise = kids
    span = TextSpan(condition.span.start, otherwise.span.end, start_of(question))
    return Conditional(condition, then, otherwise, span)


def _chain_more(kids: Kids) -> Kids:
    found: Kids = kids[0]
    found.extend(kids[1:])
    return found


def _balance(kids: Kids) -> Expr:
    """A chain of n operands is log n deep, as in cel-go; the operators commute, so their grouping says nothing."""
    (chain,) = kids
    return _balanced(chain[0::2], chain[1::2])


def _balanced(operands: list[Expr], operators: list[Token]) -> Expr:
    """The tree of a chain: split at the middle operator, the left side taking the larger half."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operators) // 2
    operator = operators[middle]
    left = _balanced(operands[: middle + 1], operators[:middle])
    right = _balanced(operands[middle + 1 :], operators[middle + 1 :])
    span = TextSpan(operands[0].span.start, operands[-1].span.end, start_of(operator))
    return Binary(_SPELLING[operator.type], left, right, span)


class AstBuilder:
    """Lark's transformer: for each alias of the grammar, and each rule without one, what its symbols become."""

    # A rule of one symbol without an alias passes its node on.
    start = expr = disjunction = conjunction = negation = relation = sum = product = unary = itemgetter(0)
    operand = qualified = member = part_of = item = itemgetter(0)

    literal = staticmethod(_literal)
    name = staticmethod(_name)
    absolute_name = staticmethod(_absolute_name)
    select = staticmethod(_select)
    select_optional = staticmethod(_select_optional)
    index = staticmethod(_index)
    index_optional = staticmethod(_index_optional)
    call = staticmethod(_call)
    absolute_call = staticmethod(_absolute_call)
    method = staticmethod(_method)
    parenthesised = staticmethod(_parenthesised)
    optional_item = staticmethod(_optional_item)
    entry = staticmethod(_entry)
    optional_entry = staticmethod(_optional_entry)
    first = run = chain = staticmethod(_first)
    more = run_more = staticmethod(_more)
    list_literal = staticmethod(_list_literal)
    map_literal = staticmethod(_map_literal)
    message = staticmethod(_message)
    signed = staticmethod(_signed)
    not_word = staticmethod(_not_word)
    binary = staticmethod(_binary)
    conditional = staticmethod(_conditional)
    chain_more = staticmethod(_chain_more)
    balance = staticmethod(_balance)


class MacroBuilder(AstBuilder):
    """As AstBuilder, with macros expanded; one that is written wrongly stays a call."""

    call = staticmethod(_macro_call)
    method = staticmethod(_macro_method)
