"""The instruction set: an expression as a flat array of nodes whose references point backwards only.

A `Program` is data. It is decoded from JSON as untrusted input, then `validate` refuses whatever an honest compiler
never writes: an unknown operation, a forward reference, a wrong number of arguments, an unbound local.

    op                  args (node indices)         value
    const               -                           a tagged literal: ["int", "1"], ["string", "x"], ["score", "4/5"] ...
    name                -                           the names tried in order, most qualified first: ["a.b", "a"], each
                                                    with the fields still to select: [["ns.a", []], ["a", ["b"]]]
    local               -                           the slot of a bound variable
    select, opt_select  operand                     field
    has                 operand                     field
    index, opt_index    operand, index              -
    list                items                       indices of optional items
    map                 k1, v1, k2, v2, ...         indices of optional entries
    and, or             two or more                 -        (commutative, absorb errors, as CEL prescribes)
    not                 operand                     -
    cond                condition, then, otherwise  -
    call                arguments (target first)    the function's name: "_==_", "size", "math.greatest", "contains_ci"
    all, exists, exists_one, filter     range, body             slots: [x] or [i, x]
    map_list            range, body  or  range, filter, body    slots (`map` and `transformList`)
    map_values          range, body  or  range, filter, body    slots (`transformMap`)
    map_entries         range, body  or  range, filter, body    slots (`transformMapEntry`)
    bind                bound, body                 [slot]
    opt_map, opt_flat_map   optional, body          [slot]
    sort_by             range, key                  [slot]

The last node is the result. A node inside a comprehension's body may only be referred to from inside that body.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec


class Node(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One operation. `at` is its place in the program's source text (start, end, code points), or empty."""

    op: str
    args: tuple[int, ...] = ()
    value: Any = None
    at: tuple[int, ...] = ()


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An executable expression. `source` is the author's text, kept for messages; it is never parsed again.

    `strict` selects plain CEL arithmetic; otherwise the profile's (int and double promote, scores are exact).
    """

    nodes: tuple[Node, ...]
    source: str = ""
    strict: bool = False


OPERATIONS: Final = frozenset(
    "const name local select opt_select has index opt_index list map and or not cond call all exists exists_one filter "
    "map_list map_values map_entries bind opt_map opt_flat_map sort_by".split()
)
