"""The syntax tree of an expression, with the span of every node.

Offsets count code points of the expression's text. `start` and `end` cover the whole node; `at` is the offset that an
error about the node points to: the operator, the `(` of a call, the `.` of a selection, the `[` of an index, else
`start`. Comparison of nodes ignores their spans.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from functools import partial
from operator import eq
from typing import Final, TypeAlias, TypeGuard, get_args

from msgspec import Struct

from rulewright_runtime.values import UInt

RESERVED: Final = frozenset(
    (
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
        "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip
PROFILE_NAMES: Final = frozenset(("loop",))  # reserved but not used by CEL; workflows use `loop.iteration`


class Dialect(enum.StrEnum):
    """Strict CEL, or CEL with the profile's word operators `and`, `or`, `not`."""

    STRICT = "strict"
    PROFILE = "profile"


LiteralValue: TypeAlias = bool | int | UInt | float | str | bytes | None


class TextSpan(Struct, frozen=True):
    """The span of a node in the text of an expression."""

    start: int
    end: int
    at: int


NOWHERE: Final = TextSpan(0, 0, 0)  # the span of a node without source text
_NOT_COMPARED: Final = frozenset({"span", "variable_spans"})


class _SyntaxNode(Struct, frozen=True, eq=False):
    """The base class of all nodes: a struct, because dataclasses take ten times as long to import."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._compared() == other._compared()

    def __ne__(self, other: object) -> bool:
        return not self == other  # a struct has its own `!=`, which goes by identity

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))

    def _compared(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__struct_fields__ if name not in _NOT_COMPARED])


class Literal(_SyntaxNode, frozen=True):
    """`null`, a bool, int, uint (`UInt`), double, string or bytes. `text` is the author's spelling of a number, which
    gives the exact value of a `score` literal."""

    value: LiteralValue
    span: TextSpan
    text: str | None = None

    def _compared(self) -> tuple[object, ...]:
        """`1`, `1u`, `1.0` and `true` are four values."""
        return (type(self.value), self.value)


class Name(_SyntaxNode, frozen=True):
    """An identifier; `absolute` when written with a leading dot."""

    name: str
    span: TextSpan
    absolute: bool = False


class Select(_SyntaxNode, frozen=True):
    """`operand.field`, or `operand.?field` when `optional`."""

    operand: Expr
    field: str
    span: TextSpan
    optional: bool = False


class Has(_SyntaxNode, frozen=True):
    """`has(operand.field)`, the presence test."""

    operand: Expr
    field: str
    span: TextSpan


class Index(_SyntaxNode, frozen=True):
    """`operand[index]`, or `operand[?index]` when `optional`."""

    operand: Expr
    index: Expr
    span: TextSpan
    optional: bool = False


class Call(_SyntaxNode, frozen=True):
    """`function(args)` or, with a target, `target.function(args)`. A namespaced call such as `math.greatest(1)` is
    parsed with target `math`; the checker decides whether `math.greatest` is a function."""

    function: str
    target: Expr | None
    args: tuple[Expr, ...]
    span: TextSpan
    absolute: bool = False


class Unary(_SyntaxNode, frozen=True):
    """`!operand` (also spelt `not`) or `-operand`; `operator` is `!` or `-`."""

    operator: str
    operand: Expr
    span: TextSpan


class Binary(_SyntaxNode, frozen=True):
    """A binary operator in its CEL spelling: `|| && == != < <= > >= in + - * / %`. `and`/`or` become `&&`/`||`.
    Chains associate to the left; those of `&&` and `||`, where grouping has no meaning, are balanced trees."""

    operator: str
    left: Expr
    right: Expr
    span: TextSpan


class Conditional(_SyntaxNode, frozen=True):
    """`condition ? then : otherwise`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    span: TextSpan


class ListLiteral(_SyntaxNode, frozen=True):
    """`[a, ?b]`; `optional` holds the indices written with `?`."""

    items: tuple[Expr, ...]
    span: TextSpan
    optional: tuple[int, ...] = ()


class MapLiteral(_SyntaxNode, frozen=True):
    """`{k: v, ?k: v}`; `optional` holds the indices of the entries written with `?`."""

    entries: tuple[tuple[Expr, Expr], ...]
    span: TextSpan
    optional: tuple[int, ...] = ()


class MessageLiteral(_SyntaxNode, frozen=True):
    """`Type{field: value}`. No message types exist here: the checker reports the type as unknown."""

    type_name: str
    fields: tuple[tuple[str, Expr], ...]
    span: TextSpan
    optional: tuple[int, ...] = ()


class Macro(_SyntaxNode, frozen=True):
    """An expanded macro: one of `MACROS`, its target (a range, an optional, or for `cel.bind` the bound value), the
    names it binds and its body expressions, in the order written.

        xs.all(x, p) / exists / exists_one / filter      variables=(x,) or (i, x); bodies=(p,)
        xs.map(x, t), xs.map(x, p, t)                    bodies=(t,) or (p, t)
        xs.transformList(i, x, t), (i, x, p, t)          kind transformList, transformMap, transformMapEntry
        cel.bind(x, value, body)                         kind bind, target=value, variables=(x,), bodies=(body,)
        o.optMap(x, t), o.optFlatMap(x, t)               target=o, variables=(x,), bodies=(t,)
        xs.sortBy(x, key)                                target=xs, variables=(x,), bodies=(key,)

    `exists_one` is also spelt `existsOne`; the node says `exists_one`. `variable_spans` are the spans of the names.
    """

    kind: str
    target: Expr
    variables: tuple[str, ...]
    bodies: tuple[Expr, ...]
    span: TextSpan
    variable_spans: tuple[TextSpan, ...] = ()


MACROS = (
    "all", "exists", "exists_one", "filter", "map", "transformList", "transformMap", "transformMapEntry", "bind",
    "optMap", "optFlatMap", "sortBy",
)  # fmt: skip

Expr: TypeAlias = (
    Literal | Name | Select | Has | Index | Call | Unary | Binary | Conditional | ListLiteral | MapLiteral
    | MessageLiteral | Macro
)  # fmt: skip
_NODES: Final = get_args(Expr)


def dotted(root: str, *fields: str) -> Expr:
    """The tree of `root.field.field`."""
    tree: Expr = Name(root, NOWHERE)
    for field in fields:
        tree = Select(tree, field, NOWHERE)
    return tree


def selections(e: Expr) -> tuple[Expr, list[str]]:
    """The root of a chain of plain selections, and the selected fields."""
    fields: list[str] = []
    while isinstance(e, Select) and not e.optional:
        fields.append(e.field)
        e = e.operand
    return e, fields[::-1]


def field_of(e: Expr, root: str) -> str | None:
    """The field that `root.field` reads; None for any other expression."""
    return e.field if isinstance(e, Select) and isinstance(e.operand, Name) and e.operand.name == root else None


def last_name(e: Expr) -> str:
    """The field or the name that an expression ends with; empty if it has none."""
    return e.field if isinstance(e, Select) else e.name if isinstance(e, Name) else ""


def number_in(e: Expr) -> int | float | None:
    """The number that a literal is; None for any other expression."""
    value = e.value if isinstance(e, Literal) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def chain(e: Expr, operator: str) -> list[Expr]:
    """The operands of nested `&&` or `||`, in order."""
    operands: list[Expr] = []
    pending = [e]
    while pending:
        here = pending.pop()
        if isinstance(here, Binary) and here.operator == operator:
            pending += (here.right, here.left)
        else:
            operands.append(here)
    return operands


def children(expr: Expr) -> tuple[Expr, ...]:
    """The child nodes of `expr`, in source order."""
    match expr:
        case Literal() | Name():
            return ()
        case Select() | Has() | Unary():
            return (expr.operand,)
        case Binary():
            return (expr.left, expr.right)
        case Call():
            return expr.args if expr.target is None else (expr.target, *expr.args)
        case Index():
            return (expr.operand, expr.index)
        case Macro():
            return (expr.target, *expr.bodies)
        case Conditional():
            return (expr.condition, expr.then, expr.otherwise)
        case ListLiteral():
            return expr.items
        case MapLiteral():
            return tuple(part for entry in expr.entries for part in entry)
        case MessageLiteral():
            return tuple(value for _, value in expr.fields)


def below(expr: Expr) -> Iterator[Expr]:
    """The node and all nodes below it, in pre-order."""
    pending = [expr]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(reversed(children(part)))


def with_children(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`expr` with each of its child nodes replaced by the result of `change`."""
    if isinstance(expr, Literal | Name):
        return expr
    node: Callable[..., Expr] = type(expr)
    return node(*(_changed(getattr(expr, field), change) for field in expr.__struct_fields__))


def _changed(value: object, change: Callable[[Expr], Expr]) -> object:
    """A field's value with its nodes replaced."""
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in value)
    return change(value) if isinstance(value, _NODES) else value


def texts_compared(part: Expr, names: Callable[[Expr], bool]) -> Iterator[Literal]:
    """Yield the text literals that the operator `part` compares with an operand for which `names` holds: by `==`, `!=`
    or `in` a list of literals."""
    if not isinstance(part, Binary):
        return
    if part.operator in ("==", "!="):
        sides = ((part.left, part.right), (part.right, part.left))
        yield from (other for one, other in sides if names(one) and _is_text(other))
    elif part.operator == "in" and isinstance(part.right, ListLiteral) and names(part.left):
        yield from (item for item in part.right.items if _is_text(item))


def texts_sought(part: Expr, names: Callable[[Expr], bool]) -> Iterator[Literal]:
    """Yield the text literals that `part` searches for in a list for which `names` holds: by `'x' in list`, or by a
    comparison in a macro over the list (`list.exists(x, x == 'x')`)."""
    if isinstance(part, Binary) and part.operator == "in" and names(part.right) and _is_text(part.left):
        yield part.left
    if isinstance(part, Macro) and names(part.target) and len(part.variables) == 1:
        pending = list(part.bodies)
        while pending:
            body = pending.pop()
            yield from texts_compared(body, partial(eq, Name(part.variables[0], NOWHERE)))
            pending += children(body)


def _is_text(part: Expr) -> TypeGuard[Literal]:
    return isinstance(part, Literal) and isinstance(part.value, str)
