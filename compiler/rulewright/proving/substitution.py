"""Replaces variables of programs by values or by other programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rulewright.expression.compose import all_of, any_of
from rulewright.proving.domains import Path
from rulewright.proving.program_parts import extract, path_at, with_item
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Node, Program, literal, literal_value
from rulewright_runtime.values import Value

_RETURN_OPTIONALS: Final = frozenset(
    ("sum", "mean", "wmean", "min", "max", "quantile", "share", "rate", "wmean_present")
)


_UNROLLED: Final = {"exists": any_of, "all": all_of}


def with_values(program: Program, values: Mapping[Path, object]) -> Program:
    """The program with the paths in `values` replaced by their values."""
    nodes = []
    for at, node in enumerate(program.nodes):
        path = path_at(program, at) if node.op in ("name", "select", "index") else None
        is_replaced = path is not None and path in values
        nodes.append(_constant(values[path], node) if is_replaced and path is not None else node)
    return program.having(nodes)


def substitute(program: Program, values: Mapping[str, object]) -> Program:
    """The program with the variables in `values` replaced by their values."""
    return program.having([_with_value(node, values) for node in program.nodes])


def _with_value(node: Node, values: Mapping[str, Value]) -> Node:
    if node.op != "name" or node.value[0][0] not in values or not _is_name(node, node.value[0][0]):
        return node
    return _constant(values[node.value[0][0]], node)


def _constant(value: Value, instead_of: Node) -> Node:
    """The value as a constant in place of a node, or the node where no expression can hold the value."""
    tagged = literal(value)
    try:
        literal_value(tagged)
    except PlanError:  # for instance a whole number of more than 64 bits, which is a finding of its own
        return instead_of
    return Node("const", (), tagged, instead_of.at)


def inline(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it; an optional result is unwrapped."""
    if not value.nodes or not reads_name(program, name):
        return program
    if value.nodes[-1].op == "call" and value.nodes[-1].value in _RETURN_OPTIONALS:
        unwrapped = Node("call", (len(value.nodes) - 1,), "value")
        value = value.having((*value.nodes, unwrapped))
    return with_program(program, name, value)


def with_program(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it."""
    return _replaced(program, {at for at, node in enumerate(program.nodes) if _is_name(node, name)}, value)


def _replaced(program: Program, places: Collection[int], value: Program) -> Program:
    """The program with another one in place of some nodes."""
    nodes = list(value.nodes)
    new_index: list[int] = []
    last = len(nodes) - 1
    for at, node in enumerate(program.nodes):
        if at in places:
            new_index.append(last)
            continue
        nodes.append(Node(node.op, tuple([new_index[a] for a in node.args]), node.value, node.at))
        new_index.append(len(nodes) - 1)
    return extract(program.having(nodes), new_index[-1])


def unrolled(program: Program, keys: Mapping[str, Sequence[str]]) -> Program:
    """The program in which `exists` and `all` over the keys of some variables, which are given by variable, are
    disjunctions and conjunctions."""
    for at in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[at]
        path = path_at(program, node.args[0]) if node.op in _UNROLLED and len(node.value) == 1 else None
        if path is not None and len(path) == 1 and path[0] in keys:
            bodies = [_for_key(program, node, key) for key in keys[path[0]]]
            return unrolled(_replaced(program, {at}, _UNROLLED[node.op](bodies)), keys)
    return program


def _for_key(program: Program, loop: Node, key: str) -> Program:
    """The body of a loop for one key; what an index by the key reads is read as a field."""
    body = extract(program, loop.args[1])
    keyed = {at for at, node in enumerate(body.nodes) if node.op == "local" and node.value == loop.value[0]}
    given = with_item(body, loop, Node("const", (), literal(key)))
    nodes = [
        Node("select", node.args[:1], key, node.at) if node.op == "index" and node.args[1] in keyed else node
        for node in given.nodes
    ]
    return extract(given.having(nodes), len(nodes) - 1)


def reads_name(program: Program, name: str) -> bool:
    """Whether the program reads a variable."""
    return any(_is_name(node, name) for node in program.nodes)


def _is_name(node: Node, name: str) -> bool:
    return node.op == "name" and len(node.value) == 1 and node.value[0][0] == name and not node.value[0][1]
