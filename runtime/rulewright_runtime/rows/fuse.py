"""Which nodes get a fast closure, and which.

It answers only where it is sure; everything else goes to the general closure of the same node, which it is given.
Expressions have no effects, so evaluating again is always sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.rows.boxes import decision
from rulewright_runtime.rows.building import FRAME, Building, Closure, Closures, counting
from rulewright_runtime.rows.chains import ABSENT, chain, fits, search
from rulewright_runtime.rows.leaves import Leaf, leaf_of, path_of, three

_LONGEST: Final = 8  # leaves in one chain: each may be a call inside another
_TRUTHS: Final = frozenset({"and", "or", "not", "has", "all", "exists", "exists_one"})
_TESTS: Final = frozenset(
    {"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "contains", "startsWith", "endsWith", "matches", "hasValue"}
    | {"contains_ci", "substring_ci", "sets.contains", "sets.equivalent", "sets.intersects"}
)


def fuse(building: Building, number: int, mode: int, general: Closure, built: Closures) -> Closure | None:
    """The fast closure of a node, or None. `built` has those of its operands."""
    op = building.program.nodes[number].op
    if op == "select":
        return _path(building, number, mode, general)
    if op == "cond" or (op in ("and", "or") and number == len(building.program.nodes) - 1):
        made = decision(building, number, mode, general)
        if made is not None:
            return made
    if op == "cond":
        return _choice(building, number, mode, general, built)
    if op in ("and", "or", "not", "call", "all", "exists"):
        return _test(building, number, mode, general, built)
    return None


def _is_truth(node: Node) -> bool:
    """Whether the node's value is a bool whenever it has one."""
    return node.op in _TRUTHS or (node.op == "call" and node.value in _TESTS)


def _path(building: Building, number: int, mode: int, general: Closure) -> Closure | None:
    keys = path_of(building, number, mode)
    if keys is None or not 1 <= len(keys) <= 3:
        return None
    first, second, third = three(keys)

    def read(a: Any) -> Any:
        try:
            return a[first] if second is None else a[first][second] if third is None else a[first][second][third]
        except ABSENT:
            return general(a)

    return read


def _parts(building: Building, number: int, mode: int, op: str) -> tuple[list[Leaf], list[int]]:
    """The operands of `op`, `and` or `or`, that are leaves (those of `or` negated), and the others. A node that is
    no such operation is its only operand."""
    node = building.program.nodes[number]
    leaves: list[Leaf] = []
    others: list[int] = []
    for operand in node.args if node.op == op else (number,):
        leaf = leaf_of(building, operand, mode)
        if leaf is not None and op == "or":
            leaf = leaf.negated()
        if leaf is not None and fits(leaf) and len(leaves) < _LONGEST:
            leaves.append(leaf)
        else:
            others.append(operand)
    return leaves, others


def _test(building: Building, number: int, mode: int, general: Closure, built: Closures) -> Closure | None:
    node = building.program.nodes[number]
    op = "or" if node.op == "or" else "and"
    leaves, others = _parts(building, number, mode, op)
    if others == [number]:
        return _search(building, number, mode, general, built) if node.op in ("all", "exists") else None
    if not _are_truths(building, others):
        return None
    rest = _together(others, mode, built, op == "or", general)
    return chain(leaves, rest, op == "and", op == "or", general) if leaves else rest


def _are_truths(building: Building, numbers: Sequence[int]) -> bool:
    return all(_is_truth(building.program.nodes[number]) for number in numbers)


def _together(numbers: Sequence[int], mode: int, built: Closures, decides: bool, general: Closure) -> Closure | None:
    """`and` or `or` of closures that answer with a bool; an error in one is left to the general closure."""
    parts = tuple(built[number, mode] for number in numbers)
    if len(parts) < 2:
        return parts[0] if parts else None

    def together(a: Any) -> Any:
        try:
            for part in parts:
                if part(a) is decides:
                    return decides
        except EvaluationError:
            return general(a)
        return not decides

    return together


def _choice(building: Building, number: int, mode: int, general: Closure, built: Closures) -> Closure | None:
    """`a || b ? constant : otherwise` and `a && b ? then : constant` in one chain; else a choice between closures."""
    nodes = building.program.nodes
    condition, then, otherwise = nodes[number].args
    for op, stop, onward in (("or", then, otherwise), ("and", otherwise, then)):
        leaves, others = _parts(building, condition, mode, op)
        if nodes[stop].op == "const" and not others:
            last = nodes[onward].op == "const"
            yes, rest = (literal_value(nodes[onward].value), None) if last else (None, built[onward, mode])
            return chain(leaves, rest, yes, literal_value(nodes[stop].value), general)
    if not _is_truth(nodes[condition]):
        return None
    holds, yes, no = (built[a, mode] for a in (condition, then, otherwise))
    return lambda a: yes(a) if holds(a) else no(a)


def _search(building: Building, number: int, mode: int, general: Closure, built: Closures) -> Closure | None:
    node = building.program.nodes[number]
    over, body = node.args
    inner = building.bodies[number, mode]
    hit = node.op == "exists"
    leaves, others = _parts(building, body, inner, "and" if hit else "or")
    if not _are_truths(building, others):
        leaves, others = [], [body]
    if inner == FRAME or not _are_truths(building, others):
        return None
    step = built[body, inner]
    items = counting(built[over, mode]) if mode == FRAME else built[over, mode]
    return search(items, leaves, _together(others, inner, built, not hit, step), hit, step, general)
