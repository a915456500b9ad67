"""Exact splitting: conditions over cells of their variables, divided until every question has one answer.

A box is a set of cells for each variable, written as bits. What an atom can be on a box is read from three sets of
cells, those where it is true, false and undecided, that the evaluator itself filled in. Where a box leaves a question
open, it is split at an atom that matters; at single cells nothing is open, so the splitting ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Final, TypeAlias

from rulewright.proving.atoms import (
    ANYTHING,
    EQUAL,
    ERROR,
    FALSE,
    GREATER,
    LESS,
    TRUE,
    UNORDERED,
    Atom,
    Atoms,
    Compared,
    Formula,
    bits_of,
)
from rulewright.proving.domains import Domain, Domains, Path
from rulewright.proving.sums import NumberRange, Octagon, Terms, bounds_of, place_of, places, places_of_wholes, total
from rulewright.proving.witness import bindings_of
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score, exact_pair

Box: TypeAlias = tuple[int, ...]
# What is looked for: conditions by number, each with what it may be (TRUE, FALSE and ERROR as bits).
Goal: TypeAlias = "Sequence[tuple[int, int]]"
MOST_BOXES: Final = 50_000
_LARGEST_TABLE: Final = 64


class TooMany(Exception):  # noqa: N818  it is a way out, no mistake
    """The conditions fall into more boxes than anybody wants to wait for."""


def _joined(left: int, right: int, decisive: int) -> int:
    """What `and` (FALSE decides) or `or` (TRUE decides) can be, given what its two operands can be."""
    found = 0
    for one in (TRUE, FALSE, ERROR):
        for two in (TRUE, FALSE, ERROR):
            if left & one and right & two:
                found |= decisive if decisive in (one, two) else ERROR if ERROR in (one, two) else one
    return found


_AND: Final = [[_joined(a, b, FALSE) for b in range(8)] for a in range(8)]
_OR: Final = [[_joined(a, b, TRUE) for b in range(8)] for a in range(8)]
_NOT: Final = [(a & ERROR) | (FALSE if a & TRUE else 0) | (TRUE if a & FALSE else 0) for a in range(8)]


def _same(left: int, right: int) -> int:
    found = ERROR if (left | right) & ERROR else 0
    found |= TRUE if (left & right) & (TRUE | FALSE) else 0
    return found | (FALSE if (left & TRUE and right & FALSE) or (left & FALSE and right & TRUE) else 0)


@dataclass(slots=True)
class _Facts:
    """An atom of one variable: where that stands in a box, and the cells where the atom is true, false, undecided."""

    at: int
    true: int
    false: int
    error: int

    def on(self, box: Box) -> int:
        cells = box[self.at]
        return (cells & self.true and TRUE) | (cells & self.false and FALSE) | (cells & self.error and ERROR)

    def split(self, box: Box) -> list[Box]:
        parts = [box[self.at] & cells for cells in (self.true, self.false, self.error)]
        return [_with(box, self.at, part) for part in parts if part]


@dataclass(slots=True)
class _Joint:
    """An atom of several variables whose cells are single values."""

    places: tuple[int, ...]
    decide: Callable[[tuple[int, ...]], int]
    known: dict[tuple[int, ...], int]

    def on(self, box: Box) -> int:
        cells = [[bit for bit in range(box[at].bit_length()) if box[at] >> bit & 1] for at in self.places]
        if reduce(lambda size, each: size * len(each), cells, 1) > _LARGEST_TABLE:
            return ANYTHING
        found = 0
        for key in product(*cells):
            if key not in self.known:
                self.known[key] = self.decide(key)
            found |= self.known[key]
            if found == ANYTHING:
                break
        return found

    def split(self, box: Box) -> list[Box]:
        at = max(self.places, key=lambda place: box[place].bit_count())
        first = box[at] & -box[at]
        return [_with(box, at, first), _with(box, at, box[at] & ~first)]


def _with(box: Box, at: int, cells: int) -> Box:
    return (*box[:at], cells, *box[at + 1 :])


class Space:
    """Conditions over the same variables, ready to be asked about boxes."""

    def __init__(self, programs: Sequence[Program], domains: Domains) -> None:
        """Find the atoms of all conditions, cut every variable, and decide every atom on every cell."""
        atoms = Atoms(domains)
        self.formulas: list[Formula] = [atoms.formula(program) for program in programs]
        self.atoms = atoms.atoms
        self.paths: list[Path] = sorted(atoms.found)
        self.kinds: list[Domain] = [atoms.found[path] for path in self.paths]
        self.cuts: list[set[object]] = [atoms.cuts.get(path, set()) for path in self.paths]
        self.cells: list[list[object]] = [kind.cells(cuts) for kind, cuts in zip(self.kinds, self.cuts, strict=True)]
        self.opaque: dict[int, Atom] = {}  # by the place in a box of the variable that stands for it
        self._orders: dict[tuple[Path, Path], int] = {}  # the place of what relates two numbers
        self.sums: dict[Terms, int] = {}  # the place of every sum that is compared
        self.spans: dict[Terms, list[NumberRange]] = {}  # and its cells
        self._summed = {path: bounds for path, each in atoms.summed.items() if (bounds := bounds_of(each))}
        self._whole = frozenset(path for path, each in atoms.summed.items() if each.kind == "int")
        self._summed_places = [at for at, path in enumerate(self.paths) if path in self._summed]
        self._possible: dict[Box, bool] = {}
        self._facts: list[_Facts | _Joint] = [self._study(atom) for atom in self.atoms]
        self.everything: Box = tuple((1 << len(cells)) - 1 for cells in self.cells)

    def _study(self, atom: Atom) -> _Facts | _Joint:
        if atom.compared is not None:
            return self._study_sum(atom.compared)
        if atom.order is not None:
            pair, possible, holds = atom.order
            if pair not in self._orders:
                self._orders[pair] = len(self.cells)
                self.opaque[len(self.cells)] = atom
                self.cells.append([bit for bit in (LESS, EQUAL, GREATER, UNORDERED) if bit & possible])
            return _Facts(self._orders[pair], holds, possible & ~holds, 0)
        if atom.opaque is not None:
            self.cells.append([TRUE, FALSE, ERROR])
            self.opaque[len(self.cells) - 1] = atom
            return _Facts(len(self.cells) - 1, 1, 2, 4)
        evaluate = prepare(atom.program)
        places = tuple([self.paths.index(path) for path in atom.reads])
        if len(places) == 1:
            bits = [self._decide(evaluate, places, (number,)) for number in range(len(self.cells[places[0]]))]
            sets = [sum(1 << n for n, b in enumerate(bits) if b == wanted) for wanted in (TRUE, FALSE, ERROR)]
            return _Facts(places[0], *sets)
        return _Joint(places, lambda key: self._decide(evaluate, places, key), {})

    def _study_sum(self, compared: Compared) -> _Facts:
        terms, cut, holds = compared
        if terms not in self.sums:
            cuts = [each.compared.cut for each in self.atoms if each.compared and each.compared.terms == terms]
            self.sums[terms] = len(self.cells)
            spans = places(total(terms, self._summed), cuts)
            all_whole = all(path in self._whole for path, _ in terms)
            self.spans[terms] = places_of_wholes(terms, spans) if all_whole else spans
            self.cells.append([*self.spans[terms]])
        at, true = self.sums[terms], 0
        for number, span in enumerate(self.spans[terms]):
            relation = EQUAL if span.low == span.high == cut else LESS if span.high <= cut else GREATER
            true |= bool(holds & relation) << number
        return _Facts(at, true, (1 << len(self.cells[at])) - 1 & ~true, 0)

    def _octagon(self, box: Box) -> Octagon:
        """What the box says of the variables of sums and of the sums, held together."""
        variables = dict(self._summed)
        for at in self._summed_places:
            path, cuts = self.paths[at], [cut for cut in self.cuts[at] if isinstance(cut, Fraction)]
            chosen = [cell for number, cell in enumerate(self.cells[at]) if box[at] >> number & 1]
            numbers = [Fraction(*exact_pair(cell)) for cell in chosen if isinstance(cell, int | Score)]
            spans = [place_of(number, variables[path], cuts) for number in numbers]
            variables[path] = reduce(NumberRange.joins, spans)
        sums = {
            terms: reduce(
                NumberRange.joins, [span for number, span in enumerate(self.spans[terms]) if box[at] >> number & 1]
            )
            for terms, at in self.sums.items()
        }
        return Octagon(variables, sums)

    def possible(self, box: Box) -> bool:
        """Whether the variables and sums of a box go together, as far as that can be told."""
        if not self.sums:
            return True
        key = tuple([box[at] for at in (*self.sums.values(), *self._summed_places)])
        if key not in self._possible:
            self._possible[key] = self._octagon(box).is_possible()
        return self._possible[key]

    def runs(self, box: Box) -> list[Box]:
        """The box divided where a sum that it confines, or a variable of one, has a gap: what lies in it is between the
        ends and yet not in the box."""
        if all(box[at] == self.everything[at] for at in self.sums.values()):
            return [box]
        for at in (*self.sums.values(), *self._summed_places):
            lowest = box[at] & -box[at]
            run = box[at] & ~(box[at] + lowest)  # the neighbours from the lowest on
            if run != box[at]:
                return [_with(box, at, run), _with(box, at, box[at] & ~run)]
        return [box]

    def _decide(self, evaluate: Evaluator, places: tuple[int, ...], numbers: tuple[int, ...]) -> int:
        chosen = {self.paths[at]: self.cells[at][number] for at, number in zip(places, numbers, strict=True)}
        bindings = bindings_of(chosen)
        return ERROR if bindings is None else bits_of(evaluate, bindings)  # None: no input is like that

    def ask(self, number: int, box: Box) -> tuple[int, int | None]:
        """What a condition can be on a box, and the atom to split at when that is not settled."""
        return self._ask(self.formulas[number], box)

    def _ask(self, formula: Formula, box: Box) -> tuple[int, int | None]:
        """What a formula can be on a box, and the atom to split at when that is not settled."""
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
        table, decisive, found = (_AND, FALSE, TRUE) if kind == "and" else (_OR, TRUE, FALSE)
        open_at: int | None = None
        for part in body:
            bits, at = self._ask(part, box)
            found = table[found][bits]
            if found == decisive:
                return found, None
            open_at = at if open_at is None else open_at
        return found, open_at if found & (found - 1) else None

    def _choose(self, body: tuple[Formula, ...], box: Box) -> tuple[int, int | None]:
        bits, at = self._ask(body[0], box)
        found = bits & ERROR
        for wanted, branch in ((TRUE, body[1]), (FALSE, body[2])):
            if bits & wanted:
                below, inner = self._ask(branch, box)
                found |= below
                at = inner if at is None else at
        return found, at if found & (found - 1) else None

    def split(self, box: Box, at: int) -> list[Box]:
        """The box divided so that the atom is settled on each part, or nearer to it."""
        return self._facts[at].split(box)

    def boxes(self, goal: Goal) -> Iterator[Box]:
        """Boxes on which the goal is met everywhere; together they are all of it. Raises TooMany."""
        pending = [self.everything]
        for _ in range(MOST_BOXES):
            if not pending:
                return
            box = pending.pop()
            if not self.possible(box):
                continue
            met, at = self._meets(goal, box)
            if at is not None:
                pending += reversed(self.split(box, at))
            elif met and len(runs := self.runs(box)) > 1:
                pending += runs
            elif met:
                yield box
        raise TooMany

    def falls(self, count: int) -> Iterator[tuple[int, int, Box]]:
        """Boxes that together are everything, each with the first of `count` conditions that is true or undecided there
        and which of both it is; `count` and FALSE where none is. Raises TooMany."""
        pending = [(self.everything, 0)]
        for _ in range(MOST_BOXES):
            if not pending:
                return
            box, number = pending.pop()
            if not self.possible(box):
                continue
            bits, at = FALSE, None
            while number < count:
                bits, at = self._ask(self.formulas[number], box)
                if bits != FALSE:
                    break
                number += 1
            if at is not None and bits & (bits - 1):
                pending += [(part, number) for part in reversed(self.split(box, at))]
            elif len(runs := self.runs(box)) > 1:
                pending += [(part, number) for part in runs]
            else:
                yield number, bits, box
        raise TooMany

    def _meets(self, goal: Goal, box: Box) -> tuple[bool, int | None]:
        """Whether the goal is met on a box, and the atom to split at when that is not settled."""
        open_at: int | None = None
        for number, allowed in goal:
            bits, at = self._ask(self.formulas[number], box)
            if not bits & allowed:
                return False, None
            if bits & ~allowed and open_at is None:
                open_at = at
        return open_at is None, open_at

    def hindrance(self, box: Box) -> str | None:
        """Why an input in the box can't be given: what it depends on is opaque. None when it can."""
        for at, atom in self.opaque.items():
            if box[at] != self.everything[at]:
                return atom.opaque
        return None

    def chosen(self, box: Box) -> dict[Path, Any]:
        """For every variable that the box confines, a value from it."""
        found = {
            path: self.cells[at][_lowest(box[at])]
            for at, path in enumerate(self.paths)
            if box[at] != self.everything[at]
        }
        if any(box[at] != self.everything[at] for at in self.sums.values()):
            values = self._octagon(box).values(self._whole) or {}
            found |= {path: self._number(path, value) for path, value in values.items()}
        return found

    def anything(self) -> dict[Path, object]:
        """A value for every variable."""
        found = {path: self._number(path, bounds.low) for path, bounds in self._summed.items()}
        return found | {path: self.cells[at][0] for at, path in enumerate(self.paths)}

    def _number(self, path: Path, value: Fraction) -> Score | int:
        return int(value) if path in self._whole else Score(value.numerator, value.denominator)


def _lowest(cells: int) -> int:
    return (cells & -cells).bit_length() - 1
