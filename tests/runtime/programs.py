"""Programs built by hand: a small notation for the tests of the runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import lookup
from rulewright_runtime.ir import Node, Program, literal


@dataclass(frozen=True)
class Tree:
    """A node with its operands."""

    op: str
    args: tuple[Tree, ...] = ()
    value: Any = None


def const(value: Any) -> Tree:
    """A literal."""
    return Tree("const", (), literal(value))


def _tree(part: Any) -> Tree:
    return part if isinstance(part, Tree) else const(part)


def name(path: str) -> Tree:
    """`a.b.c`: the name a, then selections."""
    root, *fields = path.split(".")
    tree = Tree("name", (), [[root, []]])
    for field in fields:
        tree = Tree("select", (tree,), field)
    return tree


def call(function: str, *args: Any) -> Tree:
    """A call; plain values are literals."""
    return Tree("call", tuple(map(_tree, args)), function)


def op(operation: str, *args: Any, value: Any = None) -> Tree:
    """Any other operation."""
    return Tree(operation, tuple(map(_tree, args)), value)


def local(slot: int, *fields: str) -> Tree:
    """A bound variable, and selections on it."""
    tree = Tree("local", (), slot)
    for field in fields:
        tree = Tree("select", (tree,), field)
    return tree


def loop(kind: str, over: Any, *bodies: Any, slots: tuple[int, ...] = (0,)) -> Tree:
    """A comprehension or another binding operation."""
    return op(kind, over, *bodies, value=list(slots))


def program(tree: Any, strict: bool = False) -> Program:
    """The flat program of a tree."""
    nodes: list[Node] = []

    def add(part: Tree) -> int:
        args = tuple(add(arg) for arg in part.args)
        nodes.append(Node(part.op, args, part.value))
        return len(nodes) - 1

    add(_tree(tree))
    return Program(tuple(nodes), strict=strict)


def value_of(function: str, *args: Any, strict: bool = False) -> Any:
    """The value of a function, or the code of its error."""
    try:
        return lookup(function, len(args), strict)(*args)
    except EvaluationError as why:
        return f"error {why.code}"
