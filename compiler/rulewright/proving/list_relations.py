"""Relations between conditions on one list: macros over it, its size and conditions on some of its items."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from fractions import Fraction
from functools import reduce
from itertools import accumulate, count
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from rulewright.expression.compose import all_of, any_of, negate
from rulewright.expression.types import ListType, Type
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.box_variables import LONGEST, Box, BoxVariable, Rows, TooMany, cell_mask
from rulewright.proving.domains import Absent, Domains, whole
from rulewright.proving.program_parts import (
    calling,
    constant,
    extract,
    reading,
    reads_name,
    value_of,
    with_item,
    with_parts,
    with_program,
)
from rulewright.proving.static_types import Typed, typed
from rulewright_runtime.ir import Node, Program, free_locals
from rulewright_runtime.values import Value

# All results that several conditions can have together. Raises TooMany.
Results: TypeAlias = "Callable[[Sequence[Program], Domains], Iterator[tuple[int, ...]]]"
MOST_STEPS: Final = 50_000  # items that lists of different results may end with
_FURTHEST: Final = 20  # items before one that is read
_STRICT: Final = frozenset(("const", "name", "select", "index", "call"))  # have no value where one of theirs has none
_ITEM: Final = "__item"  # what stands for an item of a list


def searched(variable: BoxVariable, domains: Domains) -> Iterator[int]:
    """The list that a macro searches, whose items a size counts, or an item of which is read."""
    member = _member(variable, domains)
    if member is not None:
        yield member.of


class _Member(NamedTuple):
    """How a variable depends on the list `of`: its state for the empty list, for a list with a further item that has
    these results for the `conditions`, and the cells of a state."""

    of: int
    conditions: Sequence[Program]
    start: int
    add: Callable[[int, Box], int]
    cells: Callable[[int], int]


def _member(variable: BoxVariable, domains: Domains) -> _Member | None:
    program, node = variable.program, variable.program.nodes[-1]
    if node.op in _MACROS and len(node.value) == 1:
        macro = _MACROS[node.op]
        of, condition = _on_items(program, typed(program, domains))
        return _Member(
            of,
            [condition],
            macro.start,
            lambda state, bits: macro.add(state, bits[0]),
            lambda state: variable.cells(macro.result(state)),
        )
    if node.op == "call" and node.value == "size" and isinstance(typed(program, domains)[node.args[0]].type, ListType):
        return _counted(variable, node.args[0])
    if any(isinstance(value, list) for value in variable.values):
        return _contents(variable)
    items = (_item(variable, at, domains) for at, each in enumerate(program.nodes) if each.op == "index")
    return next(filter(None, items), None)


def _on_items(program: Program, types: Sequence[Typed]) -> tuple[int, Program]:
    """The list that a macro searches after `map` and `filter`, and the condition on its items."""
    of, condition, op = program.nodes[-1].args[0], _body(program), program.nodes[-1].op
    while (inner := program.nodes[of]).op in ("map_list", "filter") and len(inner.args) == 2 and len(inner.value) == 1:
        if not types[inner.args[1]].total:
            break
        body = _body(extract(program, of))
        if inner.op == "map_list":
            condition = with_program(condition, _ITEM, body)
        else:
            condition = any_of([negate(body), condition]) if op == "all" else all_of([body, condition])
        of = inner.args[0]
    return of, condition


def _contents(variable: BoxVariable) -> _Member:
    """Which of some texts a list holds: a bit for each, and one for all others."""
    texts = next(value for value in reversed(variable.values) if isinstance(value, list))
    last, known = len(variable.program.nodes) - 1, [text for text in texts if text in variable.cuts]
    if len(known) < len(texts) - 1:  # of an enum
        known = texts
    item = reading((_ITEM,))
    others = sum(1 << at for at, text in enumerate(texts) if text not in known)

    def add(state: int, bits: Box) -> int:
        held = sum(1 << texts.index(text) for text, bit in zip(known, bits, strict=True) if bit == TRUE)
        return state | (held or others)

    def cells(state: int) -> int:
        held = [text for at, text in enumerate(texts) if state >> at & 1]
        return cell_mask(value == held for value in variable.values)

    return _Member(last, [calling("_==_", item, constant(text)) for text in known], 0, add, cells)


def _counted(variable: BoxVariable, at: int) -> _Member | None:
    """The size of a list or of a filtered list: the number of items, or -1 after an error."""
    cuts = [cut for cut in variable.cuts if isinstance(cut, Fraction)]
    most = math.ceil(max(cuts, default=Fraction(0))) + 1
    if len(cuts) < len(variable.cuts) or not 0 < most <= LONGEST:
        return None

    def add(state: int, bits: Box) -> int:
        return -1 if state < 0 or ERROR in bits else min(most, state + (FALSE not in bits))

    def cells(state: int) -> int:
        if state < 0:
            return variable.lacking
        return cell_mask(
            not isinstance(each, Absent) and _sides(each, cuts) == _sides(state, cuts) for each in variable.values
        )

    filtered, node = extract(variable.program, at), variable.program.nodes[at]
    if node.op == "filter" and len(node.value) == 1:
        return _Member(node.args[0], [_body(filtered)], 0, add, cells)
    return _Member(at, [], 0, add, cells)


def _sides(number: Value, cuts: Iterable[Fraction]) -> list[int]:
    """On which side of each cut a whole number is."""
    return [(number > cut) - (number < cut) for cut in cuts]


def _item(variable: BoxVariable, at: int, domains: Domains) -> _Member | None:
    """A condition on one item of a list or of a filtered list, a text of it, or a number, of which only its presence is
    told: the items that are still before it, or its results, below zero."""
    program, (of, key) = variable.program, variable.program.nodes[at].args
    number, texts = value_of(program, key), sorted(cut for cut in variable.cuts if isinstance(cut, str))
    if type(number) is not int or not 0 <= number <= _FURTHEST:
        return None
    read = with_parts(program, {at: reading((_ITEM,))})
    if not all(each.op in _STRICT and each.value not in ("or", "orValue") for each in read.nodes):
        return None
    filtered = program.nodes[of]
    is_filtered = filtered.op == "filter" and len(filtered.value) == 1
    if free_locals(extract(program, of))[-1] or (is_filtered and not typed(program, domains)[filtered.args[1]].total):
        return None
    kept = [_body(extract(program, of))] if is_filtered else []
    is_test = all(isinstance(value, bool | Absent) for value in variable.values)
    conditions = [read] if is_test else [calling("_==_", read, constant(each)) for each in texts]

    def add(state: int, bits: Box) -> int:
        if state < 0 or (kept and bits[-1] != TRUE):
            return state
        return state - 1 if state else -reduce(lambda code, bit: 8 * code + bit, bits[: len(conditions)], 1)

    def cells(state: int) -> int:
        bits = [-state >> 3 * place & 7 for place in reversed(range(len(conditions)))]
        if state >= 0 or ERROR in bits:
            return variable.lacking
        if is_test:
            return variable.cells(bits[0])
        if not texts:
            return (1 << len(variable.values)) - 1
        given = [each for each, bit in zip(texts, bits, strict=True) if bit == TRUE]
        return cell_mask(
            not isinstance(each, Absent) and [text for text in texts if text == each] == given
            for each in variable.values
        )

    return _Member(filtered.args[0] if kept else of, [*conditions, *kept], number, add, cells)


class _Macro(NamedTuple):
    """How the results for items make that of a macro: the state of the empty list, a further result, the macro's."""

    start: int
    add: Callable[[int, int], int]
    result: Callable[[int], int]


def _strongest(*order: int) -> _Macro:
    """A macro whose result is the last in an order of those of its items."""
    return _Macro(0, lambda state, bit: max(state, order.index(bit)), order.__getitem__)


_MACROS: Final = {
    "exists": _strongest(FALSE, ERROR, TRUE),
    "all": _strongest(TRUE, ERROR, FALSE),
    # 0, 1 or more items, or 3 with an error
    "exists_one": _Macro(
        0,
        lambda state, bit: 3 if bit == ERROR or state == 3 else min(state + (bit == TRUE), 2),
        lambda state: ERROR if state == 3 else TRUE if state == 1 else FALSE,
    ),
}


class Lists(Rows):
    """Macros over one list, its size and conditions on some of its items have results together only as some items
    allow."""

    def __init__(self, several: Sequence[BoxVariable], domains: Domains, results: Results) -> None:
        self.indices = tuple([each.at for each in several])
        self.several = several
        self.domains = domains
        self.results = results

    def combinations(self) -> Sequence[Box] | None:
        """The results for a list of any items, and without a list; None where that takes more than `MOST_STEPS`."""
        several, domains = _inside_a_loop(self.several, self.domains)
        members = [member for each in several if (member := _member(each, domains))]
        program, conditions = several[0].program, [each for member in members for each in member.conditions]
        items = _with_item(domains, typed(program, domains)[members[0].of].type)
        try:
            found = _reached(members, self.results(conditions, items))
        except TooMany:
            return None
        rows = {tuple([member.cells(state) for member, state in zip(members, states, strict=True)]) for states in found}
        return [*sorted(rows), tuple([each.lacking for each in self.several])]


def _reached(members: Sequence[_Member], results: Iterator[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """The states of the members for lists of any items with some of the results. Raises TooMany, where the lists of one
    item make so many already without waiting for the last result."""
    ends = list(accumulate(len(member.conditions) for member in members))
    spans = [slice(end - len(member.conditions), end) for end, member in zip(ends, members, strict=True)]

    def after(states: tuple[int, ...], item: tuple[int, ...]) -> tuple[int, ...]:
        each = zip(members, states, spans, strict=True)
        return tuple([member.add(state, item[span]) for member, state, span in each])

    start = tuple([member.start for member in members])
    items, found = set[tuple[int, ...]](), {start}
    for item in results:
        items.add(item)
        found.add(after(start, item))
        _limit(found, items)
    pending = list(found)
    for states, item in ((states, item) for states in pending for item in items):
        if (reached := after(states, item)) not in found:
            found.add(reached)
            pending.append(reached)
            _limit(found, items)
    return found


def _limit(found: Sized, items: Sized) -> None:
    if len(found) * len(items) > MOST_STEPS:
        raise TooMany


def _inside_a_loop(several: Sequence[BoxVariable], domains: Domains) -> tuple[Sequence[BoxVariable], Domains]:
    """The variables with another name for the item of the loop around theirs, if there is one."""
    if not any(reads_name(each.program, _ITEM) for each in several):
        return several, domains
    outer = next(name for number in count(1) if (name := f"{_ITEM}_{number}") not in domains.types)
    renamed = [each._replace(program=with_program(each.program, _ITEM, reading((outer,)))) for each in several]
    types = {outer if name == _ITEM else name: type_ for name, type_ in domains.types.items()}
    known = {(outer, *path[1:]) if path[0] == _ITEM else path: domain for path, domain in domains.known.items()}
    return renamed, replace(domains, types=types, known=known)


def _body(program: Program) -> Program:
    """The body of a macro, with a name in place of its variable."""
    loop = program.nodes[-1]
    return with_item(extract(program, loop.args[1]), loop, Node("name", (), [[_ITEM, []]]))


def _with_item(domains: Domains, kind: Type | None) -> Domains:
    if not isinstance(kind, ListType):
        return domains
    known = {**domains.known, (_ITEM, "number"): whole(0)}  # of a turn or a message
    return replace(domains, types={**domains.types, _ITEM: kind.element}, known=known)
