"""Sums of numbers in comparisons: `AH - AH_pass >= 0.1` depends only on one number, the value of the sum.

Whether values of sums and their variables are consistent is decided by the simplex method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from rulewright.proving.domains import Domain, NumberRange, Path

Terms: TypeAlias = "tuple[tuple[Path, Fraction], ...]"  # sorted variables with their factors, the first factor being 1


class Sum(Struct, frozen=True):
    """A linear sum: variables with their factors, which are not 0, and a constant."""

    factors: Mapping[Path, Fraction]
    constant: Fraction

    def times(self, factor: Fraction) -> Sum:
        """The sum times a number."""
        factors = {path: each * factor for path, each in self.factors.items() if factor}
        return Sum(factors, self.constant * factor)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """This sum plus `times` the other one; -1 subtracts it."""
        factors = dict(self.factors)
        for path, factor in other.factors.items():
            factors[path] = factors.get(path, Fraction(0)) + factor * times
        kept = {path: factor for path, factor in factors.items() if factor}
        return Sum(kept, self.constant + other.constant * times)


def bounds_of(domain: Domain) -> NumberRange | None:
    """The interval of an exact number that is always present; None for others and for unbounded ints."""
    if domain.optional or domain.null or domain.absent:
        return None
    if domain.kind == "score":
        return NumberRange(min(piece.low for piece in domain.pieces), max(piece.high for piece in domain.pieces))
    if domain.kind == "int" and domain.low is not None and domain.high is not None:
        return NumberRange(domain.low, domain.high)
    return None


def cells_with_ints(terms: Terms, cells: Iterable[NumberRange]) -> list[NumberRange]:
    """The cells that contain a possible value of a sum of ints."""
    steps = lcm(*(factor.denominator for _, factor in terms))
    return [span for span in cells if span.times(Fraction(steps)).whole is not None]


class BoundedSums(Struct, frozen=True):
    """The intervals of variables and of sums of them, checked for consistency."""

    variables: Mapping[Path, NumberRange]
    sums: Mapping[Terms, NumberRange]

    def is_possible(self) -> bool:
        """Whether values within all bounds exist, of which ints may be fractions."""
        reachable = (not total(terms, self.variables).meets(span).is_empty for terms, span in self.sums.items())
        return all(reachable) and self._point() is not None

    def _point(self) -> dict[Path, Fraction] | None:
        """Values of all variables within all bounds; None if there are none."""
        numbers = {path: number for number, path in enumerate(self.variables)}
        lows = {path: span.low for path, span in self.variables.items()}
        alone = ((((path, Fraction(1)),), span) for path, span in self.variables.items())
        found: list[Inequality] = []
        for terms, span in (*alone, *self.sums.items()):
            start = sum((lows[path] * factor for path, factor in terms), Fraction(0))
            factors = {numbers[path]: factor for path, factor in terms}
            less = {number: -factor for number, factor in factors.items()}
            found.append(Inequality(factors, span.high - start, span.high_open))
            found.append(Inequality(less, start - span.low, span.low_open))
        values = solution(found, len(numbers))
        return None if values is None else {path: lows[path] + values[number] for path, number in numbers.items()}

    def values(self, whole: frozenset[Path]) -> dict[Path, Fraction] | None:
        """Values of all variables within all bounds, with few digits, and ints for `whole` variables; None if none are
        found."""
        fixed = self
        for path in sorted(self.variables):
            point = fixed._point()
            found = None if point is None else next(fixed._fixed(path, _near(point[path], path in whole)), None)
            if found is None:
                return None
            fixed = found
        return {path: span.low for path, span in fixed.variables.items()}

    def _fixed(self, path: Path, values: Iterable[Fraction]) -> Iterator[BoundedSums]:
        """The bounds with one of the values of a variable that is possible."""
        for value in values:
            if self.variables[path].holds(value):
                fixed = BoundedSums({**self.variables, path: NumberRange(value, value)}, self.sums)
                if fixed.is_possible():
                    yield fixed


def _near(value: Fraction, is_whole: bool) -> Iterator[Fraction]:
    """Numbers near a value, those with few digits first; only ints if `is_whole`."""
    for scale in (1,) if is_whole else (1, 10, 100):
        yield from (Fraction(math.floor(value * scale) + step, scale) for step in (0, 1))
    if not is_whole:
        yield value


def total(terms: Terms, bounds: Mapping[Path, NumberRange]) -> NumberRange:
    """The interval of a sum, from the intervals of its variables."""
    interval = NumberRange(Fraction(0), Fraction(0))
    for path, factor in terms:
        interval = interval.plus(bounds[path].times(factor))
    return interval


def difference(less: Path, more: Path, bounds: Mapping[Path, NumberRange]) -> tuple[Terms, NumberRange]:
    """The difference of two numbers of which the first is at most the second, with its interval."""
    terms = tuple(sorted([(less, Fraction(1)), (more, Fraction(-1))]))
    zero, sign = NumberRange(Fraction(0), Fraction(0)), terms[0][1]
    terms = tuple([(path, factor / sign) for path, factor in terms])
    interval = total(terms, bounds)
    end = interval.low if sign > 0 else interval.high
    return terms, zero.joins(NumberRange(end, end)).meets(interval)


_CONSTANT, _GAP, _ARTIFICIAL = -1, 0, 1  # keys of rows; the variables and the slack of each inequality follow
_FIRST: Final = 2
_Row = dict[int, Fraction]  # a sum: the factor of each variable, and a constant


class Inequality(NamedTuple):
    """A sum of numbers from 0 upwards, by number, that is at most a bound, or less than it if `is_strict`."""

    factors: Mapping[int, Fraction]
    most: Fraction
    is_strict: bool = False


def solution(inequalities: Sequence[Inequality], count: int) -> list[Fraction] | None:
    """Values of `count` numbers from 0 upwards for which all inequalities hold; None if there are none."""
    rows = {_FIRST + count + at: _slack(each) for at, each in enumerate(inequalities)}
    rows[_FIRST + count + len(rows)] = {_CONSTANT: Fraction(1), _GAP: Fraction(-1), _ARTIFICIAL: Fraction(1)}
    goal: _Row = {_CONSTANT: Fraction(0), _ARTIFICIAL: Fraction(-1)}
    lowest = min(rows, key=lambda basic: rows[basic][_CONSTANT])
    if rows[lowest][_CONSTANT] < 0:
        _exchange(rows, goal, _ARTIFICIAL, lowest)
        _maximize(rows, goal)
        if goal[_CONSTANT] < 0:
            return None
        if _ARTIFICIAL in rows:
            other = next((each for each in rows[_ARTIFICIAL] if each != _CONSTANT), _ARTIFICIAL)
            _exchange(rows, goal, other, _ARTIFICIAL)
    for row in rows.values():
        row.pop(_ARTIFICIAL, None)
    gap: _Row = dict(rows[_GAP]) if _GAP in rows else {_CONSTANT: Fraction(0), _GAP: Fraction(1)}
    _maximize(rows, gap)
    if gap[_CONSTANT] == 0 and any(each.is_strict for each in inequalities):
        return None
    return [rows[_FIRST + at][_CONSTANT] if _FIRST + at in rows else Fraction(0) for at in range(count)]


def _slack(each: Inequality) -> _Row:
    """What an inequality leaves to its bound, minus a gap that all strict inequalities share."""
    row = {_FIRST + at: -factor for at, factor in each.factors.items() if factor}
    return {**row, **({_GAP: Fraction(-1)} if each.is_strict else {}), _CONSTANT: each.most, _ARTIFICIAL: Fraction(1)}


def _maximize(rows: dict[int, _Row], goal: _Row) -> None:
    """Exchange variables until no other one makes the goal greater; Bland's rule, so that it ends."""
    while (
        entering := min((each for each, by in goal.items() if each != _CONSTANT and by > 0), default=None)
    ) is not None:
        limits = [(row[_CONSTANT] / -by, basic) for basic, row in rows.items() if (by := row.get(entering, 0)) < 0]
        _exchange(rows, goal, entering, min(limits)[1])


def _exchange(rows: dict[int, _Row], goal: _Row, entering: int, leaving: int) -> None:
    """Solve the row of one variable for another one, and put that into all rows."""
    row = rows.pop(leaving)
    if entering != leaving:
        by = row.pop(entering)
        solved = {each: -factor / by for each, factor in row.items()} | {leaving: 1 / by}
        for other in (*rows.values(), goal):
            times = other.pop(entering, Fraction(0))
            for each, factor in solved.items() if times else ():
                other[each] = other.get(each, Fraction(0)) + times * factor
                if each != _CONSTANT and not other[each]:
                    del other[each]
        rows[entering] = solved
