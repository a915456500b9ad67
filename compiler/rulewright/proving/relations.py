"""Relations between the variables of a box.

Two parts of conditions have no value where it is the same part of the input that they lack. Conditions on one text hold
together only as some text allows, and conditions on the items of one list only as some list allows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, chain, count, pairwise
from operator import and_
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from rulewright.expression.compose import all_of, any_of, negate
from rulewright.expression.types import DURATION, DYN, STRING, TIMESTAMP, ListType, Type
from rulewright.proving.absence import sources_of
from rulewright.proving.atoms import ERROR, FALSE, TRUE, bits_of
from rulewright.proving.domains import Absent, Domains, Path, whole, wholes_at
from rulewright.proving.languages import (
    ANY,
    Language,
    Outcome,
    at_least,
    complement,
    has_text,
    intersection,
    literal,
    outcomes,
    sample_outcomes,
    union,
)  # fmt: skip
from rulewright.proving.program_parts import COMPARISONS, extract, path_at, reading, unabridged, value_of
from rulewright.proving.static_types import Typed, typed
from rulewright.proving.substitution import reads_name, with_program
from rulewright.proving.text_conditions import TextCondition, carried, condition_on_text
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import NUMBERS, Node, Program, literal_value
from rulewright_runtime.ir import literal as tagged
from rulewright_runtime.score import Score, exact_pair
from rulewright_runtime.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, UInt, Value

Box: TypeAlias = tuple[int, ...]
# All results that several conditions can have together; None where they can't be told.
Results: TypeAlias = "Callable[[Sequence[Program], Domains], Sequence[tuple[int, ...]] | None]"
Answer: TypeAlias = "Callable[[Any], tuple[bool, ...]]"
Each = TypeVar("Each")
LONGEST: Final = 200  # characters up to which the length of a text is taken into account
MOST_STEPS: Final = 50_000  # items that lists of different results may end with
_FURTHEST: Final = 20  # items before one that is read
_STRICT: Final = frozenset(("const", "name", "select", "index", "call"))  # have no value where one of theirs has none
_ITEM: Final = "__item"  # what stands for an item of a list
_LITERALS: Final = (*NUMBERS, "string", "bool", "null", "timestamp", "duration")
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
    yield from (Texts(several) for several in texts if any(each.languages for each in several))
    yield from map(_Values, _by_part(variables, lambda each: _compared(each, domains)))
    lists = _by_part(variables, lambda each: _searched(each, domains))
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
    answers: Sequence[tuple[bool | None, ...] | None]

    def language(self, cells: int) -> Language:
        """The texts for which the variable may be in some of the cells."""
        allowed = [answers for number, answers in enumerate(self.answers) if cells >> number & 1]
        if any(answers is None for answers in allowed):
            return ANY
        asked = [*self.languages, *map(at_least, self.lengths)]
        return union(
            intersection(
                one if answer else complement(one)
                for one, answer in zip(asked, answers or (), strict=True)
                if answer is not None
            )
            for answers in allowed
        )


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
        return _where_defined(made(condition.subject, lambda value: (value,), [condition.language]), condition, domains)
    if node.op == "call" and node.value == "size" and typed(program, domains)[node.args[0]].type == STRING:
        cuts = {int(cut) + step for cut in variable.cuts if isinstance(cut, Fraction) for step in (0, 1)}
        lengths = sorted(cut for cut in cuts if 0 < cut <= LONGEST)
        subject = unabridged(extract(program, node.args[0]))
        return made(subject, lambda value: tuple([value >= each for each in lengths]), [], lengths)
    texts = sorted(cut for cut in variable.cuts if isinstance(cut, str))
    if texts and not any(isinstance(value, list) for value in variable.values):
        several = [carried(program, last, literal(each)) for each in texts]
        languages = [each.language for each in several]
        found = made(several[0].subject, lambda value: tuple([value == each for each in texts]), languages)
        return _where_defined(found, several[0], domains)
    return None


def _where_defined(found: _TextVariable, condition: TextCondition, domains: Domains) -> _TextVariable:
    """The variable with the language of the texts for which it has a value."""
    program = found.variable.program
    if not condition.partial:
        return found
    types = typed(program, domains, {*condition.partial, condition.at})
    is_text = types[condition.at].type == STRING
    nowhere = (*[None] * len(found.languages), False) if is_text and types[-1].total else None
    answers = [nowhere if each is None else (*each, True) for each in found.answers]
    return found._replace(languages=[*found.languages, condition.defined], answers=answers)


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


class Texts(_Rows):
    """Conditions on one text hold together only as some text allows."""

    def __init__(self, several: Sequence[_TextVariable]) -> None:
        self.indices = tuple([each.variable.at for each in several])
        self.several = several
        self.subject = several[0].subject

    def allows(self, cells: Box) -> bool:
        return any(all(map(and_, cells, row)) for row in self._sampled) or super().allows(cells)

    @cached_property
    def _sampled(self) -> Sequence[Box]:
        """Some of the combinations, found with less work than all."""
        languages, lengths = self._languages()
        return [self._cells(outcome, lengths) for outcome in sample_outcomes(tuple(languages), tuple(lengths))]

    def combinations(self) -> Sequence[Box] | None:
        languages, lengths = self._languages()
        found = outcomes(languages, lengths)
        if found is None and lengths:
            lengths, found = [], outcomes(languages)
        return None if found is None else [*(self._cells(outcome, lengths) for outcome in found), self._nowhere]

    def _languages(self) -> tuple[list[Language], list[int]]:
        languages = [language for each in self.several for language in each.languages]
        return languages, sorted({length for each in self.several for length in each.lengths})

    def text(self, cells: Box) -> str | bool:
        """A text in the cells; False if there is none, True if that is not known."""
        if all(map(and_, cells, self._nowhere)):
            return True
        return has_text(intersection(map(_TextVariable.language, self.several, cells)))

    @property
    def _nowhere(self) -> Box:
        """The cells where there is no text."""
        return tuple([each.variable.lacking for each in self.several])

    def _cells(self, outcome: Outcome, lengths: Sequence[int]) -> Box:
        holds, reaches = iter(outcome.holds), dict(zip(lengths, outcome.reaches, strict=True))
        cells = []
        for each in self.several:
            given = (*[next(holds) for _ in each.languages], *[reaches.get(length) for length in each.lengths])
            cells.append(_mask(answers is None or _agree(answers, given) for answers in each.answers))
        return tuple(cells)


def _agree(answers: Iterable[bool | None], given: Iterable[bool | None]) -> bool:
    return all(one is None or two in (one, None) for one, two in zip(answers, given, strict=True))


def _compared(variable: BoxVariable, domains: Domains) -> Iterator[int]:
    """The part of unknown type, or the time, that a comparison compares with a constant."""
    program, node = variable.program, variable.program.nodes[-1]
    if node.op == "call" and node.value in COMPARISONS and all(isinstance(v, bool | Absent) for v in variable.values):
        for one, two in (node.args, node.args[::-1]):
            if _is_simple(program.nodes[two]) and typed(program, domains)[one].type in (None, DYN, TIMESTAMP, DURATION):
                yield one


def _is_simple(node: Node) -> bool:
    return node.op == "const" and node.value[0] in _LITERALS


class _Values(_Rows):
    """Comparisons of one value of unknown type, or one time, with constants, carried out on a value of every kind."""

    def __init__(self, several: Sequence[BoxVariable]) -> None:
        self.indices = tuple([each.at for each in several])
        self.several = several

    def combinations(self) -> Sequence[Box]:
        """What the comparisons say of each value, and of none."""
        rows = {tuple([each.cells(_compares(each.program, value)) for each in self.several]) for value in self.tried()}
        return [*sorted(rows), tuple([each.lacking for each in self.several])]

    def tried(self) -> Iterator[Value]:
        """Values of every kind, numbers, texts and times among them that the constants tell apart."""
        nodes = [each.program.nodes[arg] for each in self.several for arg in each.program.nodes[-1].args]
        given = [literal_value(node.value) for node in nodes if _is_simple(node)]
        yield from (*_OTHERS, *given, *(f"{each}\0" for each in given if isinstance(each, str)))
        numbers = sorted({Fraction(*exact_pair(each)) for each in given if _is_number(each)})
        around = [numbers[0] - 1, *numbers, numbers[-1] + 1] if numbers else []
        between = [(one + two) / 2 for one, two in pairwise(around)]
        yield from (Score(each.numerator, each.denominator) for each in between)
        yield from chain.from_iterable(map(_beside, given))


def _beside(value: Value) -> Iterator[Value]:
    """The neighbours of a time or a number. An int is compared with a double as its nearest double."""
    if isinstance(value, Timestamp | Duration):
        for step in (-1, 1):
            with suppress(EvaluationError):  # out of range
                yield type(value)(value.nanos + step)
    elif _is_number(value):
        double = float(value)
        yield from (double, *(math.nextafter(double, end) for end in (-math.inf, math.inf)))
        ints = {edge + step for edge in (*wholes_at(double), math.floor(value)) for step in (-1, 0, 1)}
        yield from (UInt(each) if each > INT_MAX else each for each in ints if INT_MIN <= each <= UINT_MAX)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Score) and not isinstance(value, bool) and math.isfinite(float(value))


def _compares(program: Program, value: Value) -> int:
    """The result of a comparison with a value in place of its open side."""
    node = program.nodes[-1]
    given = Node("const", (), tagged(value))
    sides = [side if _is_simple(side := program.nodes[arg]) else given for arg in node.args]
    joined = Node("call", (0, 1), node.value, node.at)
    return bits_of(prepare(Program((*sides, joined), program.source, program.strict)), {})


def _searched(variable: BoxVariable, domains: Domains) -> Iterator[int]:
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
    items = [at for at, each in enumerate(program.nodes) if each.op == "index"]
    if items and all(each.op in _STRICT and each.value not in ("or", "orValue") for each in program.nodes):
        return _item(variable, items[0])
    return None


def _on_items(program: Program, types: Sequence[Typed]) -> tuple[int, Program]:
    """The list that a macro searches behind `map` and `filter`, and the condition on its items."""
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
    item = Program((Node("name", (), [[_ITEM, []]]),), variable.program.source, variable.program.strict)
    others = sum(1 << at for at, text in enumerate(texts) if text not in known)

    def add(state: int, bits: Box) -> int:
        held = sum(1 << texts.index(text) for text, bit in zip(known, bits, strict=True) if bit == TRUE)
        return state | (held or others)

    def cells(state: int) -> int:
        held = [text for at, text in enumerate(texts) if state >> at & 1]
        return _mask(value == held for value in variable.values)

    return _Member(last, [_equals(item, text) for text in known], 0, add, cells)


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
        return _mask(
            not isinstance(each, Absent) and _sides(each, cuts) == _sides(state, cuts) for each in variable.values
        )

    filtered, node = extract(variable.program, at), variable.program.nodes[at]
    if node.op == "filter" and len(node.value) == 1:
        return _Member(node.args[0], [_body(filtered)], 0, add, cells)
    return _Member(at, [], 0, add, cells)


def _sides(number: Value, cuts: Iterable[Fraction]) -> list[int]:
    """On which side of each cut a whole number is."""
    return [(number > cut) - (number < cut) for cut in cuts]


def _item(variable: BoxVariable, at: int) -> _Member | None:
    """A condition on one item of a list, a text of it, or a number, of which only its presence is told: the items that
    are still before it, or its results, below zero."""
    program, (of, key) = variable.program, variable.program.nodes[at].args
    number, texts = value_of(program, key), sorted(cut for cut in variable.cuts if isinstance(cut, str))
    if type(number) is not int or not 0 <= number <= _FURTHEST:
        return None
    nodes = [Node("name", (), [[_ITEM, []]]) if each == at else node for each, node in enumerate(program.nodes)]
    read = extract(Program(tuple(nodes), program.source, program.strict), len(nodes) - 1)
    is_test = all(isinstance(value, bool | Absent) for value in variable.values)
    conditions = [read] if is_test else [_equals(read, each) for each in texts]

    def add(state: int, bits: Box) -> int:
        return state if state < 0 else state - 1 if state else -reduce(lambda code, bit: 8 * code + bit, bits, 1)

    def cells(state: int) -> int:
        bits = [-state >> 3 * place & 7 for place in reversed(range(len(conditions)))]
        if state >= 0 or ERROR in bits:
            return variable.lacking
        if is_test:
            return variable.cells(bits[0])
        if not texts:
            return (1 << len(variable.values)) - 1
        given = [each for each, bit in zip(texts, bits, strict=True) if bit == TRUE]
        return _mask(
            not isinstance(each, Absent) and [text for text in texts if text == each] == given
            for each in variable.values
        )

    return _Member(of, conditions, number, add, cells)


def _equals(program: Program, text: str) -> Program:
    """The condition that a program gives a text."""
    last = len(program.nodes) - 1
    nodes = (*program.nodes, Node("const", (), tagged(text)), Node("call", (last, last + 1), "_==_"))
    return Program(nodes, program.source, program.strict)


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
        items = self.results(conditions, _with_item(domains, typed(program, domains)[members[0].of].type))
        if items is None:
            return None
        ends = list(accumulate(len(member.conditions) for member in members))
        spans = [slice(end - len(member.conditions), end) for end, member in zip(ends, members, strict=True)]
        pending = [tuple([member.start for member in members])]
        found = set(pending)
        for states, item in ((states, item) for states in pending for item in items):
            after = tuple(
                [member.add(state, item[span]) for member, state, span in zip(members, states, spans, strict=True)]
            )
            if after not in found:
                found.add(after)
                pending.append(after)
            if len(found) * len(items) > MOST_STEPS:
                return None
        rows = {tuple([member.cells(state) for member, state in zip(members, states, strict=True)]) for states in found}
        return [*sorted(rows), tuple([each.lacking for each in self.several])]


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
    body = extract(program, loop.args[1])
    item = Node("name", (), [[_ITEM, []]])
    nodes = [item if node.op == "local" and node.value == loop.value[0] else node for node in body.nodes]
    return Program(tuple(nodes), program.source, program.strict)


def _with_item(domains: Domains, kind: Type | None) -> Domains:
    if not isinstance(kind, ListType):
        return domains
    known = {**domains.known, (_ITEM, "number"): whole(0)}  # of a turn or a message
    return replace(domains, types={**domains.types, _ITEM: kind.element}, known=known)
