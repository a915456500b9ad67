"""Parts of programs: their source text, a node as a program of its own, a key for equal ones, the paths they read."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rulewright.expression.unparse import decompile, unparse
from rulewright.proving.domains import Path
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, free_locals, literal_value
from rulewright_runtime.score import exact_pair
from rulewright_runtime.values import Value

COMPARISONS: Final = frozenset(("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"))
MIRRORED: Final = {
    "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_",
}  # fmt: skip
EQUALITY: Final = frozenset(("_==_", "_!=_"))
_SELECTIONS: Final = frozenset(("select", "opt_select", "has", "index", "opt_index"))


def unabridged(program: Program) -> str:
    """The program as source text, on one line."""
    return " ".join(unparse(decompile(program)).split())


def written(program: Program) -> str:
    """The program as source text, on one line, cut at 80 characters."""
    text = unabridged(program)
    return text if len(text) <= 80 else f"{text[:77]}..."


def extract(program: Program, at: int) -> Program:
    """The part of a program that ends at node `at`, as a program of its own."""
    used: set[int] = set()
    pending = [at]
    while pending:  # only the part's own nodes are looked at, since a long `or` asks for each of its operands
        number = pending.pop()
        if number not in used:
            used.add(number)
            pending += program.nodes[number].args
    if len(used) == len(program.nodes):
        return program
    indices = sorted(used)
    new_index = {old: new for new, old in enumerate(indices)}
    nodes = [program.nodes[old] for old in indices]
    renumbered = [Node(n.op, tuple([new_index[a] for a in n.args]), n.value, n.at) for n in nodes]
    return program.having(renumbered)


def with_item(program: Program, loop: Node, item: Node) -> Program:
    """The program with another node, such as a constant, wherever the variable of a loop is read."""
    slot = loop.value[0]
    return program.having(
        Node(item.op, (), item.value, each.at) if each.op == "local" and each.value == slot else each
        for each in program.nodes
    )


def shape(program: Program) -> Value:
    """A key that is equal for programs that differ only in their spans and sources."""
    return program.strict, tuple([(n.op, n.args, _frozen(n.value)) for n in program.nodes])


def _frozen(value: object) -> object:
    return tuple([_frozen(item) for item in value]) if isinstance(value, (list, tuple)) else value


def path_at(program: Program, at: int) -> Path | None:
    """The path that a node reads: a name and the fields selected from it; None for any other node."""
    node = program.nodes[at]
    if node.op == "name":
        return (node.value[0][0], *node.value[0][1]) if len(node.value) == 1 else None
    if node.op in ("select", "opt_select", "has"):
        below = path_at(program, node.args[0])
        return None if below is None else (*below, node.value)
    if node.op in ("index", "opt_index"):
        key = program.nodes[node.args[1]]
        below = path_at(program, node.args[0])
        return None if below is None or key.op != "const" or key.value[0] != "string" else (*below, key.value[1])
    return None


def is_optional(program: Program, at: int) -> bool:
    """Whether a node reads a path of which some part is optional: `a.?b.c`."""
    node = program.nodes[at]
    is_inside = node.op in _SELECTIONS
    return node.op in ("opt_select", "opt_index") or (is_inside and is_optional(program, node.args[0]))


def reading(path: Path) -> Program:
    """The program that reads a path."""
    nodes = [Node("name", (), [[path[0], []]])]
    nodes += [Node("select", (at,), name) for at, name in enumerate(path[1:])]
    return Program(tuple(nodes))


def paths_of(program: Program) -> list[Path] | None:
    """The longest paths a program reads, sorted; None if it reads an unresolved name."""
    paths = [path_at(program, at) for at in range(len(program.nodes))]
    found, longer, values = set[Path](), set[int](), set[int]()
    for at in reversed(range(len(program.nodes))):
        node, path = program.nodes[at], paths[at]
        if path is None and node.op == "name":
            return None
        if path is not None and (at not in longer or at in values):
            found.add(path)
        longer.update(node.args[:1] if path is not None else ())
        values.update(node.args[1 if node.op in _SELECTIONS else 0 :])
    return sorted(found)


def value_of(program: Program, at: int, otherwise: Value = None) -> Value:
    """The value of a part that reads nothing, or `otherwise` if it reads something or has no value."""
    node = program.nodes[at]
    if node.op == "const":
        return literal_value(node.value)
    part = extract(program, at)
    if paths_of(part) != [] or free_locals(part)[-1]:
        return otherwise
    try:
        return prepare(part)({})
    except RuntimeFailure:
        return otherwise


def exact_of(value: Value) -> Fraction | None:
    """The exact number that a value is; None of values that are no finite number."""
    try:
        return Fraction(*exact_pair(value))
    except RuntimeFailure:
        return None
