"""Proofs about single conditions: whether they can hold or fail, and what their parts add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.proving.atoms import COMPARISONS, ERROR, FALSE, TRUE, extract, paths_of
from rulewright.proving.domains import Domains
from rulewright.proving.results import Proved, Result
from rulewright.proving.search import Search, refuting
from rulewright_runtime.ir import CONNECTIVES, Node, Program


def holds_always(condition: Program, domains: Domains, *, solver: bool = True) -> Result:
    """Whether the condition is true for every input; a witness is one for which it is false or undecided."""
    return never(condition, domains, FALSE | ERROR, solver=solver)


def holds_never(condition: Program, domains: Domains) -> Result:
    """Whether the condition is true for no input; a witness is one for which it is true."""
    return never(condition, domains, TRUE)


def never(condition: Program, domains: Domains, bits: int, *, solver: bool = True) -> Result:
    """Whether the condition is for no input what `bits` say (TRUE, FALSE, ERROR)."""
    return refuting(Search([condition], domains, solver), [[(0, bits)]]) or Proved()


def without_effect(condition: Program, domains: Domains) -> Iterator[tuple[int, str]]:
    """The operands of an `and` or `or` without which the condition means the same, by exact splitting alone.

    Each is given as its node in the program with the operator's name. Operands that can't vary are left out, and of
    several that do the same the last.
    """
    root = len(condition.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        node = condition.nodes[at]
        if node.op in CONNECTIVES:
            pending += node.args
        if node.op in ("and", "or"):
            idle = next((arg for arg in reversed(node.args) if _is_idle(condition, at, arg, domains)), None)
            if idle is not None:
                yield idle, node.op


def _is_idle(condition: Program, at: int, operand: int, domains: Domains) -> bool:
    """Whether node `at` means the same without that operand."""
    node = condition.nodes[at]
    rest = tuple([arg for arg in node.args if arg != operand])
    if len(rest) > 1:
        nodes = (*condition.nodes[:at], Node(node.op, rest, None, node.at))
        without = extract(Program(nodes, condition.source, condition.strict), at)
    else:
        without = extract(condition, rest[0])
    alone = extract(condition, operand)
    if any(isinstance(never(alone, domains, bits, solver=False), Proved) for bits in (TRUE, FALSE)):
        return False
    search = Search([extract(condition, at), without], domains, solver=False)
    return all(search.find(goal) is None for goal in _APART)


_APART: Final = tuple([((0, bits), (1, (TRUE | FALSE | ERROR) & ~bits)) for bits in (TRUE, FALSE, ERROR)])


def choices(value: Program) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """The tests of the choices inside a value, each with those around it and what they were (TRUE or FALSE) there."""
    pending: list[tuple[int, tuple[tuple[int, int], ...]]] = [(len(value.nodes) - 1, ())]
    while pending:
        at, around = pending.pop()
        node = value.nodes[at]
        if node.op == "cond":
            test, then, otherwise = node.args
            yield test, around
            pending += [(otherwise, (*around, (test, FALSE))), (then, (*around, (test, TRUE)))]
        else:
            pending += [(arg, around) for arg in reversed(node.args)]


def comparisons(condition: Program) -> Iterator[Program]:
    """The comparisons of variables that a condition joins, each alone; the condition itself when it is one."""
    pending = [len(condition.nodes) - 1]
    while pending:
        at = pending.pop()
        node = condition.nodes[at]
        if node.op in CONNECTIVES:
            pending += reversed(node.args)
        elif node.op == "call" and (node.value in COMPARISONS or node.value == "@in"):
            part = extract(condition, at)
            if paths_of(part):
                yield part
