"""Sums of numbers that comparisons compare: `AH - AH_pass >= 0.1` depends on one number, the sum, and on nothing else.

How sums and their variables go together is decided by shortest paths (an octagon of bounds): exactly where a sum adds
or subtracts two variables, else by the bounds that its variables give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Final, TypeAlias

from rulewright.proving.domains import Domain, Path, between

Terms: TypeAlias = "tuple[tuple[Path, Fraction], ...]"  # variables in their order with their factors, the first being 1
_Most: TypeAlias = "tuple[int, bool]"  # a bound, and whether it is reached
_NOTHING: Final[_Most] = (0, True)


@dataclass(frozen=True, slots=True)
class Sum:
    """Variables with their factors, and a constant."""

    factors: Mapping[Path, Fraction]
    constant: Fraction

    def times(self, factor: Fraction) -> Sum:
        """The sum times a number."""
        return Sum({path: each * factor for path, each in self.factors.items()}, self.constant * factor)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """The sum and another one, or what is left when that is taken away (`times` -1)."""
        factors = dict(self.factors)
        for path, factor in other.factors.items():
            factors[path] = factors.get(path, Fraction(0)) + factor * times
        return Sum(factors, self.constant + other.constant * times)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers from `low` to `high`, without an end that is open."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no such number."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def times(self, factor: Fraction) -> NumberRange:
        """What these numbers are times a factor other than 0."""
        ends = [(self.low * factor, self.low_open), (self.high * factor, self.high_open)]
        (low, low_open), (high, high_open) = ends if factor > 0 else reversed(ends)
        return NumberRange(low, high, low_open, high_open)

    def plus(self, other: NumberRange) -> NumberRange:
        """What the sum of one of these and one of the others can be."""
        opens = self.low_open or other.low_open, self.high_open or other.high_open
        return NumberRange(self.low + other.low, self.high + other.high, *opens)

    def meets(self, other: NumberRange) -> NumberRange:
        """The numbers that are in both."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)

    def joins(self, other: NumberRange) -> NumberRange:
        """The numbers from the lowest to the highest of both."""
        low, low_open = min((self.low, self.low_open), (other.low, other.low_open))
        high, closed = max((self.high, not self.high_open), (other.high, not other.high_open))
        return NumberRange(low, high, low_open, not closed)


def bounds_of(domain: Domain) -> NumberRange | None:
    """The least and the greatest value of an exact number that is always there; None where it is none or unbounded."""
    if domain.optional or domain.null or domain.absent:
        return None
    if domain.kind == "score":
        return NumberRange(min(piece.low for piece in domain.pieces), max(piece.high for piece in domain.pieces))
    if domain.kind == "int" and domain.low is not None and domain.high is not None:
        return NumberRange(domain.low, domain.high)
    return None


def places(bounds: NumberRange, cuts: Iterable[Fraction]) -> list[NumberRange]:
    """The numbers within the bounds divided at the cuts, in their order: every cut alone, and what lies between."""
    known = set(cuts)
    edges = [bounds.low, *sorted(cut for cut in known if bounds.low < cut < bounds.high), bounds.high]
    found = [NumberRange(bounds.low, bounds.low)] if bounds.low in known or bounds.low == bounds.high else []
    for low, high in pairwise(edges):
        if low < high:
            found.append(NumberRange(low, high, low in known, high in known))
            found += [NumberRange(high, high)] * (high in known)
    return found


def place_of(value: Fraction, bounds: NumberRange, cuts: Iterable[Fraction]) -> NumberRange:
    """All numbers that can't be told from a value by the cuts."""
    known = set(cuts)
    if value in known:
        return NumberRange(value, value)
    below, above = [cut for cut in known if cut < value], [cut for cut in known if cut > value]
    low, high = max(below, default=bounds.low), min(above, default=bounds.high)
    return NumberRange(low, high, bool(below), bool(above))


def places_of_wholes(terms: Terms, found: Iterable[NumberRange]) -> list[NumberRange]:
    """Those of the places that a sum of whole numbers can reach."""
    steps = lcm(*(factor.denominator for _, factor in terms))
    return [span for span in found if _inside(span.times(Fraction(steps)), is_whole=True) is not None]


class Octagon:
    """What variables, and sums of two of them, are, held together.

    A variable is two nodes, itself and its negative; `rows[one][two]` is the most that `one` less `two` can be, in
    whole steps of `1 / scale`, with False where it stays below that.
    """

    def __init__(self, variables: Mapping[Path, NumberRange], sums: Mapping[Terms, NumberRange]) -> None:
        """Note what is known of every variable and every sum."""
        self.variables, self.sums = variables, sums
        spans = (*variables.values(), *sums.values())
        self.scale = lcm(*(end.denominator for span in spans for end in (span.low, span.high)))
        self.nodes = {path: 2 * number for number, path in enumerate(sorted(variables))}
        self.rows: list[dict[int, _Most]] = [{} for _ in range(2 * len(variables))]
        for path, span in variables.items():
            self._bound(self._node(path, 1), self._node(path, -1), span, 2)
        for terms, span in sums.items():
            (one, _), (two, factor) = terms[0], terms[-1]
            if len(terms) == 1:
                self._bound(self._node(one, 1), self._node(one, -1), span, 2)
            if len(terms) == 2 and abs(factor) == 1:
                sign = int(factor)
                self._bound(self._node(one, 1), self._node(two, -sign), span)
                self._bound(self._node(two, sign), self._node(one, -1), span)

    def _node(self, path: Path, sign: int) -> int:
        return self.nodes[path] + (sign < 0)

    def _bound(self, one: int, two: int, span: NumberRange, times: int = 1) -> None:
        """Note that `one` less `two` lies in the span, or in a multiple of it."""
        steps = times * self.scale
        self._note(one, two, (int(span.high * steps), not span.high_open))
        self._note(two, one, (int(-span.low * steps), not span.low_open))

    def _note(self, one: int, two: int, most: _Most) -> None:
        """Note that `one` less `two` is at most a number, or less than it where that is open (False)."""
        known = self.rows[one].get(two)
        if known is None or most < known:
            self.rows[one][two] = most

    def is_possible(self) -> bool:
        """Whether some values may meet everything that was noted; bounds are then as tight as they can be."""
        for via, beyond in enumerate(self.rows):
            for one, row in enumerate(self.rows):
                if via in row:
                    left, is_closed = row[via]
                    for two, (right, is_right_closed) in tuple(beyond.items()):
                        self._note(one, two, (left + right, is_closed and is_right_closed))
        if any(row.get(node, _NOTHING) < _NOTHING for node, row in enumerate(self.rows)):
            return False
        bounds = {path: self._span(path) for path in self.variables}
        return all(not total(terms, bounds).meets(span).is_empty for terms, span in self.sums.items())

    def _span(self, path: Path) -> NumberRange:
        """The values that a variable can have."""
        high, high_closed = self.rows[self._node(path, 1)][self._node(path, -1)]
        low, low_closed = self.rows[self._node(path, -1)][self._node(path, 1)]
        steps = 2 * self.scale
        return NumberRange(Fraction(-low, steps), Fraction(high, steps), not low_closed, not high_closed)

    def values(self, whole: frozenset[Path]) -> dict[Path, Fraction] | None:
        """Values of all variables that meet everything, of few digits, of some only `whole` ones; None where none are
        found."""
        found: dict[Path, Fraction] = {}
        known = self
        for path in sorted(self.variables):
            value = _inside(known._span(path), path in whole) if known.is_possible() else None
            if value is None:
                return None
            found[path] = value
            known = Octagon({**known.variables, path: NumberRange(value, value)}, self.sums)
        return found if known.is_possible() else None


def total(terms: Terms, bounds: Mapping[Path, NumberRange]) -> NumberRange:
    """What the bounds of its variables make of a sum."""
    found = NumberRange(Fraction(0), Fraction(0))
    for path, factor in terms:
        found = found.plus(bounds[path].times(factor))
    return found


def _inside(span: NumberRange, is_whole: bool) -> Fraction | None:
    """A number of the span; a whole one where that is asked for."""
    if is_whole:
        low = span.low.__floor__() + 1 if span.low_open else span.low.__ceil__()
        high = span.high.__ceil__() - 1 if span.high_open else span.high.__floor__()
        return Fraction(low) if low <= high else None
    if span.is_empty:
        return None
    return span.low if span.low == span.high else between(span.low, span.high)
