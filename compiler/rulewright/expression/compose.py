"""Composes expressions: programs into a larger program, and data into an expression.

An author's text is never joined to other text and parsed. Programs are joined as programs; data becomes a literal in
the syntax tree, which is then printed.
"""

from collections.abc import Sequence
from typing import Any, Final

from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect, Expr, Name, with_children
from rulewright.expression.unparse import unparse, written
from rulewright_runtime.ir import BINDING, Node, Program, literal

_TRUE: Final = Program((Node("const", (), ["bool", True], (0, 4)),), "true")
_FALSE: Final = Program((Node("const", (), ["bool", False], (0, 5)),), "false")
# Operations written without parentheses as operands of `&&`, `||` and `!`.
_UNPARENTHESISED: Final = BINDING | {"name", "local", "select", "has", "index", "list", "map"}
_OPERATOR: Final = {"and": "&&", "or": "||"}


def all_of(parts: Sequence[Program]) -> Program:
    """The program that holds if each of `parts` holds; `true` without parts.

    As in every composed program, the source joins those of the parts, and each node has its span in it. The program may
    be larger than `rulewright_runtime.ir.validate` allows.
    """
    return _chain("and", parts, _TRUE)


def any_of(parts: Sequence[Program]) -> Program:
    """The program that holds if one of `parts` holds; `false` without parts."""
    return _chain("or", parts, _FALSE)


def negate(part: Program) -> Program:
    """The program that holds if `part` doesn't."""
    builder = _ProgramBuilder(part.strict)
    builder.text("!")
    operand = builder.part(part, brackets=not _needs_no_parentheses(part))
    return builder.program("not", (operand,))


def choose(condition: Program, then: Program, otherwise: Program) -> Program:
    """The program whose result is `then` if `condition` holds, else `otherwise`."""
    builder = _ProgramBuilder(condition.strict)
    args = [builder.part(condition, brackets=_root(condition).op == "cond")]
    builder.text(" ? ")
    args.append(builder.part(then, brackets=_root(then).op == "cond"))
    builder.text(" : ")
    args.append(builder.part(otherwise))
    return builder.program("cond", tuple(args))


def fill(text: str, **parts: object) -> str:
    """The expression `text` with each name in `parts` replaced by its part: a syntax tree, or data as a literal.

    Raises ValueError for data that has no literal, such as an infinite number.
    """
    trees = {name: part if isinstance(part, Expr) else written(literal(part)) for name, part in parts.items()}
    return unparse(_replaced(parse(text, Dialect.PROFILE), trees))


def _replaced(tree: Expr, parts: dict[str, Any]) -> Expr:
    if isinstance(tree, Name) and tree.name in parts:
        return parts[tree.name]  # type: ignore[no-any-return]
    return with_children(tree, lambda child: _replaced(child, parts))


def _chain(op: str, parts: Sequence[Program], empty: Program) -> Program:
    if len(parts) < 2:
        return parts[0] if parts else empty
    builder = _ProgramBuilder(parts[0].strict)
    args: list[int] = []
    for part in parts:
        if args:
            builder.text(f" {_OPERATOR[op]} ")
        if _root(part).op == op:  # a chain in a chain is one longer chain
            args += builder.operands(part)
        else:
            args.append(builder.part(part, brackets=not _binds_tighter(part, op)))
    return builder.program(op, tuple(args))


def _root(part: Program) -> Node:
    return part.nodes[-1]


def _needs_no_parentheses(part: Program) -> bool:
    root = _root(part)
    return root.op in _UNPARENTHESISED or (
        root.op == "const" and root.value[0] == "bool" and part.source in ("true", "false")
    )


def _binds_tighter(part: Program, op: str) -> bool:
    """Whether the text of `part` needs no parentheses as an operand of `&&` or `||`."""
    root = _root(part)
    return _needs_no_parentheses(part) or root.op in ("call", "not") or (root.op, op) == ("and", "or")


class _ProgramBuilder:
    """The nodes and the source of a program that is being built."""

    def __init__(self, strict: bool) -> None:
        self.nodes: list[Node] = []
        self.source = ""
        self.strict = strict

    def text(self, text: str) -> None:
        """Append an operator to the source."""
        self.source += text

    def part(self, part: Program, *, brackets: bool = False) -> int:
        """Append the nodes and the text of a program; returns the index of its result."""
        self.source += "(" if brackets else ""
        self._append(part, part.nodes)
        self.source += ")" if brackets else ""
        return len(self.nodes) - 1

    def operands(self, part: Program) -> list[int]:
        """Append a program without its last operation; returns the indices of that operation's arguments."""
        first = len(self.nodes)
        self._append(part, part.nodes[:-1])
        return [first + argument for argument in _root(part).args]

    def _append(self, part: Program, nodes: Sequence[Node]) -> None:
        """Append nodes and the text of the program's result, without the comments before and after it."""
        start, end = _root(part).at or (0, len(part.source))
        first, offset = len(self.nodes), len(self.source) - start
        for node in nodes:
            args = tuple([first + argument for argument in node.args])
            self.nodes.append(Node(node.op, args, node.value, tuple([at + offset for at in node.at])))
        self.source += part.source[start:end]

    def program(self, op: str, args: tuple[int, ...]) -> Program:
        """The program with one last operation, whose span is the whole source."""
        self.nodes.append(Node(op, args, None, (0, len(self.source))))
        return Program(tuple(self.nodes), self.source, self.strict)
