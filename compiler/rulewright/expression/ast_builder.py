"""Builds syntax nodes while Lark parses, with one method for each alias of the grammar, and expands macros.

Which calls are macros, and the form they must have, follows cel-go's expanders.
"""

from operator import itemgetter
from typing import NamedTuple, TypeAlias, TypeGuard

from lark import Token
from msgspec.structs import replace

from rulewright.expression.syntax_errors import end_of, start_of
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Conditional,
    Expr,
    Has,
    Index,
    ListLiteral,
    Macro,
    MapLiteral,
    MessageLiteral,
    Name,
    Select,
    TextSpan,
    Unary,
)
from rulewright_runtime.values import Value

_SPELLING = {"OR": "||", "AND": "&&"}
Kids: TypeAlias = list[Value]  # the values of a rule's symbols: tokens, nodes, or results of other methods
_OptionalEntry: TypeAlias = tuple[Value, Expr, bool]  # key and value of an entry, and whether it was written with `?`


class AstBuilder:
    """Lark's transformer: one method for each alias of the grammar, and for each rule without one.

    With `macros` macros are expanded; a misused one stays a call.
    """

    def __init__(self, macros: bool) -> None:
        self.macros = macros

    # A rule with one symbol and no alias returns the node of the symbol.
    start = expr = disjunction = conjunction = negation = relation = sum = product = unary = itemgetter(0)
    operand = qualified = member = part_of = item = itemgetter(0)

    def literal(self, kids: Kids) -> Expr:
        literal: Expr = kids[0].value
        return literal

    def name(self, kids: Kids) -> Expr:
        *dot, token = kids
        return Name(token.value, TextSpan(start_of(kids[0]), end_of(token), start_of(token)), absolute=bool(dot))

    absolute_name = name

    def select(self, kids: Kids) -> Expr:
        operand, dot, *mark, field = kids
        span = TextSpan(operand.span.start, end_of(field), start_of(dot))
        return Select(operand, _field(field), span, optional=bool(mark))

    select_optional = select

    def index(self, kids: Kids) -> Expr:
        operand, opener, *mark, index, closer = kids
        span = TextSpan(operand.span.start, end_of(closer), start_of(opener))
        return Index(operand, index, span, optional=bool(mark))

    index_optional = index

    def call(self, kids: Kids) -> Expr:
        name, opener, *arguments, closer = kids
        span = TextSpan(start_of(name), end_of(closer), start_of(opener))
        return self._expanded(_call(None, name, opener, arguments, span))

    def absolute_call(self, kids: Kids) -> Expr:
        dot, name, opener, *arguments, closer = kids
        span = TextSpan(start_of(dot), end_of(closer), start_of(opener))
        return replace(_call(None, name, opener, arguments, span), absolute=True)

    def method(self, kids: Kids) -> Expr:
        target, _, name, opener, *arguments, closer = kids
        span = TextSpan(target.span.start, end_of(closer), start_of(opener))
        return self._expanded(_call(target, name, opener, arguments, span))

    def _expanded(self, call: Call) -> Expr:
        return expand(call) if self.macros else call

    def parenthesised(self, kids: Kids) -> Expr:
        """The inner node, with the parentheses added to its span, so that the spans of its parents include them."""
        opener, node, closer = kids
        widened: Expr = replace(node, span=TextSpan(start_of(opener), end_of(closer), node.span.at))
        return widened

    def optional_item(self, kids: Kids) -> tuple[Expr]:
        return (kids[1],)

    def entry(self, kids: Kids) -> _OptionalEntry:
        return (kids[0], kids[2], False)

    def optional_entry(self, kids: Kids) -> _OptionalEntry:
        return (kids[1], kids[3], True)

    def first(self, kids: Kids) -> Kids:
        return kids

    run = chain = first

    def more(self, kids: Kids) -> Kids:
        """The list with one more item, with or without a comma between them."""
        items: Kids = kids[0]
        items.append(kids[-1])
        return items

    run_more = more

    def list_literal(self, kids: Kids) -> Expr:
        parts, start = _parts(kids), start_of(kids[0])
        optional = tuple(i for i, part in enumerate(parts) if type(part) is tuple)
        items = tuple(part[0] if type(part) is tuple else part for part in parts)
        return ListLiteral(items, TextSpan(start, end_of(kids[-1]), start), optional)

    def map_literal(self, kids: Kids) -> Expr:
        parts, start = _parts(kids), start_of(kids[0])
        optional = tuple(i for i, part in enumerate(parts) if part[2])
        entries = tuple((key, value) for key, value, _ in parts)
        return MapLiteral(entries, TextSpan(start, end_of(kids[-1]), start), optional)

    def message(self, kids: Kids) -> Expr:
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

    def signed(self, kids: Kids) -> Expr:
        """Pairs of signs cancel out, as in cel-go: `!!x` is `x`."""
        signs, operand = kids
        if len(signs) % 2 == 0:
            node: Expr = operand
            return node
        start = start_of(signs[0])
        return Unary(signs[0].value, operand, TextSpan(start, operand.span.end, start))

    def not_word(self, kids: Kids) -> Expr:
        word, operand = kids
        start = start_of(word)
        return Unary("!", operand, TextSpan(start, operand.span.end, start))

    def binary(self, kids: Kids) -> Expr:
        left, operator, right = kids
        return Binary(operator.value, left, right, TextSpan(left.span.start, right.span.end, start_of(operator)))

    def conditional(self, kids: Kids) -> Expr:
        condition, question, then, _, otherwise = kids
        span = TextSpan(condition.span.start, otherwise.span.end, start_of(question))
        return Conditional(condition, then, otherwise, span)

    def chain_more(self, kids: Kids) -> Kids:
        chain: Kids = kids[0]
        chain.extend(kids[1:])
        return chain

    def balance(self, kids: Kids) -> Expr:
        """A chain of n operands is log n deep, as in cel-go; the operators commute, so grouping has no meaning."""
        (chain,) = kids
        return _balanced(chain[0::2], chain[1::2])


def _field(token: Token) -> str:
    name: str = token.value
    return name[1:-1] if token.type == "QUOTED" else name


def _call(target: Expr | None, name: Token, opener: Token, arguments: Kids, span: TextSpan) -> Call:
    return Call(name.value, target, tuple(arguments[0]) if arguments else (), span)


def _parts(kids: Kids) -> Kids:
    return next((kid for kid in kids if type(kid) is list), [])


def _balanced(operands: list[Expr], operators: list[Token]) -> Expr:
    """The tree of a chain, split at the middle operator, with the larger half on the left."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operators) // 2
    operator = operators[middle]
    left = _balanced(operands[: middle + 1], operators[:middle])
    right = _balanced(operands[middle + 1 :], operators[middle + 1 :])
    span = TextSpan(operands[0].span.start, operands[-1].span.end, start_of(operator))
    return Binary(_SPELLING[operator.type], left, right, span)


# The number of leading names of a macro, by its name and number of arguments.
_VARIABLES = {
    **{name: {2: 1, 3: 2} for name in ("all", "exists", "exists_one", "existsOne")},
    **{name: {3: 2, 4: 2} for name in ("transformList", "transformMap", "transformMapEntry")},
    **{name: {2: 1} for name in ("filter", "sortBy", "optMap", "optFlatMap")},
    "map": {2: 1, 3: 1},
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
    count = _VARIABLES.get(call.function, {}).get(len(arguments))
    if count is None:
        return call
    names = arguments[:count]
    error = _misnamed(call.function, names)
    if error is not None:
        return error
    variables = [name for name in names if isinstance(name, Name)]
    spans = tuple(name.span for name in variables)
    kind = "exists_one" if call.function == "existsOne" else call.function
    return Macro(kind, target, tuple(name.name for name in variables), arguments[count:], call.span, spans)


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


def _misnamed(macro: str, names: tuple[Expr, ...]) -> Misuse | None:
    """The mistake in the names of a macro's elements, or None."""
    before = ""
    for name in names:
        if not _is_simple(name):
            example = "`xs.map(x, x + 1)`" if len(names) == 1 else "`xs.all(i, x, x > i)`"
            return Misuse(f"`{macro}` takes a plain name here, for the element, as in {example}", name.span)
        if name.name == ACCUMULATOR and macro not in _NO_LOOP:
            return Misuse(f"`{ACCUMULATOR}` is reserved: choose another name for the element", name.span)
        if name.name == before:
            return Misuse(f"`{name.name}` names two things in one macro: choose another name", name.span)
        before = name.name
    return None


def _is_simple(expr: Expr) -> TypeGuard[Name]:
    return isinstance(expr, Name) and not expr.absolute


MACRO_NAMES = frozenset(("has", "bind", *_VARIABLES))
