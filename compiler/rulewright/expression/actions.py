"""Builds syntax nodes, one function for each alias of the grammar."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rulewright.expression.expand import expand
from rulewright.expression.nodes import (
    Binary,
    Call,
    Conditional,
    Expr,
    Index,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Name,
    Place,
    Select,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.expression.syntax_errors import Mistakes
    from rulewright.expression.token import Token

RESERVED = frozenset(
    (
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
        "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip
PROFILE_NAMES = frozenset(("loop",))  # reserved in CEL for no use of its own; workflows say `loop.iteration`
_NUMBERS = frozenset(("INT", "UINT", "DOUBLE"))
_SPELLING = {"OR": "||", "AND": "&&"}


class Builder:
    """What an action needs to know: where mistakes go, and whether macros are expanded."""

    __slots__ = ("macros", "mistakes", "reserved", "text")

    def __init__(self, mistakes: Mistakes, *, macros: bool) -> None:
        """Build with `macros` expanded or left as calls."""
        self.text = mistakes.text
        self.mistakes = mistakes
        self.macros = macros
        self.reserved: dict[int, str] = {}

    def finish(self, allowed: frozenset[str]) -> None:
        """Report the reserved words that stand as names, but for those allowed; only now it is sure that none begins a
        message type."""
        for start, word in self.reserved.items():
            if word in allowed:
                continue
            help = f"as a field it may stand after a dot, as in `x.{word}`"
            self.mistakes.add(f"`{word}` is a reserved word and can't be a name", start, start + len(word), help)


# Every action takes the builder, what the rule's symbols stand for (a token, a node, or what an action gave), and where
# the rule starts and ends.


def _literal(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    token = kids[0]
    spelling = b.text[start:end] if token.kind in _NUMBERS else None
    if spelling is not None and spelling[0] == "-":
        spelling = "-" + spelling.split()[-1].lstrip("-")  # blanks may stand between the sign and the digits
    return Literal(token.value, Place(start, end, start), spelling)


def _name(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    name = kids[0].value
    if name in RESERVED:
        b.reserved[start] = name
    return Name(name, Place(start, end, start))


def _absolute_name(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    token = kids[1]
    if token.value in RESERVED:
        b.reserved[start] = token.value
    return Name(token.value, Place(start, end, token.start), absolute=True)


def _field(token: Token) -> str:
    name: str = token.value
    return name[1:-1] if token.kind == "QUOTED" else name


def _select(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Select(kids[0], _field(kids[2]), Place(start, end, kids[1].start))


def _select_optional(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Select(kids[0], _field(kids[3]), Place(start, end, kids[1].start), optional=True)


def _index(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Index(kids[0], kids[2], Place(start, end, kids[1].start))


def _index_optional(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Index(kids[0], kids[3], Place(start, end, kids[1].start), optional=True)


def _call(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return _finish_call(b, None, kids, start, end)


def _absolute_call(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return _finish_call(b, None, kids[1:], start, end, absolute=True)


def _method(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return _finish_call(b, kids[0], kids[2:], start, end)


def _finish_call(
    b: Builder, target: Expr | None, kids: list[Any], start: int, end: int, *, absolute: bool = False
) -> Expr:
    """A call from its name, `(`, perhaps the arguments, and `)`."""
    name = kids[0].value
    if target is None and name in RESERVED:
        b.reserved[start] = name
    arguments = tuple(kids[2]) if len(kids) == 4 else ()
    call = Call(name, target, arguments, Place(start, end, kids[1].start), absolute)
    return expand(call, b.mistakes) if b.macros else call


def _parenthesised(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    """The node within, its place widened to the parentheses so that its neighbours cover them."""
    node: Expr = kids[1]
    return replace(node, place=Place(start, end, node.place.at))


def _optional_item(_b: Builder, kids: list[Any], _start: int, _end: int) -> tuple[Expr]:
    return (kids[1],)


def _entry(_b: Builder, kids: list[Any], _start: int, _end: int) -> tuple[Any, Expr, bool]:
    return (kids[0], kids[2], False)


def _optional_entry(_b: Builder, kids: list[Any], _start: int, _end: int) -> tuple[Any, Expr, bool]:
    return (kids[1], kids[3], True)


def _first(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    return kids


def _more(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    kids[0].append(kids[2])
    found: list[Any] = kids[0]
    return found


def _parts(kids: list[Any]) -> list[Any]:
    return next((kid for kid in kids if type(kid) is list), [])


def _list_literal(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    parts = _parts(kids)
    optional = tuple(i for i, part in enumerate(parts) if type(part) is tuple)
    items = tuple(part[0] if type(part) is tuple else part for part in parts)
    return ListLiteral(items, Place(start, end, start), optional)


def _map_literal(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    parts = _parts(kids)
    optional = tuple(i for i, part in enumerate(parts) if part[2])
    return MapLiteral(tuple((key, value) for key, value, _ in parts), Place(start, end, start), optional)


def _message(b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    node, names = kids[0], []
    while isinstance(node, Select):
        names.append(node.field)
        node = node.operand
    names.append("." + node.name if node.absolute else node.name)
    b.reserved.pop(node.place.start, None)
    parts = _parts(kids)
    optional = tuple(i for i, part in enumerate(parts) if part[2])
    fields = tuple((_field(token), value) for token, value, _ in parts)
    return MessageLiteral(".".join(reversed(names)), fields, Place(start, end, kids[1].start), optional)


def _run(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    return kids


def _run_more(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    kids[0].append(kids[1])
    found: list[Any] = kids[0]
    return found


def _signed(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    """Pairs cancel out, as in cel-go; `!!x` is `x`."""
    signs, operand = kids
    if len(signs) % 2 == 0:
        node: Expr = operand
        return node
    return Unary(signs[0].value, operand, Place(start, end, start))


def _not_word(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Unary("!", kids[1], Place(start, end, start))


def _binary(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Binary(kids[1].value, kids[0], kids[2], Place(start, end, kids[1].start))


def _conditional(_b: Builder, kids: list[Any], start: int, end: int) -> Expr:
    return Conditional(kids[0], kids[2], kids[4], Place(start, end, kids[1].start))


def _chain(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    return kids


def _chain_more(_b: Builder, kids: list[Any], _start: int, _end: int) -> list[Any]:
    found: list[Any] = kids[0]
    found.extend(kids[1:])
    return found


def _balance(_b: Builder, kids: list[Any], _start: int, _end: int) -> Expr:
    """A chain of n operands is log n deep, as in cel-go; the operators commute, so their grouping says nothing."""
    chain = kids[0]
    return balanced(chain[0::2], chain[1::2])


def balanced(operands: list[Expr], operators: list[Token]) -> Expr:
    """The tree of a chain: split at the middle operator, the left side taking the larger half."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operators) // 2
    operator = operators[middle]
    left = balanced(operands[: middle + 1], operators[:middle])
    right = balanced(operands[middle + 1 :], operators[middle + 1 :])
    place = Place(operands[0].place.start, operands[-1].place.end, operator.start)
    return Binary(_SPELLING[operator.kind], left, right, place)


ACTIONS: dict[str, Callable[[Builder, list[Any], int, int], Any]] = {
    "literal": _literal,
    "name": _name,
    "absolute_name": _absolute_name,
    "select": _select,
    "select_optional": _select_optional,
    "index": _index,
    "index_optional": _index_optional,
    "call": _call,
    "absolute_call": _absolute_call,
    "method": _method,
    "parenthesised": _parenthesised,
    "optional_item": _optional_item,
    "entry": _entry,
    "optional_entry": _optional_entry,
    "first": _first,
    "more": _more,
    "list_literal": _list_literal,
    "map_literal": _map_literal,
    "message": _message,
    "run": _run,
    "run_more": _run_more,
    "signed": _signed,
    "not_word": _not_word,
    "binary": _binary,
    "conditional": _conditional,
    "chain": _chain,
    "chain_more": _chain_more,
    "balance": _balance,
}
