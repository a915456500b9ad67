"""Prints expressions as a person would write them: programs become syntax trees, and trees text.

Programs don't contain the names of bound variables; they become `x`, `y`, `z`. Nodes that lowering added, such as the
conversion to a score, are left out. Text has minimal parentheses and one space around operators.
"""

import base64
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Final

from rulewright.expression import syntax_tree as ast
from rulewright.expression.declarations import profile_functions
from rulewright_runtime.functions.times import format_duration, format_timestamp
from rulewright_runtime.ir import Node, Program, literal_value
from rulewright_runtime.ir import literal as tagged_literal
from rulewright_runtime.values import UInt, Value

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


def unparse(expr: ast.Expr, dialect: ast.Dialect = ast.Dialect.PROFILE) -> str:
    """The text of `expr`, so that `parse(unparse(expr, dialect), dialect) == expr`; operators in their CEL spelling.

    Numbers keep their author's spelling if the node has it. Raises `ValueError` for a tree that has no text, such as a
    name that is an operator in the dialect. A call with the form of a macro is printed unchanged and parses to the same
    tree only without macros.
    """
    printer = _Printer(dialect)
    order = [expr]
    for node in order:
        order.extend(ast.children(node))
    for node in reversed(order):  # children first, so that a deep tree needs no recursion
        if not isinstance(node, ast.Name):
            printer.done[id(node)] = printer.parts(node)
    return printer.text(expr, _ANY)


class _Printer:
    """Prints for one dialect; `done` holds the precedence and the text of each printed node, by its `id`."""

    __slots__ = ("done", "profile")

    def __init__(self, dialect: ast.Dialect) -> None:
        self.profile = dialect is ast.Dialect.PROFILE
        self.done: dict[int, tuple[int, str]] = {}

    def text(self, expr: ast.Expr, required: int) -> str:
        """The text of `expr`, in parentheses if its precedence is lower than `required`."""
        if isinstance(expr, ast.Name):
            return self.name(expr.name, absolute=expr.absolute)
        precedence, text = self.done[id(expr)]
        return f"({text})" if precedence < required else text

    def parts(self, expr: ast.Expr) -> tuple[int, str]:
        """The precedence and the text of `expr`."""
        match expr:
            case ast.Binary():
                return self.binary(expr)
            case ast.Unary():
                return _UNARY, expr.operator + self.text(expr.operand, _OPERAND)
            case ast.Conditional():
                then, otherwise = self.text(expr.then, _OR), self.text(expr.otherwise, _ANY)
                return _ANY, f"{self.text(expr.condition, _OR)} ? {then} : {otherwise}"
            case ast.Literal():
                number = isinstance(expr.value, int | float) and not isinstance(expr.value, bool)
                return (_UNARY if number else _OPERAND), literal(expr.value, expr.text)
        return _OPERAND, self.operand(expr)

    def binary(self, expr: ast.Binary) -> tuple[int, str]:
        """A chain of `&&` or `||` is printed flat if the parser would balance it to the same tree."""
        precedence = _BINARY[expr.operator]
        if expr.operator in ("&&", "||"):
            parts = ast.chain(expr, expr.operator) if _is_balanced(expr) else [expr.left, expr.right]
            return precedence, f" {expr.operator} ".join([self.text(part, precedence + 1) for part in parts])
        left, right = self.text(expr.left, precedence), self.text(expr.right, precedence + 1)
        return precedence, f"{left} {expr.operator} {right}"

    def operand(self, expr: ast.Expr) -> str:
        """The text of an expression that never needs parentheses."""
        match expr:
            case ast.Select():
                return f"{self.text(expr.operand, _OPERAND)}.{'?' if expr.optional else ''}{_field(expr.field)}"
            case ast.Index():
                mark = "?" if expr.optional else ""
                return f"{self.text(expr.operand, _OPERAND)}[{mark}{self.text(expr.index, _ANY)}]"
            case ast.Has():
                return f"has({self.text(expr.operand, _OPERAND)}.{_field(expr.field)})"
            case ast.Call(target=None):
                return f"{self.name(expr.function, absolute=expr.absolute)}({self.list(expr.args)})"
            case ast.Call(target=target) if target is not None:
                return f"{self.text(target, _OPERAND)}.{_plain(expr.function)}({self.list(expr.args)})"
            case ast.Macro(kind="bind"):
                return f"cel.bind({self.name(expr.variables[0])}, {self.list((expr.target, *expr.bodies))})"
            case ast.Macro():
                names = ", ".join(map(self.name, expr.variables))
                return f"{self.text(expr.target, _OPERAND)}.{expr.kind}({names}, {self.list(expr.bodies)})"
            case ast.ListLiteral():
                return f"[{self.list(expr.items, expr.optional)}]"
            case ast.MapLiteral():
                entries = [f"{self.key(key)}: {self.text(value, _ANY)}" for key, value in expr.entries]
                return "{" + _marked(entries, expr.optional) + "}"
            case ast.MessageLiteral():
                entries = [f"{_field(field)}: {self.text(value, _ANY)}" for field, value in expr.fields]
                return f"{expr.type_name}{{{_marked(entries, expr.optional)}}}"
        raise ValueError(f"`{type(expr).__name__}` has no text")

    def list(self, items: tuple[ast.Expr, ...], optional: tuple[int, ...] = ()) -> str:
        """`items` with commas between them."""
        return _marked([self.text(item, _ANY) for item in items], optional)

    def key(self, key: ast.Expr) -> str:
        """The text of a map's key, in which an operator word of the profile is a name."""
        if isinstance(key, ast.Name) and key.name in _OPERATOR_WORDS:
            return key.name if not key.absolute else f".{key.name}"
        return self.text(key, _ANY)

    def name(self, name: str, *, absolute: bool = False) -> str:
        """The text of a name that is a whole expression."""
        reserved = ast.RESERVED - ast.PROFILE_NAMES if self.profile else ast.RESERVED
        if name in reserved or (self.profile and not absolute and name in _OPERATOR_WORDS):
            raise ValueError(f"`{name}` can't be a name")
        return f".{_plain(name)}" if absolute else _plain(name)


def unparse_value(value: object) -> str:
    """Return a value as an expression that a person would write. Raises TypeError for one that has no literal."""
    return unparse(written(tagged_literal(value)))


def literal(value: ast.LiteralValue, text: str | None = None) -> str:
    """The text of a literal; `text` is its author's spelling. Raises ValueError."""
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


def _leaves(expr: ast.Expr, operator: str) -> int:
    if isinstance(expr, ast.Binary) and expr.operator == operator:
        return _leaves(expr.left, operator) + _leaves(expr.right, operator)
    return 1


def _is_balanced(expr: ast.Expr, operator: str | None = None) -> bool:
    """Whether the parser groups a flat chain of the operands into this tree."""
    if not isinstance(expr, ast.Binary) or expr.operator != (operator or expr.operator):
        return True
    left, right = _leaves(expr.left, expr.operator), _leaves(expr.right, expr.operator)
    if left != (left + right - 1) // 2 + 1:
        return False
    return _is_balanced(expr.left, expr.operator) and _is_balanced(expr.right, expr.operator)


_LETTERS: Final = "xyzuvw"
_MACROS: Final = {
    ("map_list", 1): "map", ("map_list", 2): "transformList",
    ("map_values", 2): "transformMap", ("map_entries", 2): "transformMapEntry",
    ("opt_map", 1): "optMap", ("opt_flat_map", 1): "optFlatMap", ("sort_by", 1): "sortBy",
}  # fmt: skip
# Functions written as methods. Those left out can be called both ways; the seed documents write them as functions.
_METHODS: Final = frozenset(
    name for name, overloads in profile_functions().items() if any(o.method for o in overloads)
) - {"size", "contains_ci", "substring_ci"}


def decompile(program: Program) -> ast.Expr:
    """The syntax tree of `program`; lowering it again gives a program with the same meaning."""
    taken = {part for n in program.nodes if n.op == "name" for full, _ in n.value for part in full.split(".")}
    decompiler = _Decompiler(program.nodes, taken)
    return decompiler.expr(len(program.nodes) - 1)


class _Decompiler:
    def __init__(self, nodes: Sequence[Node], taken: set[str]) -> None:
        self.nodes = nodes
        self.taken = taken

    def expr(self, index: int) -> ast.Expr:
        """The syntax tree of one node."""
        node = self.nodes[index]
        if node.op == "call":
            return self.call(node)
        args = [self.expr(each) for each in node.args]
        match node.op:
            case "const":
                return written(node.value)
            case "name":
                full, fields = node.value[-1]
                return ast.dotted(*full.split("."), *fields)
            case "local":
                return ast.Name(self.variable(node.value), ast.NOWHERE)
            case "select" | "opt_select":
                return ast.Select(args[0], node.value, ast.NOWHERE, node.op == "opt_select")
            case "has":
                return ast.Has(args[0], node.value, ast.NOWHERE)
            case "index" | "opt_index":
                return ast.Index(args[0], args[1], ast.NOWHERE, node.op == "opt_index")
            case "list":
                return ast.ListLiteral(tuple(args), ast.NOWHERE, tuple(node.value or ()))
            case "map":
                entries = tuple(zip(args[::2], args[1::2], strict=True))
                return ast.MapLiteral(entries, ast.NOWHERE, tuple(node.value or ()))
            case "and" | "or":
                operator = "&&" if node.op == "and" else "||"
                return reduce(lambda left, right: ast.Binary(operator, left, right, ast.NOWHERE), args)
            case "not":
                return ast.Unary("!", args[0], ast.NOWHERE)
            case "cond":
                return ast.Conditional(args[0], args[1], args[2], ast.NOWHERE)
            case "map_list" | "map_values" | "opt_map" if not node.at:
                return args[0]
        return self.macro(node, *args)

    def variable(self, slot: int) -> str:
        """The name of the variable bound in a slot, which differs from every name that the program reads."""
        name = _LETTERS[slot] if slot < len(_LETTERS) else f"x{slot}"
        while name in self.taken:
            name += "_"
        return name

    def call(self, node: Node) -> ast.Expr:
        args = [self.expr(a) for a in node.args]
        name: str = node.value
        if name == "score" and not node.at:
            return args[0]
        if name == "-_":
            return ast.Unary("-", args[0], ast.NOWHERE)
        if name == "@in" or (name.startswith("_") and name.endswith("_")):
            return ast.Binary(name.strip("_@"), args[0], args[1], ast.NOWHERE)
        if name in _METHODS and args:
            return ast.Call(name, args[0], tuple(args[1:]), ast.NOWHERE)
        return _call(name, *args)

    def macro(self, node: Node, target: ast.Expr, *bodies: ast.Expr) -> ast.Expr:
        slots: Sequence[int] = node.value
        kind = _MACROS.get((node.op, len(slots)), node.op)
        return ast.Macro(kind, target, tuple([self.variable(each) for each in slots]), bodies, ast.NOWHERE)


def written(tagged: Sequence[Value]) -> ast.Expr:
    """The syntax tree of a tagged literal."""
    tag, body = tagged[0], tagged[-1]
    match tag:
        case "list":
            return ast.ListLiteral(tuple([written(item) for item in body]), ast.NOWHERE)
        case "map":
            return ast.MapLiteral(tuple([(written(k), written(v)) for k, v in body]), ast.NOWHERE)
        case "optional":
            return _call("optional.of", written(body[0])) if body else _call("optional.none")
        case "score":
            return _score(Fraction(body))
        case "type":
            return ast.dotted(*body.split("."))
        case "timestamp":
            return _call("timestamp", ast.Literal(format_timestamp(literal_value(tagged)), ast.NOWHERE))
        case "duration":
            return _call("duration", ast.Literal(format_duration(literal_value(tagged)), ast.NOWHERE))
        case "double" if body in _NO_LITERAL:
            return _call("double", ast.Literal(body, ast.NOWHERE))
        case "bytes":
            return ast.Literal(base64.b64decode(body), ast.NOWHERE)
    value = literal_value(tagged)
    numeric = isinstance(value, (int, float)) and not isinstance(value, (bool, UInt))
    return ast.Literal(value, ast.NOWHERE, text=repr(value) if numeric else None)


_NO_LITERAL: Final = frozenset(("NaN", "Infinity", "-Infinity"))


def _score(value: Fraction) -> ast.Expr:
    """A score as a decimal, or as a quotient if it has no finite decimal."""
    rest, power = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        power = max(power, count)
    if rest != 1:
        one, top, bottom = (ast.Literal(n, ast.NOWHERE, text=str(n)) for n in (1, value.numerator, value.denominator))
        exact: ast.Expr = _call("score", one)  # an intermediate score may leave the interval
        if value.numerator != 1:
            exact = ast.Binary("*", exact, top, ast.NOWHERE)
        return ast.Binary("/", exact, bottom, ast.NOWHERE)
    sign, digits = "-" if value < 0 else "", str(abs(value.numerator) * 10**power // value.denominator)
    digits = digits.rjust(power + 1, "0")
    text = f"{sign}{digits[: len(digits) - power]}.{digits[len(digits) - power :] or '0'}"
    return ast.Literal(float(value), ast.NOWHERE, text=text)


def _call(name: str, *args: ast.Expr) -> ast.Expr:
    namespace, _, function = name.rpartition(".")
    return ast.Call(function, ast.Name(namespace, ast.NOWHERE) if namespace else None, args, ast.NOWHERE)
