"""Exact splitting: the cells of variables are divided into boxes on which every condition has one result.

A box is a set of cells for each variable, as a bit mask. The possible results of an atom on a box come from three sets
of cells, those where it is true, false and undecided, which are computed with the evaluator. A box on which a condition
has several results is split at a relevant atom; single cells have one result, so the splitting ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
from itertools import chain, product
from math import prod
from typing import Any, Final, TypeAlias, TypeVar

from rulewright.proving.atoms import ANYTHING, ERROR, FALSE, TRUE, Atom, Atoms, Formula, bits_of
from rulewright.proving.box_variables import Box, BoxVariable, TooMany, cell_mask
from rulewright.proving.comparisons import EQUAL, GREATER, LESS, UNORDERED
from rulewright.proving.domains import Absent, Domains, NumberRange, Path, divide
from rulewright.proving.program_parts import exact_of, paths_of, reading
from rulewright.proving.relations import Texts, relations
from rulewright.proving.results import bindings_of
from rulewright.proving.simplex import Simplex
from rulewright.proving.sums import BoundedSums, Terms, bounds_of, cells_with_ints, difference, total
from rulewright_runtime.interpreter import Evaluator
from rulewright_runtime.interpreter.evaluator import evaluator
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score
from rulewright_runtime.values import Value

# Conditions by number, each with the results it may have (TRUE, FALSE and ERROR as bits).
Goal: TypeAlias = "Sequence[tuple[int, int]]"
State = TypeVar("State")
Found = TypeVar("Found")
# What is said of a box: the state for its parts, what was found or None, and the atom to split at, if any.
Answer: TypeAlias = tuple[State, Found | None, int | None]
MAX_BOXES: Final = 50_000
_MOST_RESULTS: Final = 5_000  # boxes of conditions on items of lists
_LARGEST_TABLE: Final = 64
_MOST_DECISIONS: Final = 200_000  # atoms times the cells of their variable: with n values of one, the square of n


def _combine(left: int, right: int, decisive: int) -> int:
    """The possible results of `and` (FALSE decides) or `or` (TRUE decides), from those of its two operands."""
    bits = 0
    for one in (TRUE, FALSE, ERROR):
        for two in (TRUE, FALSE, ERROR):
            if left & one and right & two:
                bits |= decisive if decisive in (one, two) else ERROR if ERROR in (one, two) else one
    return bits


_AND: Final = [[_combine(a, b, FALSE) for b in range(8)] for a in range(8)]
_OR: Final = [[_combine(a, b, TRUE) for b in range(8)] for a in range(8)]
_NOT: Final = [(a & ERROR) | (FALSE if a & TRUE else 0) | (TRUE if a & FALSE else 0) for a in range(8)]


def _same(left: int, right: int) -> int:
    bits = ERROR if (left | right) & ERROR else 0
    bits |= TRUE if (left & right) & (TRUE | FALSE) else 0
    return bits | (FALSE if (left & TRUE and right & FALSE) or (left & FALSE and right & TRUE) else 0)


@dataclass(slots=True)
class _Facts:
    """An atom of one variable: its index in a box, and the cells where the atom is true, false or undecided."""

    at: int
    true: int
    false: int
    error: int

    @classmethod
    def of(cls, variable: BoxVariable, decide: Callable[[Value], int]) -> _Facts:
        """The facts of an atom with this result, as a bit, for the value of each cell."""
        bits = list(map(decide, variable.values))
        return cls(variable.at, *(cell_mask(bit == result for bit in bits) for result in (TRUE, FALSE, ERROR)))

    def on(self, box: Box) -> int:
        cells = box[self.at]
        return (cells & self.true and TRUE) | (cells & self.false and FALSE) | (cells & self.error and ERROR)

    def cells(self, allowed: int) -> int:
        """The cells where the atom has one of the results."""
        return (allowed & TRUE and self.true) | (allowed & FALSE and self.false) | (allowed & ERROR and self.error)

    def split(self, box: Box) -> list[Box]:
        parts = [box[self.at] & cells for cells in (self.true, self.false, self.error)]
        return [_with(box, self.at, part) for part in parts if part]


@dataclass(slots=True)
class _Joint:
    """An atom of several variables whose cells are single values; results are cached by the cells' indices."""

    indices: tuple[int, ...]
    decide: Callable[[tuple[int, ...]], int]
    cache: dict[tuple[int, ...], int]

    def on(self, box: Box) -> int:
        cells = [[bit for bit in range(box[at].bit_length()) if box[at] >> bit & 1] for at in self.indices]
        if prod(map(len, cells)) > _LARGEST_TABLE:
            return ANYTHING
        found = 0
        for key in product(*cells):
            if key not in self.cache:
                self.cache[key] = self.decide(key)
            found |= self.cache[key]
            if found == ANYTHING:
                break
        return found

    def split(self, box: Box) -> list[Box]:
        at = max(self.indices, key=lambda index: box[index].bit_count())
        first = box[at] & -box[at]
        return [_with(box, at, first), _with(box, at, box[at] & ~first)]


def _with(box: Box, at: int, cells: int) -> Box:
    return (*box[:at], cells, *box[at + 1 :])


class Space:
    """Conditions over the same variables, with their possible results on boxes."""

    def __init__(self, programs: Sequence[Program], domains: Domains, by_terms: bool = False) -> None:
        """Find the atoms of all conditions, divide every variable into cells, and evaluate every atom on every cell;
        `by_terms` also divides what parts compute that are compared with constants only. Raises TooMany."""
        atoms = Atoms(domains, by_terms)
        self.formulas: list[Formula] = [atoms.formula(program) for program in programs]
        self.atoms = atoms.atoms
        self._summed = {path: bounds for path, each in atoms.summed.items() if (bounds := bounds_of(each))}
        self._orders: dict[Terms, NumberRange] = {}
        for less, more in domains.ordered:
            if less in self._summed and more in self._summed:
                terms, span = difference(less, more, self._summed)
                self._orders[terms] = span.meets(self._orders.get(terms, span))
        self._whole = frozenset(path for path, each in atoms.summed.items() if each.kind == "int")
        self.variables: list[BoxVariable] = []
        self._places: dict[Hashable, BoxVariable] = {}  # by the path, the sum, the two numbers, or the opaque atom
        self._divide(atoms, domains.standing)
        read = [self._places[path] for atom in self.atoms for path in atom.reads[:1]]
        if sum(len(variable.values) for variable in read) > _MOST_DECISIONS:
            raise TooMany
        self._possible: dict[Hashable, bool] = {}
        self._spans: dict[tuple[int, int], NumberRange] = {}
        self._facts: list[_Facts | _Joint] = [self._study(atom) for atom in self.atoms]
        self.everything: Box = tuple((1 << len(variable.values)) - 1 for variable in self.variables)
        self._sums = [each for each in self.variables if each.terms]
        self._parts_of_sums = [each for each in self.variables if each.path in self._summed]
        self._of_sums = [*self._sums, *self._parts_of_sums]
        self._unread_orders = [(terms, span) for terms, span in self._orders.items() if terms not in self._places]
        related = [each for each in self.variables if not each.terms and each.order is None]
        self._relations = list(relations(related, domains, results_of))

    def _divide(self, atoms: Atoms, standing: Mapping[Path, Program]) -> None:
        """Divide the inputs and the results of other atoms into cells."""
        for path, domain in sorted(atoms.found.items()):
            program, reason = atoms.terms.get(path) or (standing.get(path) or reading(path), None)
            cuts = frozenset(atoms.cuts.get(path, ()))
            self._add(path, program, domain.cells(cuts), cuts=cuts, path=path, domain=domain, reason=reason)
        cuts_of: dict[Terms, list[Fraction]] = {}
        compared = [(atom.program, atom.compared) for atom in self.atoms if atom.compared is not None]
        for _, each in compared:
            cuts_of.setdefault(each.terms, []).append(each.cut)
        for program, each in compared:
            if each.terms not in self._places:
                self._add(each.terms, program, self._cells_of_sum(each.terms, cuts_of[each.terms]), terms=each.terms)
        for atom in self.atoms:
            if atom.order is not None:
                possible = [bit for bit in (LESS, EQUAL, GREATER, UNORDERED) if bit & atom.order.possible]
                self._add(atom.order.pair, atom.program, possible, order=atom.order, reason=atom.opaque)
            elif atom.opaque is not None:
                results = (True, False, *([] if atom.total else [Absent(0)]))
                self._add(atom, atom.program, results, reason=atom.opaque)

    def _add(self, key: Hashable, program: Program, values: Sequence[Value], **more: Any) -> None:
        if key not in self._places:
            self._places[key] = BoxVariable(len(self.variables), program, values, **more)
            self.variables.append(self._places[key])

    def _cells_of_sum(self, terms: Terms, cuts: Iterable[Fraction]) -> list[NumberRange]:
        spans = divide(total(terms, self._summed), cuts)
        return cells_with_ints(terms, spans) if all(path in self._whole for path, _ in terms) else spans

    def exact(self, path: Path, box: Box) -> list[Value] | None:
        """All values that a variable may have in a box; None where that is unknown."""
        variable = self._places.get(path)
        cells = [None] if variable is None else [variable.all_in(each) for each in variable.within(box)]
        known = [each for each in cells if each is not None]
        return list(chain.from_iterable(known)) if len(known) == len(cells) else None

    def constrained(self, box: Box) -> list[BoxVariable]:
        """The variables that the box constrains."""
        return [each for each in self.variables if box[each.at] != self.everything[each.at]]

    def _study(self, atom: Atom) -> _Facts | _Joint:
        if atom.compared is not None:
            is_met = atom.compared.is_met
            return _Facts.of(self._places[atom.compared.terms], lambda span: TRUE if is_met(span) else FALSE)
        if atom.order is not None:
            holds = atom.order.holds
            return _Facts.of(self._places[atom.order.pair], lambda bit: TRUE if bit & holds else FALSE)
        if atom.opaque is not None:
            return _Facts(self._places[atom].at, *map(self._places[atom].cells, (TRUE, FALSE, ERROR)))
        evaluate = evaluator(atom.program)
        read = [self._places[path] for path in atom.reads]
        if len(read) == 1:
            return _Facts.of(read[0], lambda value: _decide(evaluate, {read[0].path: value}))

        def decide(numbers: tuple[int, ...]) -> int:
            return _decide(evaluate, {v.path: v.values[at] for v, at in zip(read, numbers, strict=True)})

        return _Joint(tuple([each.at for each in read]), decide, {})

    def _bounded_sums(self, box: Box) -> BoundedSums:
        """The bounds of the sums and their variables in a box."""
        constrained = [each for each in self._parts_of_sums if box[each.at] != self.everything[each.at]]
        bounds = self._summed | {each.path: self._span_of(each, box[each.at]) for each in constrained}
        sums = [(each.terms, self._span_of(each, box[each.at])) for each in self._sums]
        return BoundedSums(bounds, [*sums, *self._unread_orders])

    def _span_of(self, variable: BoxVariable, cells: int) -> NumberRange:
        """The interval of some cells of a sum or of one of its variables, the same object each time."""
        if (variable.at, cells) not in self._spans:
            held = [value for number, value in enumerate(variable.values) if cells >> number & 1]
            found = reduce(NumberRange.joins, held if variable.terms else self._intervals(variable, held))
            order = self._orders.get(variable.terms)
            self._spans[variable.at, cells] = found if order is None else found.meets(order)
        return self._spans[variable.at, cells]

    def _intervals(self, variable: BoxVariable, values: Iterable[Value]) -> Iterator[NumberRange]:
        """The intervals of a number, divided at its cuts, that hold the least and the greatest of some values."""
        numbers = [exact for value in values if (exact := exact_of(value)) is not None]
        ends = min(numbers), max(numbers)
        cuts = [cut for cut in variable.cuts if isinstance(cut, Fraction)]
        return (each for each in divide(self._summed[variable.path], cuts) if any(map(each.holds, ends)))

    def possible(self, box: Box) -> bool:
        """Whether the variables of a box may be consistent; False is exact."""
        for relation in self._relations:
            cells = tuple([box[at] for at in relation.indices])
            is_constrained = any(box[at] != self.everything[at] for at in relation.indices)
            if is_constrained and not self._remembered((relation, cells), partial(relation.allows, cells)):
                return False
        sums = tuple([box[each.at] for each in self._of_sums])
        return not self._sums or self._remembered(sums, lambda: self._bounded_sums(box).is_possible(self._simplex))

    @cached_property
    def _simplex(self) -> Simplex:
        """The sums and their variables, whose last answer the next one starts from."""
        return self._bounded_sums(self.everything).simplex()

    def texts(self, box: Box) -> dict[str, str] | None:
        """Texts of the box, as far as they are known, by the part of conditions; None if no text is in it."""
        found: dict[str, str] = {}
        for relation in self._relations:
            if isinstance(relation, Texts) and any(box[at] != self.everything[at] for at in relation.indices):
                text = relation.text(tuple([box[at] for at in relation.indices]))
                if text is False:
                    return None
                if isinstance(text, str):
                    found[relation.subject] = text
        return found

    def _remembered(self, key: Hashable, ask: Callable[[], bool]) -> bool:
        if key not in self._possible:
            self._possible[key] = ask()
        return self._possible[key]

    def runs(self, box: Box) -> list[Box]:
        """The box divided at the first gap in the cells of a constrained sum or of its variables, since an interval
        would include the gap; [box] without gaps."""
        if all(box[each.at] == self.everything[each.at] for each in self._sums):
            return [box]
        for at in (each.at for each in self._of_sums):
            lowest = box[at] & -box[at]
            run = box[at] & ~(box[at] + lowest)  # the consecutive cells from the lowest
            if run != box[at]:
                return [_with(box, at, run), _with(box, at, box[at] & ~run)]
        return [box]

    def ask(self, number: int, box: Box) -> tuple[int, int | None]:
        """The possible results of a condition on a box, and the atom to split at if there are several."""
        return self._ask(self.formulas[number], box)

    def _ask(self, formula: Formula, box: Box) -> tuple[int, int | None]:
        """The possible results of a formula on a box, and the atom to split at if there are several."""
        kind, body = formula
        if kind == "atom":
            bits = self._facts[body].on(box)
            return bits, body if bits & (bits - 1) else None
        if kind == "const":
            return body, None
        if kind == "not":
            bits, at = self._ask(body[0], box)
            return _NOT[bits], at
        if kind == "cond":
            return self._choose(body, box)
        if kind == "same":
            (left, one), (right, two) = self._ask(body[0], box), self._ask(body[1], box)
            return _same(left, right), two if one is None else one
        table, decisive, result = (_AND, FALSE, TRUE) if kind == "and" else (_OR, TRUE, FALSE)
        undecided: int | None = None
        for part in body:
            bits, at = self._ask(part, box)
            result = table[result][bits]
            if result == decisive:
                return result, None
            if undecided is None or (at is not None and self._is_opaque(undecided) and not self._is_opaque(at)):
                undecided = at  # other conditions may depend on the same variable, so that fewer boxes are needed
        return result, undecided if result & (result - 1) else None

    def _is_opaque(self, at: int) -> bool:
        return self.atoms[at].opaque is not None

    def _choose(self, body: tuple[Formula, ...], box: Box) -> tuple[int, int | None]:
        bits, at = self._ask(body[0], box)
        result = bits & ERROR
        for test, branch in ((TRUE, body[1]), (FALSE, body[2])):
            if bits & test:
                branch_bits, inner = self._ask(branch, box)
                result |= branch_bits
                at = inner if at is None else at
        return result, at if result & (result - 1) else None

    def explored(
        self,
        start: State,
        ask: Callable[[Box, State], Answer[State, Found]],
        most: int | None = None,
        within: Box | None = None,
    ) -> Iterator[tuple[Box, Found]]:
        """Yield boxes with what `ask` finds in them, where it finds something; boxes cover all inputs, or those
        `within` a box. It is asked with the `start`, or the state that it gave for the box that was split. Raises
        TooMany beyond `most` boxes."""
        pending = [(within or self.everything, start)]
        for _ in range(most or MAX_BOXES):
            if not pending:
                return
            box, state = pending.pop()
            if not self.possible(box):
                continue
            state, found, at = ask(box, state)
            if at is not None:
                pending += [(part, state) for part in reversed(self._facts[at].split(box))]
            elif found is not None and len(runs := self.runs(box)) > 1:
                pending += [(part, state) for part in runs]
            elif found is not None:
                yield box, found
        raise TooMany

    def boxes(self, goal: Goal, within: Box | None = None, most: int | None = None) -> Iterator[Box]:
        """Yield boxes on which every input meets the goal; together they cover all such inputs, or those `within` a
        box. Raises TooMany, also beyond `most` boxes."""
        cells = list(within or self.everything)
        for number, allowed in goal:
            self._narrow(self.formulas[number], allowed, cells)
        if all(cells):
            for box, _ in self.explored(None, lambda box, _: (None, *self._meets(goal, box)), most, tuple(cells)):
                yield box

    def _narrow(self, formula: Formula, allowed: int, cells: list[int]) -> None:
        """Leave out cells in which the formula has not the one allowed result, whatever the other cells are: all parts
        of an `and` that must be true are true. With several results a box is split, as relations need."""
        kind, body = formula
        if kind == "atom" and isinstance(facts := self._facts[body], _Facts) and not allowed & (allowed - 1):
            cells[facts.at] &= facts.cells(allowed)
        elif kind == "not":
            self._narrow(body[0], _NOT[allowed], cells)
        elif kind in ("and", "or") and not allowed & (decisive := FALSE if kind == "and" else TRUE):
            for part in body:
                self._narrow(part, allowed if allowed == _NOT[decisive] else _NOT[decisive] | ERROR, cells)

    def falls(self, count: int) -> Iterator[tuple[int, int, Box]]:
        """Yield boxes that cover all inputs, each with the number of the first of `count` conditions that is true or
        undecided there, and its result; `count` and FALSE if none is. Raises TooMany."""

        def ask(box: Box, number: int) -> Answer[int, tuple[int, int]]:
            while number < count:
                bits, at = self.ask(number, box)
                if bits != FALSE:
                    return number, (number, bits), at
                number += 1
            return number, (number, FALSE), None

        for box, (number, bits) in self.explored(0, ask):
            yield number, bits, box

    def _meets(self, goal: Goal, box: Box) -> tuple[bool | None, int | None]:
        """True if every input of a box meets the goal, or the atom to split at if only some may."""
        undecided: int | None = None
        for number, allowed in goal:
            bits, at = self.ask(number, box)
            if not bits & allowed:
                return None, None
            if bits & ~allowed and undecided is None:
                undecided = at
        return True, undecided

    def opaque_reason(self, box: Box) -> str | None:
        """The reason why no input in the box can be given, if it depends on an opaque atom or a part; else None."""
        reasons = [(bool(each.path), each.at, each.reason) for each in self.constrained(box) if each.reason is not None]
        return min(reasons)[-1] if reasons else None

    def opaque_paths(self, box: Box) -> list[Path]:
        """What the opaque atoms and parts read that the box depends on."""
        programs = [each.program for each in self.constrained(box) if each.reason is not None]
        return sorted({path for program in programs for path in paths_of(program) or ()})

    def chosen(self, box: Box) -> dict[Path, Any]:
        """A value in the box for every variable that the box constrains."""
        constrained = self.constrained(box)
        values = {each.path: each.within(box)[0] for each in constrained if each.is_input}
        if any(each.terms for each in constrained):
            summed = self._bounded_sums(box).values(self._whole) or {}
            values |= {path: self._number(path, value) for path, value in summed.items()}
        return values

    def anything(self) -> dict[Path, object]:
        """An arbitrary value for every variable."""
        values = {path: self._number(path, bounds.low) for path, bounds in self._summed.items()}
        return values | {each.path: each.values[0] for each in self.variables if each.is_input}

    def _number(self, path: Path, value: Fraction) -> Score | int:
        return int(value) if path in self._whole else Score(value.numerator, value.denominator)


def _decide(evaluate: Evaluator, chosen: Mapping[Path, Value]) -> int:
    bindings = bindings_of(chosen)
    return ERROR if bindings is None else bits_of(evaluate, bindings)  # None: no input has these values


def results_of(programs: Sequence[Program], domains: Domains) -> Iterator[tuple[int, ...]]:
    """Yield the results that conditions may have together: TRUE, FALSE or ERROR of each, some more than once. Raises
    TooMany."""

    def ask(box: Box, known: tuple[int, ...]) -> Answer[tuple[int, ...], tuple[int, ...]]:
        for number in range(len(known), len(programs)):
            bits, at = space.ask(number, box)
            if at is not None:
                return known, None, at
            known = (*known, bits)
        return known, known, None

    space = Space(programs, domains, by_terms=True)
    nothing: tuple[int, ...] = ()
    return (found for _, found in space.explored(nothing, ask, _MOST_RESULTS))
