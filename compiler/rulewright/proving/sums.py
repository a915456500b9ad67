"""Sums of numbers in comparisons: `AH - AH_pass >= 0.1` depends only on one number, the value of the sum.

Whether values of sums and their variables are consistent is decided in `simplex`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from msgspec import Struct

from rulewright.proving.domains import Domain, NumberRange, Path
from rulewright.proving.simplex import Simplex

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
    sums: Sequence[tuple[Terms, NumberRange]]

    def is_possible(self, simplex: Simplex | None = None) -> bool:
        """Whether values within all bounds exist, of which ints may be fractions; a `simplex` of the same numbers and
        sums, which may be of another question, saves work."""
        return (simplex or self.simplex()).is_possible(self._spans())

    def simplex(self) -> Simplex:
        """The variables and their sums, to ask which bounds are possible."""
        numbers = {path: number for number, path in enumerate(self.variables)}
        return Simplex(len(numbers), [{numbers[path]: factor for path, factor in terms} for terms, _ in self.sums])

    def _spans(self) -> dict[int, NumberRange]:
        """The bounds of the variables and the sums, as the simplex numbers them."""
        return dict(enumerate((*self.variables.values(), *(span for _, span in self.sums))))

    def _point(self) -> dict[Path, Fraction] | None:
        """Values of all variables within all bounds; None if there are none."""
        values = self.simplex().point(self._spans())
        return None if values is None else dict(zip(self.variables, values, strict=True))

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
