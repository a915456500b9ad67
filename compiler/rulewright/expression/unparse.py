"""Prints a syntax tree as the text a person would write: minimal parentheses, one space around operators."""

from __future__ import annotations

import math
import re
from typing import Final

from rulewright.expression.syntax_tree import (
    PROFILE_NAMES,
    RESERVED,
    Binary,
    Call,
    Conditional,
    Dialect,
    Expr,
    Has,
    Index,
    ListLiteral,
    Literal,
    LiteralValue,
    Macro,
    MapLiteral,
    MessageLiteral,
    Name,
    Select,
    Unary,
    chain,
    children,
)
from rulewright_runtime.values import UInt

# Precedence of the outermost operator; an operand of lower precedence than required takes parentheses.
_ANY: Final = 0
_OR: Final = 1
_RELATION: Final = 3
_UNARY: Final = 6
_OPERAND: Final = 7
_BINARY: Final = {
    "||": _OR, "&&": 2,
    "==": _RELATION, "!=": _RELATION, "<": _RELATION, "<=": _RELATION, ">": _RELATION, ">=": _RELATION, "in": _RELATION,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"[A-Za-z0-9_./ -]+")
_WORDS = frozenset(("in", "true", "false", "null"))
_OPERATOR_WORDS = frozenset(("and", "or", "not"))
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def unparse(expr: Expr, dialect: Dialect = Dialect.PROFILE) -> str:
    """The text of `expr`, so that `parse(unparse(expr, dialect), dialect) == expr`; operators in their CEL spelling.

    Numbers keep their author's spelling if the node has it. Raises `ValueError` for a tree that has no text, such as a
    name that is an operator in the dialect. A call with the form of a macro is printed unchanged and parses to the same
    tree only without macros.
    """
    printer = _Printer(dialect)
    order = [expr]
    for node in order:
        order.extend(children(node))
    for node in reversed(order):  # children first, so that a deep tree needs no recursion
        if not isinstance(node, Name):
            printer.done[id(node)] = printer.parts(node)
    return printer.text(expr, _ANY)


class _Printer:
    """Prints for one dialect; `done` holds the precedence and the text of each printed node, by its `id`."""

    __slots__ = ("done", "profile")

    def __init__(self, dialect: Dialect) -> None:
        self.profile = dialect is Dialect.PROFILE
        self.done: dict[int, tuple[int, str]] = {}

    def text(self, expr: Expr, required: int) -> str:
        """The text of `expr`, in parentheses if its precedence is lower than `required`."""
        if isinstance(expr, Name):
            return self.name(expr.name, absolute=expr.absolute)
        precedence, text = self.done[id(expr)]
        return f"({text})" if precedence < required else text

    def parts(self, expr: Expr) -> tuple[int, str]:
        """The precedence and the text of `expr`."""
        match expr:
            case Binary():
                return self.binary(expr)
            case Unary():
                return _UNARY, expr.operator + self.text(expr.operand, _OPERAND)
            case Conditional():
                then, otherwise = self.text(expr.then, _OR), self.text(expr.otherwise, _ANY)
                return _ANY, f"{self.text(expr.condition, _OR)} ? {then} : {otherwise}"
            case Literal():
                number = isinstance(expr.value, int | float) and not isinstance(expr.value, bool)
                return (_UNARY if number else _OPERAND), literal(expr.value, expr.text)
        return _OPERAND, self.operand(expr)

    def binary(self, expr: Binary) -> tuple[int, str]:
        """A chain of `&&` or `||` is printed flat if the parser would balance it to the same tree."""
        precedence = _BINARY[expr.operator]
        if expr.operator in ("&&", "||"):
            parts = chain(expr, expr.operator) if _is_balanced(expr) else [expr.left, expr.right]
            return precedence, f" {expr.operator} ".join([self.text(part, precedence + 1) for part in parts])
        left, right = self.text(expr.left, precedence), self.text(expr.right, precedence + 1)
        return precedence, f"{left} {expr.operator} {right}"

    def operand(self, expr: Expr) -> str:
        """The text of an expression that never needs parentheses."""
        match expr:
            case Select():
                return f"{self.text(expr.operand, _OPERAND)}.{'?' if expr.optional else ''}{_field(expr.field)}"
            case Index():
                mark = "?" if expr.optional else ""
                return f"{self.text(expr.operand, _OPERAND)}[{mark}{self.text(expr.index, _ANY)}]"
            case Has():
                return f"has({self.text(expr.operand, _OPERAND)}.{_field(expr.field)})"
            case Call(target=None):
                return f"{self.name(expr.function, absolute=expr.absolute)}({self.list(expr.args)})"
            case Call(target=target) if target is not None:
                return f"{self.text(target, _OPERAND)}.{_plain(expr.function)}({self.list(expr.args)})"
            case Macro(kind="bind"):
                return f"cel.bind({self.name(expr.variables[0])}, {self.list((expr.target, *expr.bodies))})"
            case Macro():
                names = ", ".join(map(self.name, expr.variables))
                return f"{self.text(expr.target, _OPERAND)}.{expr.kind}({names}, {self.list(expr.bodies)})"
            case ListLiteral():
                return f"[{self.list(expr.items, expr.optional)}]"
            case MapLiteral():
                entries = [f"{self.key(key)}: {self.text(value, _ANY)}" for key, value in expr.entries]
                return "{" + _marked(entries, expr.optional) + "}"
            case MessageLiteral():
                entries = [f"{_field(field)}: {self.text(value, _ANY)}" for field, value in expr.fields]
                return f"{expr.type_name}{{{_marked(entries, expr.optional)}}}"
        raise ValueError(f"`{type(expr).__name__}` has no text")

    def list(self, items: tuple[Expr, ...], optional: tuple[int, ...] = ()) -> str:
        """`items` with commas between them."""
        return _marked([self.text(item, _ANY) for item in items], optional)

    def key(self, key: Expr) -> str:
        """The text of a map's key, in which an operator word of the profile is a name."""
        if isinstance(key, Name) and key.name in _OPERATOR_WORDS:
            return key.name if not key.absolute else f".{key.name}"
        return self.text(key, _ANY)

    def name(self, name: str, *, absolute: bool = False) -> str:
        """The text of a name that is a whole expression."""
        reserved = RESERVED - PROFILE_NAMES if self.profile else RESERVED
        if name in reserved or (self.profile and not absolute and name in _OPERATOR_WORDS):
            raise ValueError(f"`{name}` can't be a name")
        return f".{_plain(name)}" if absolute else _plain(name)


def literal(value: LiteralValue, text: str | None = None) -> str:
    """The text of a literal; `text` is its author's spelling."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case UInt():
            return text or f"{int(value)}u"
        case int():
            return text or str(value)
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} has no literal")
            return text or repr(value)
        case str():
            return _string(value)
        case bytes():
            return "b'" + "".join([_octet(code) for code in value]) + "'"


def _string(value: str) -> str:
    quote = '"' if "'" in value and '"' not in value else "'"
    if "\\" in value and quote not in value and value.isprintable():
        return f"r{quote}{value}{quote}"
    return quote + "".join([_character(character, quote) for character in value]) + quote


def _character(character: str, quote: str) -> str:
    if character == quote:
        return "\\" + quote
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("a literal can't contain an unpaired surrogate")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _octet(code: int) -> str:
    character = chr(code)
    return _character(character, "'") if 32 <= code < 127 else f"\\x{code:02x}"


def _marked(texts: list[str], optional: tuple[int, ...]) -> str:
    return ", ".join([f"?{text}" if index in optional else text for index, text in enumerate(texts)])


def _plain(name: str) -> str:
    if not _NAME.fullmatch(name) or name in _WORDS:
        raise ValueError(f"`{name}` can't be a name")
    return name


def _field(name: str) -> str:
    if _NAME.fullmatch(name) and name not in _WORDS:
        return name
    if not _QUOTED.fullmatch(name):
        raise ValueError(f"`{name}` can't be a field's name")
    return f"`{name}`"


def _leaves(expr: Expr, operator: str) -> int:
    if isinstance(expr, Binary) and expr.operator == operator:
        return _leaves(expr.left, operator) + _leaves(expr.right, operator)
    return 1


def _is_balanced(expr: Expr, operator: str | None = None) -> bool:
    """Whether the parser groups a flat chain of the operands into this tree."""
    if not isinstance(expr, Binary) or expr.operator != (operator or expr.operator):
        return True
    left, right = _leaves(expr.left, expr.operator), _leaves(expr.right, expr.operator)
    if left != (left + right - 1) // 2 + 1:
        return False
    return _is_balanced(expr.left, expr.operator) and _is_balanced(expr.right, expr.operator)
