"""Proofs about single conditions: whether they can hold or fail, and what their parts add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.proving.atoms import ANYTHING, ERROR, FALSE, TRUE
from rulewright.proving.domains import Domains
from rulewright.proving.program_parts import COMPARISONS, extract, paths_of
from rulewright.proving.results import Proved, Result
from rulewright.proving.search import Search, out_of_reach
from rulewright_runtime.ir import CONNECTIVES, Node, Program


def holds_always(condition: Program, domains: Domains) -> Result:
    """Whether the condition is true for every input; the witness is one for which it is false or undecided."""
    return never(condition, domains, FALSE | ERROR)


def holds_never(condition: Program, domains: Domains) -> Result:
    """Whether the condition is true for no input; the witness is one for which it is true."""
    return never(condition, domains, TRUE)


def never(condition: Program, domains: Domains, bits: int) -> Result:
    """Whether the condition has no result in `bits` (TRUE, FALSE, ERROR) for any input."""
    return out_of_reach([condition], domains, [(0, bits)])


def without_effect(condition: Program, domains: Domains) -> Iterator[tuple[int, str]]:
    """Yield the operands of an `and` or `or` that have no effect on the result.

    Each is the index of its node with the operator's name. Constant operands are left out; of several equivalent
    operands the last is yielded.
    """
    root = len(condition.nodes) - 1
    pending = [root]
    while pending:
        at = pending.pop()
        node = condition.nodes[at]
        if node.op in CONNECTIVES:
            pending += node.args
        if node.op in ("and", "or") and len(node.args) <= _MOST_OPERANDS:
            idle = _idle(condition, at, domains)
            if idle is not None:
                yield idle, node.op


def _idle(condition: Program, at: int, domains: Domains) -> int | None:
    """The last operand without which node `at` has the same result, and which is not constant."""
    operands = condition.nodes[at].args
    others = [_without(condition, at, operand) for operand in operands]
    search = Search([extract(condition, at), *others], domains)  # one, for all share their atoms
    for number in range(len(operands), 0, -1):
        if any(search.find([(0, bits), (number, ANYTHING & ~bits)]) is not None for bits in (TRUE, FALSE, ERROR)):
            continue
        part = extract(condition, operands[number - 1])
        if not any(isinstance(never(part, domains, bits), Proved) for bits in (TRUE, FALSE)):
            return operands[number - 1]
    return None


def _without(condition: Program, at: int, operand: int) -> Program:
    """Node `at` without one of its operands."""
    node = condition.nodes[at]
    rest = tuple([arg for arg in node.args if arg != operand])
    if len(rest) == 1:
        return extract(condition, rest[0])
    nodes = (*condition.nodes[:at], Node(node.op, rest, None, node.at))
    return extract(condition.having(nodes), at)


_MOST_OPERANDS: Final = 60  # of an `and` or `or` whose operands are left out one after the other


def choices(value: Program) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Yield the tests of a value's conditionals, each with the tests around it and their results (TRUE or FALSE)."""
    pending: list[tuple[int, tuple[tuple[int, int], ...]]] = [(len(value.nodes) - 1, ())]
    while pending:
        at, outer = pending.pop()
        node = value.nodes[at]
        if node.op == "cond":
            test, then, otherwise = node.args
            yield test, outer
            pending += [(otherwise, (*outer, (test, FALSE))), (then, (*outer, (test, TRUE)))]
        else:
            pending += [(arg, outer) for arg in reversed(node.args)]


def comparisons(condition: Program) -> Iterator[Program]:
    """Yield the comparisons of variables in a condition, each as a program of its own; also the condition itself."""
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
