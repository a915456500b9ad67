"""Laws of the size of a list or a text: its bounds, and how it compares with the sizes of what it is made of.

A law says nothing of a list or a text that is an error. Functions that are not in the tables may give any size.
"""

from collections.abc import Iterator
from typing import Final

from rulewright.proving.program_parts import value_of
from rulewright.proving.static_types import LARGEST_COUNT
from rulewright_runtime.ir import Program

_AS_LONG: Final = frozenset(("sort", "reverse", "lowerAscii", "upperAscii"))  # as the first argument
_AT_MOST: Final = frozenset(("distinct", "slice", "trim", "substring"))  # as long as the first argument
_ANY: Final = (0, LARGEST_COUNT)


def size_bounds(program: Program, at: int) -> tuple[int, int]:
    """The least and the greatest size of the list or text of a node."""
    node = program.nodes[at]
    value = value_of(program, at) if node.op == "const" else None
    if isinstance(value, str | list):
        return len(value), len(value)
    if node.op == "list" and not node.value:
        return len(node.args), len(node.args)
    if node.op == "call" and node.value == "split":
        return _of_parts(-1 if len(node.args) == 2 else value_of(program, node.args[2]))
    if node.op == "call" and node.value == "slice":
        start, end = (value_of(program, arg) for arg in node.args[1:])
        if type(start) is int and type(end) is int and 0 <= start <= end:
            return end - start, end - start
    if node.op == "call" and node.value == "_+_":
        one, other = (size_bounds(program, arg) for arg in node.args)
        return one[0] + other[0], one[1] + other[1]
    if not _is_at_most(program, at):
        return _ANY
    least, most = size_bounds(program, node.args[0])
    return least if _is_as_long(program, at) else min(1, least) if node.value == "distinct" else 0, most


def _of_parts(limit: object) -> tuple[int, int]:
    """How many parts a text is split into, at most the limit unless that is below 0."""
    if type(limit) is not int:
        return _ANY
    return (1, LARGEST_COUNT) if limit < 0 else (min(1, limit), limit)


def no_larger(program: Program, at: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of the node and a list or text that it is made of: the first is never larger than the second."""
    below, is_as_long = at, True
    while _is_at_most(program, below):
        is_as_long = is_as_long and _is_as_long(program, below)
        below = program.nodes[below].args[0]
        yield at, below
        if is_as_long:
            yield below, at
    if is_as_long and program.nodes[below].op == "call" and program.nodes[below].value == "_+_":
        yield from ((part, at) for part in program.nodes[below].args)


def _is_as_long(program: Program, at: int) -> bool:
    """Whether a list or text is as long as the first that a node is made of."""
    node = program.nodes[at]
    return (node.op == "map_list" and len(node.args) == 2) or (node.op == "call" and node.value in _AS_LONG)


def _is_at_most(program: Program, at: int) -> bool:
    """Whether a list or text is at most as long as the first that a node is made of."""
    node = program.nodes[at]
    return node.op in ("filter", "map_list") or (node.op == "call" and node.value in (*_AS_LONG, *_AT_MOST))
