"""Replaces variables of programs by values or by other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright.proving.domains import Path
from rulewright.proving.program_parts import path_at
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.values import Value

_RETURN_OPTIONALS: Final = frozenset(
    ("sum", "mean", "wmean", "min", "max", "quantile", "share", "rate", "wmean_present")
)


def with_values(program: Program, values: Mapping[Path, object]) -> Program:
    """The program with the paths in `values` replaced by their values."""
    nodes = []
    for at, node in enumerate(program.nodes):
        path = path_at(program, at) if node.op in ("name", "select", "index") else None
        is_replaced = path is not None and path in values
        nodes.append(Node("const", (), literal(values[path]), node.at) if is_replaced and path is not None else node)
    return Program(tuple(nodes), program.source, program.strict)


def substitute(program: Program, values: Mapping[str, object]) -> Program:
    """The program with the variables in `values` replaced by their values."""
    return Program(tuple([_with_value(node, values) for node in program.nodes]), program.source, program.strict)


def _with_value(node: Node, values: Mapping[str, Value]) -> Node:
    if node.op != "name" or node.value[0][0] not in values or not _is_name(node, node.value[0][0]):
        return node
    return Node("const", (), literal(values[node.value[0][0]]), node.at)


def inline(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it; an optional result is unwrapped."""
    if not value.nodes or not reads_name(program, name):
        return program
    if value.nodes[-1].op == "call" and value.nodes[-1].value in _RETURN_OPTIONALS:
        unwrapped = Node("call", (len(value.nodes) - 1,), "value")
        value = Program((*value.nodes, unwrapped), value.source, value.strict)
    return with_program(program, name, value)


def with_program(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it."""
    nodes = list(value.nodes)
    new_index: list[int] = []
    last = len(nodes) - 1
    for node in program.nodes:
        if _is_name(node, name):
            new_index.append(last)
            continue
        nodes.append(Node(node.op, tuple([new_index[a] for a in node.args]), node.value, node.at))
        new_index.append(len(nodes) - 1)
    return Program(tuple(nodes), program.source, program.strict)


def reads_name(program: Program, name: str) -> bool:
    """Whether the program reads a variable."""
    return any(_is_name(node, name) for node in program.nodes)


def _is_name(node: Node, name: str) -> bool:
    return node.op == "name" and len(node.value) == 1 and node.value[0][0] == name and not node.value[0][1]
