"""Sums of numbers in comparisons: `AH - AH_pass >= 0.1` depends only on one number, the value of the sum.

Whether values of sums and their variables are consistent is decided by shortest paths (an octagon of bounds) for sums
or differences of two variables, and by the simplex method for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Final, TypeAlias

from rulewright.proving.domains import Domain, Path, between
from rulewright.proving.linear import Inequality, solution

Terms: TypeAlias = "tuple[tuple[Path, Fraction], ...]"  # sorted variables with their factors, the first factor being 1
_UpperBound: TypeAlias = "tuple[int, bool]"  # a bound, and whether it is included
_NOTHING: Final[_UpperBound] = (0, True)


@dataclass(frozen=True, slots=True)
class Sum:
    """A linear sum: variables with their factors, and a constant."""

    factors: Mapping[Path, Fraction]
    constant: Fraction

    def times(self, factor: Fraction) -> Sum:
        """The sum times a number."""
        return Sum({path: each * factor for path, each in self.factors.items()}, self.constant * factor)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """This sum plus `times` the other one; -1 subtracts it."""
        factors = dict(self.factors)
        for path, factor in other.factors.items():
            factors[path] = factors.get(path, Fraction(0)) + factor * times
        return Sum(factors, self.constant + other.constant * times)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """An interval of numbers from `low` to `high`, each end open or closed."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the interval contains no number."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def times(self, factor: Fraction) -> NumberRange:
        """The interval times a factor other than 0."""
        ends = [(self.low * factor, self.low_open), (self.high * factor, self.high_open)]
        (low, low_open), (high, high_open) = ends if factor > 0 else reversed(ends)
        return NumberRange(low, high, low_open, high_open)

    def plus(self, other: NumberRange) -> NumberRange:
        """The interval of the sums of a number of each."""
        opens = self.low_open or other.low_open, self.high_open or other.high_open
        return NumberRange(self.low + other.low, self.high + other.high, *opens)

    def meets(self, other: NumberRange) -> NumberRange:
        """The intersection of both intervals."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)

    def joins(self, other: NumberRange) -> NumberRange:
        """The smallest interval that contains both."""
        low, low_open = min((self.low, self.low_open), (other.low, other.low_open))
        high, closed = max((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)


def bounds_of(domain: Domain) -> NumberRange | None:
    """The interval of an exact number that is always present; None for others and for unbounded ints."""
    if domain.optional or domain.null or domain.absent:
        return None
    if domain.kind == "score":
        return NumberRange(min(piece.low for piece in domain.pieces), max(piece.high for piece in domain.pieces))
    if domain.kind == "int" and domain.low is not None and domain.high is not None:
        return NumberRange(domain.low, domain.high)
    return None


def divide(bounds: NumberRange, cuts: Iterable[Fraction]) -> list[NumberRange]:
    """The cells of an interval divided at the cuts, in order: every cut alone, and the open intervals between."""
    cut_set = set(cuts)
    edges = [bounds.low, *sorted(cut for cut in cut_set if bounds.low < cut < bounds.high), bounds.high]
    cells = [NumberRange(bounds.low, bounds.low)] if bounds.low in cut_set or bounds.low == bounds.high else []
    for low, high in pairwise(edges):
        if low < high:
            cells.append(NumberRange(low, high, low in cut_set, high in cut_set))
            cells += [NumberRange(high, high)] * (high in cut_set)
    return cells


def cell_of(value: Fraction, bounds: NumberRange, cuts: Iterable[Fraction]) -> NumberRange:
    """The cell that contains a value."""
    cut_set = set(cuts)
    if value in cut_set:
        return NumberRange(value, value)
    below, above = [cut for cut in cut_set if cut < value], [cut for cut in cut_set if cut > value]
    low, high = max(below, default=bounds.low), min(above, default=bounds.high)
    return NumberRange(low, high, bool(below), bool(above))


def cells_with_ints(terms: Terms, cells: Iterable[NumberRange]) -> list[NumberRange]:
    """The cells that contain a possible value of a sum of ints."""
    steps = lcm(*(factor.denominator for _, factor in terms))
    return [span for span in cells if _inside(span.times(Fraction(steps)), is_whole=True) is not None]


class Octagon:
    """The intervals of variables and sums, checked for consistency.

    A variable is two nodes, itself and its negative; `rows[one][two]` is the upper bound of `one - two`, in integer
    multiples of `1 / scale`, with False if the bound is not included.
    """

    def __init__(self, variables: Mapping[Path, NumberRange], sums: Mapping[Terms, NumberRange]) -> None:
        """Set the bounds of every variable and every sum."""
        self.variables, self.sums = variables, sums
        spans = (*variables.values(), *sums.values())
        self.scale = lcm(*(end.denominator for span in spans for end in (span.low, span.high)))
        self.nodes = {path: 2 * number for number, path in enumerate(sorted(variables))}
        self.rows: list[dict[int, _UpperBound]] = [{} for _ in range(2 * len(variables))]
        for path, span in variables.items():
            self._bound(self._node(path, 1), self._node(path, -1), span, 2)
        for terms, span in sums.items():
            (one, _), (two, factor) = terms[0], terms[-1]
            if len(terms) == 1:
                self._bound(self._node(one, 1), self._node(one, -1), span, 2)
            elif _is_octagonal(terms):
                sign = int(factor)
                self._bound(self._node(one, 1), self._node(two, -sign), span)
                self._bound(self._node(two, sign), self._node(one, -1), span)

    def _node(self, path: Path, sign: int) -> int:
        return self.nodes[path] + (sign < 0)

    def _bound(self, one: int, two: int, span: NumberRange, times: int = 1) -> None:
        """Constrain `one - two` to `times` the span."""
        steps = times * self.scale
        self._constrain(one, two, (int(span.high * steps), not span.high_open))
        self._constrain(two, one, (int(-span.low * steps), not span.low_open))

    def _constrain(self, one: int, two: int, bound: _UpperBound) -> None:
        """Constrain `one - two` to an upper bound."""
        current = self.rows[one].get(two)
        if current is None or bound < current:
            self.rows[one][two] = bound

    def is_possible(self) -> bool:
        """Whether values within all bounds may exist; tightens the bounds by shortest paths."""
        for via, beyond in enumerate(self.rows):
            for one, row in enumerate(self.rows):
                if via in row:
                    left, is_closed = row[via]
                    for two, (right, is_right_closed) in tuple(beyond.items()):
                        self._constrain(one, two, (left + right, is_closed and is_right_closed))
        if any(row.get(node, _NOTHING) < _NOTHING for node, row in enumerate(self.rows)):
            return False
        bounds = {path: self._span(path) for path in self.variables}
        if any(total(terms, bounds).meets(span).is_empty for terms, span in self.sums.items()):
            return False
        return all(map(_is_octagonal, self.sums)) or self._point() is not None

    def _point(self) -> dict[Path, Fraction] | None:
        """Values of all variables within all bounds; None if there are none."""
        numbers = {path: number for number, path in enumerate(self.variables)}
        lows = {path: span.low for path, span in self.variables.items()}
        found: list[Inequality] = []
        for terms, span in (
            *((((path, Fraction(1)),), span) for path, span in self.variables.items()),
            *self.sums.items(),
        ):
            start = sum((lows[path] * factor for path, factor in terms), Fraction(0))
            factors = {numbers[path]: factor for path, factor in terms}
            less = {number: -factor for number, factor in factors.items()}
            found.append(Inequality(factors, span.high - start, span.high_open))
            found.append(Inequality(less, start - span.low, span.low_open))
        values = solution(found, len(numbers))
        return None if values is None else {path: lows[path] + values[number] for path, number in numbers.items()}

    def _span(self, path: Path) -> NumberRange:
        """The interval of a variable."""
        high, high_closed = self.rows[self._node(path, 1)][self._node(path, -1)]
        low, low_closed = self.rows[self._node(path, -1)][self._node(path, 1)]
        steps = 2 * self.scale
        return NumberRange(Fraction(-low, steps), Fraction(high, steps), not low_closed, not high_closed)

    def values(self, whole: frozenset[Path]) -> dict[Path, Fraction] | None:
        """Values of all variables within all bounds, with few digits, and ints for `whole` variables; None if none are
        found."""
        values: dict[Path, Fraction] = {}
        octagon = self
        for path in sorted(self.variables):
            if not octagon.is_possible():
                return None
            tried = [_inside(octagon._span(path), path in whole), (octagon._point() or {}).get(path)]
            for value in (each for each in tried if each is not None and (path not in whole or each.denominator == 1)):
                values[path] = value
                fixed = Octagon({**octagon.variables, path: NumberRange(value, value)}, self.sums)
                if fixed.is_possible():
                    break
            else:
                return None
            octagon = fixed
        return values


def _is_octagonal(terms: Terms) -> bool:
    """Whether shortest paths decide exactly about a sum."""
    return len(terms) == 1 or (len(terms) == 2 and abs(terms[-1][1]) == 1)


def total(terms: Terms, bounds: Mapping[Path, NumberRange]) -> NumberRange:
    """The interval of a sum, from the intervals of its variables."""
    interval = NumberRange(Fraction(0), Fraction(0))
    for path, factor in terms:
        interval = interval.plus(bounds[path].times(factor))
    return interval


def _inside(span: NumberRange, is_whole: bool) -> Fraction | None:
    """A number in the span, an int if `is_whole`; None if there is none."""
    if is_whole:
        low = span.low.__floor__() + 1 if span.low_open else span.low.__ceil__()
        high = span.high.__ceil__() - 1 if span.high_open else span.high.__floor__()
        return Fraction(low) if low <= high else None
    if span.is_empty:
        return None
    return span.low if span.low == span.high else between(span.low, span.high)
