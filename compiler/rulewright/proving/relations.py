"""Relations between the variables of a box.

Two parts of conditions have no value where it is the same part of the input that they lack. Conditions on one text hold
together only as some text allows, and conditions on the items of one list only as some list allows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import and_
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from rulewright.expression.types import DYN, STRING, ListType, Type
from rulewright.proving.absence import sources_of
from rulewright.proving.atoms import COMPARISONS, ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Absent, Domains, Path, whole
from rulewright.proving.languages import Language, Outcome, literal, outcomes
from rulewright.proving.program_parts import extract, path_at, unabridged
from rulewright.proving.static_types import typed
from rulewright.proving.text_conditions import carried, condition_on_text
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import NUMBERS, Node, Program, literal_value
from rulewright_runtime.ir import literal as tagged
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import Value

Box: TypeAlias = tuple[int, ...]
# All results that several conditions can have together; None where they can't be told.
Results: TypeAlias = "Callable[[Sequence[Program], Domains], Sequence[tuple[int, ...]] | None]"
Answer: TypeAlias = "Callable[[Any], tuple[bool, ...]]"
Each = TypeVar("Each")
LONGEST: Final = 200  # characters up to which the length of a text is taken into account
MOST_STEPS: Final = 50_000  # items that lists of different results may end with
_ITEM: Final = "__item"  # what stands for an item of a list
_LITERALS: Final = (*NUMBERS, "string", "bool", "null")
_OTHERS: Final[tuple[Value, ...]] = (  # values of every kind, tried besides constants and what is between them
    math.nan, -math.inf, math.inf, True, False, None, "", "so", [],
)  # fmt: skip


class BoxVariable(NamedTuple):
    """A variable of a box: its index, the part of conditions that it stands for, a value of each cell, and the cuts
    between them."""

    at: int
    program: Program
    values: Sequence[Value]
    cuts: frozenset[Value]

    @property
    def lacking(self) -> int:
        """The cells in which there is no value, as a bit mask."""
        return _mask(isinstance(value, Absent) for value in self.values)

    def cells(self, bit: int) -> int:
        """The cells of a condition's result: TRUE, FALSE or ERROR."""
        return self.lacking if bit == ERROR else _mask(value is (bit == TRUE) for value in self.values)


class Relation(ABC):
    """A relation between variables of a box, by their indices."""

    indices: tuple[int, ...]

    @abstractmethod
    def allows(self, cells: Box) -> bool:
        """Whether an input may lie in these cells of the variables; False is exact."""


def relations(variables: Sequence[BoxVariable], domains: Domains, results: Results) -> Iterator[Relation]:
    """The relations between the variables; `results` are those that several conditions can have together."""
    lacks = [lack for variable in variables for lack in _lacks(variable, domains)]
    if len(lacks) > 1:
        yield _Absences(lacks)
    texts = _grouped((each.subject, each) for each in [_text_variable(each, domains) for each in variables] if each)
    yield from (_Texts(several) for several in texts if any(each.languages for each in several))
    yield from map(_Values, _by_part(variables, lambda each: _compared(each, domains)))
    lists = _by_part(variables, _searched)
    yield from (_Lists(several, domains, results) for several in lists if len(several) > 1)


def _grouped(pairs: Iterable[tuple[str, Each]]) -> Iterable[list[Each]]:
    found: dict[str, list[Each]] = {}
    for key, each in pairs:
        found.setdefault(key, []).append(each)
    return found.values()


def _by_part(
    variables: Iterable[BoxVariable], parts: Callable[[BoxVariable], Iterable[int]]
) -> Iterable[list[BoxVariable]]:
    """The variables with the same part, by its source text."""
    return _grouped((unabridged(extract(each.program, at)), each) for each in variables for at in parts(each))


class _Lack(NamedTuple):
    """The cells of a variable in which at least one of some parts is missing."""

    at: int
    cells: int
    parts: frozenset[Path]


def _lacks(variable: BoxVariable, domains: Domains) -> Iterator[_Lack]:
    absent = [value.part for value in variable.values if isinstance(value, Absent)]
    path = path_at(variable.program, len(variable.program.nodes) - 1)
    if path is None and absent:
        yield _Lack(variable.at, variable.lacking, sources_of(variable.program, domains))
    for part in absent if path is not None else ():
        cells = [isinstance(value, Absent) and value.part <= part for value in variable.values]
        yield _Lack(variable.at, _mask(cells), frozenset({path[: part + 1]}) if path else frozenset())


def _mask(cells: Iterable[bool]) -> int:
    return sum(1 << number for number, is_in in enumerate(cells) if is_in)


class _Absences(Relation):
    """What lacks the same parts has no value together."""

    def __init__(self, lacks: Sequence[_Lack]) -> None:
        self.indices = tuple(sorted({each.at for each in lacks}))
        self.lacks = [each._replace(at=self.indices.index(each.at)) for each in lacks]

    def allows(self, cells: Box) -> bool:
        present = frozenset[Path]().union(*[each.parts for each in self.lacks if not cells[each.at] & each.cells])
        return not any(each.parts <= present for each in self.lacks if not cells[each.at] & ~each.cells)


class _TextVariable(NamedTuple):
    """A variable that depends on one text, the `subject`: on whether it is in some languages and reaches some lengths.
    `answers` to these questions belong to each cell; None to one in which there is no text."""

    subject: str
    variable: BoxVariable
    languages: Sequence[Language]
    lengths: Sequence[int]
    answers: Sequence[tuple[bool, ...] | None]


def _text_variable(variable: BoxVariable, domains: Domains) -> _TextVariable | None:
    program, last = variable.program, len(variable.program.nodes) - 1
    node = program.nodes[last]

    def made(
        subject: str,
        answer: Callable[[Any], tuple[bool, ...]],
        languages: Sequence[Language],
        lengths: Sequence[int] = (),
    ) -> _TextVariable:
        answers = [None if isinstance(value, Absent) else answer(value) for value in variable.values]
        return _TextVariable(subject, variable, languages, lengths, answers)

    condition = condition_on_text(program, last)
    if condition is not None:
        return made(condition.subject, lambda value: (value,), [condition.language])
    if node.op == "call" and node.value == "size" and typed(program, domains)[node.args[0]].type == STRING:
        cuts = {int(cut) + step for cut in variable.cuts if isinstance(cut, Fraction) for step in (0, 1)}
        lengths = sorted(cut for cut in cuts if 0 < cut <= LONGEST)
        subject = unabridged(extract(program, node.args[0]))
        return made(subject, lambda value: tuple([value >= each for each in lengths]), [], lengths)
    texts = sorted(cut for cut in variable.cuts if isinstance(cut, str))
    if texts:
        several = [carried(program, last, literal(each)) for each in texts]
        languages = [each.language for each in several]
        return made(several[0].subject, lambda value: tuple([value == each for each in texts]), languages)
    return None


class _Rows(Relation):
    """Combinations of cells, one of which every input lies in; found when a box first asks for them."""

    @abstractmethod
    def combinations(self) -> Sequence[Box] | None:
        """The combinations; None where they can't be told."""

    @cached_property
    def _rows(self) -> Sequence[Box] | None:
        return self.combinations()

    def allows(self, cells: Box) -> bool:
        rows = self._rows
        return rows is None or any(all(map(and_, cells, row)) for row in rows)


class _Texts(_Rows):
    """Conditions on one text hold together only as some text allows."""

    def __init__(self, several: Sequence[_TextVariable]) -> None:
        self.indices = tuple([each.variable.at for each in several])
        self.several = several

    def combinations(self) -> Sequence[Box] | None:
        languages = [language for each in self.several for language in each.languages]
        lengths = sorted({length for each in self.several for length in each.lengths})
        found = outcomes(languages, lengths)
        if found is None and lengths:
            lengths, found = [], outcomes(languages)
        return None if found is None else [self._cells(outcome, lengths) for outcome in found]

    def _cells(self, outcome: Outcome, lengths: Sequence[int]) -> Box:
        holds, reaches = iter(outcome.holds), dict(zip(lengths, outcome.reaches, strict=True))
        cells = []
        for each in self.several:
            given = (*[next(holds) for _ in each.languages], *[reaches.get(length) for length in each.lengths])
            cells.append(_mask(answers is None or _agree(answers, given) for answers in each.answers))
        return tuple(cells)


def _agree(answers: Iterable[bool], given: Iterable[bool | None]) -> bool:
    return all(two in (one, None) for one, two in zip(answers, given, strict=True))


def _compared(variable: BoxVariable, domains: Domains) -> Iterator[int]:
    """The part of unknown type that a comparison compares with a constant."""
    program, node = variable.program, variable.program.nodes[-1]
    if node.op == "call" and node.value in COMPARISONS and all(isinstance(v, bool | Absent) for v in variable.values):
        for one, two in (node.args, node.args[::-1]):
            given = program.nodes[two]
            is_simple = given.op == "const" and given.value[0] in _LITERALS
            if is_simple and typed(program, domains)[one].type in (None, DYN):
                yield one


class _Values(_Rows):
    """Comparisons of one value of unknown type with constants, carried out on a value of every kind."""

    def __init__(self, several: Sequence[BoxVariable]) -> None:
        self.indices = tuple([each.at for each in several])
        self.several = several

    def combinations(self) -> Sequence[Box]:
        """What the comparisons say of each value, and of none."""
        rows = {tuple([each.cells(_compares(each.program, value)) for each in self.several]) for value in self.tried()}
        return [*sorted(rows), tuple([each.lacking for each in self.several])]

    def tried(self) -> Iterator[Value]:
        """Values of every kind, numbers and texts among them that the constants tell apart."""
        given = [
            literal_value(node.value) for each in self.several for node in each.program.nodes if node.op == "const"
        ]
        yield from (*_OTHERS, *given, *(f"{each}\0" for each in given if isinstance(each, str)))
        numbers = sorted({Fraction(*exact_pair(each)) for each in given if _is_number(each)})
        between = [(one + two) / 2 for one, two in pairwise(numbers)]
        yield from (Score(each.numerator, each.denominator) for each in between)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Score) and not isinstance(value, bool) and math.isfinite(float(value))


def _compares(program: Program, value: Value) -> int:
    """The result of a comparison with a value in place of its open side."""
    nodes = [node if node.op == "const" else Node("const", (), tagged(value)) for node in program.nodes[:-1]]
    return bits_of(prepare(Program((*nodes, program.nodes[-1]), program.source, program.strict)), {})


def _searched(variable: BoxVariable) -> Iterator[int]:
    """The list that a macro searches."""
    node = variable.program.nodes[-1]
    if node.op in _MACROS and len(node.value) == 1:
        yield node.args[0]


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


class _Lists(_Rows):
    """Macros over one list have results together only as some items allow."""

    def __init__(self, several: Sequence[BoxVariable], domains: Domains, results: Results) -> None:
        self.indices = tuple([each.at for each in several])
        self.several = several
        self.domains = domains
        self.results = results

    def combinations(self) -> Sequence[Box] | None:
        """The results for a list of any items, and without a list; None where that takes more than `MOST_STEPS`."""
        program = self.several[0].program
        kind = typed(program, self.domains)[program.nodes[-1].args[0]].type
        items = self.results([_body(each.program) for each in self.several], _with_item(self.domains, kind))
        if items is None:
            return None
        macros = [_MACROS[each.program.nodes[-1].op] for each in self.several]
        pending = [tuple([macro.start for macro in macros])]
        found = set(pending)
        for states, item in ((states, item) for states in pending for item in items):
            after = tuple([macro.add(*pair) for macro, *pair in zip(macros, states, item, strict=True)])
            if after not in found:
                found.add(after)
                pending.append(after)
            if len(found) * len(items) > MOST_STEPS:
                return None
        rows = [[macro.result(state) for macro, state in zip(macros, states, strict=True)] for states in sorted(found)]
        rows.append([ERROR] * len(macros))
        return [tuple([each.cells(bit) for each, bit in zip(self.several, row, strict=True)]) for row in rows]


def _body(program: Program) -> Program:
    """The body of a macro, with a name in place of its variable."""
    loop = program.nodes[-1]
    body = extract(program, loop.args[1])
    item = Node("name", (), [[_ITEM, []]])
    nodes = [item if node.op == "local" and node.value == loop.value[0] else node for node in body.nodes]
    return Program(tuple(nodes), program.source, program.strict)


def _with_item(domains: Domains, kind: Type | None) -> Domains:
    if not isinstance(kind, ListType):
        return domains
    known = {**domains.known, (_ITEM, "number"): whole(0)}  # of a turn or a message
    return replace(domains, types={**domains.types, _ITEM: kind.element}, known=known)
