"""Sums of numbers that comparisons compare: `AH - AH_pass >= 0.1` depends on one number, the sum, and on nothing else.

How sums and their variables go together is decided by shortest paths (an octagon of bounds): exactly where a sum adds
or subtracts two variables, else by the bounds that its variables give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm
from typing import TypeAlias

from rulewright.prove.domains import Domain, Path, between

Terms: TypeAlias = "tuple[tuple[Path, Fraction], ...]"  # variables in their order with their factors, the first being 1
_Node: TypeAlias = "tuple[Path, int]"  # a variable, or with -1 its negative


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
class Span:
    """The numbers from `low` to `high`, without an end that is open."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no such number."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def times(self, factor: Fraction) -> Span:
        """What these numbers are times a factor other than 0."""
        ends = [(self.low * factor, self.low_open), (self.high * factor, self.high_open)]
        (low, low_open), (high, high_open) = ends if factor > 0 else reversed(ends)
        return Span(low, high, low_open, high_open)

    def plus(self, other: Span) -> Span:
        """What the sum of one of these and one of the others can be."""
        opens = self.low_open or other.low_open, self.high_open or other.high_open
        return Span(self.low + other.low, self.high + other.high, *opens)

    def meets(self, other: Span) -> Span:
        """The numbers that are in both."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return Span(low, high, low_open, not closed)

    def joins(self, other: Span) -> Span:
        """The numbers from the lowest to the highest of both."""
        low, low_open = min((self.low, self.low_open), (other.low, other.low_open))
        high, closed = max((self.high, not self.high_open), (other.high, not other.high_open))
        return Span(low, high, low_open, not closed)


def bounds_of(domain: Domain) -> Span | None:
    """The least and the greatest value of an exact number that is always there; None where it is none or unbounded."""
    if domain.optional or domain.null or domain.absent:
        return None
    if domain.kind == "score":
        return Span(min(piece.low for piece in domain.pieces), max(piece.high for piece in domain.pieces))
    if domain.kind == "int" and domain.low is not None and domain.high is not None:
        return Span(domain.low, domain.high)
    return None


def places(bounds: Span, cuts: Iterable[Fraction]) -> list[Span]:
    """The numbers within the bounds divided at the cuts, in their order: every cut alone, and what lies between."""
    known = set(cuts)
    edges = [bounds.low, *sorted(cut for cut in known if bounds.low < cut < bounds.high), bounds.high]
    found = [Span(bounds.low, bounds.low)] if bounds.low in known or bounds.low == bounds.high else []
    for low, high in pairwise(edges):
        if low < high:
            found.append(Span(low, high, low in known, high in known))
            found += [Span(high, high)] * (high in known)
    return found


def place_of(value: Fraction, bounds: Span, cuts: Iterable[Fraction]) -> Span:
    """All numbers that can't be told from a value by the cuts."""
    known = set(cuts)
    if value in known:
        return Span(value, value)
    below, above = [cut for cut in known if cut < value], [cut for cut in known if cut > value]
    low, high = max(below, default=bounds.low), min(above, default=bounds.high)
    return Span(low, high, bool(below), bool(above))


def places_of_wholes(terms: Terms, found: Iterable[Span]) -> list[Span]:
    """Those of the places that a sum of whole numbers can reach."""
    steps = lcm(*(factor.denominator for _, factor in terms))
    return [span for span in found if _inside(span.times(Fraction(steps)), is_whole=True) is not None]


class Octagon:
    """What variables, and sums of two of them, are, held together."""

    def __init__(self, variables: Mapping[Path, Span], sums: Mapping[Terms, Span]) -> None:
        """Note what is known of every variable and every sum."""
        self.variables, self.sums = variables, sums
        self.nodes: list[_Node] = [(path, sign) for path in sorted(variables) for sign in (1, -1)]
        self.most: dict[tuple[_Node, _Node], tuple[Fraction, bool]] = {}
        for path, span in variables.items():
            self._bound((path, 1), (path, -1), span.times(Fraction(2)))
        for terms, span in sums.items():
            if len(terms) == 1:
                self._bound((terms[0][0], 1), (terms[0][0], -1), span.times(Fraction(2)))
            if len(terms) == 2 and abs(terms[1][1]) == 1:
                (one, _), (two, factor) = terms
                sign = int(factor)
                self._bound((one, 1), (two, -sign), span)
                self._bound((two, sign), (one, -1), span)

    def _bound(self, one: _Node, two: _Node, span: Span) -> None:
        """Note that `one` less `two` lies in the span."""
        self._note(one, two, (span.high, not span.high_open))
        self._note(two, one, (-span.low, not span.low_open))

    def _note(self, one: _Node, two: _Node, most: tuple[Fraction, bool]) -> None:
        """Note that `one` less `two` is at most a number, or less than it where that is open (False)."""
        known = self.most.get((one, two))
        if known is None or most < known:
            self.most[one, two] = most

    def is_possible(self) -> bool:
        """Whether some values may meet everything that was noted; bounds are then as tight as they can be."""
        for via, one, two in product(self.nodes, repeat=3):
            left, right = self.most.get((one, via)), self.most.get((via, two))
            if left is not None and right is not None:
                self._note(one, two, (left[0] + right[0], left[1] and right[1]))
        nothing = Fraction(0), True
        if any(self.most.get((node, node), nothing) < nothing for node in self.nodes):
            return False
        bounds = {path: self._span(path) for path in self.variables}
        return all(not total(terms, bounds).meets(span).is_empty for terms, span in self.sums.items())

    def _span(self, path: Path) -> Span:
        """The values that a variable can have."""
        high, high_closed = self.most[(path, 1), (path, -1)]
        low, low_closed = self.most[(path, -1), (path, 1)]
        return Span(-low / 2, high / 2, not low_closed, not high_closed)

    def values(self, whole: frozenset[Path]) -> dict[Path, Fraction] | None:
        """Values of all variables that meet everything, of few digits, of some only `whole` ones; None where none are
        found."""
        found: dict[Path, Fraction] = {}
        for path in sorted(self.variables):
            value = _inside(self._span(path), path in whole) if self.is_possible() else None
            if value is None:
                return None
            found[path] = value
            self._bound((path, 1), (path, -1), Span(2 * value, 2 * value))
        return found if self.is_possible() else None


def total(terms: Terms, bounds: Mapping[Path, Span]) -> Span:
    """What the bounds of its variables make of a sum."""
    found = Span(Fraction(0), Fraction(0))
    for path, factor in terms:
        found = found.plus(bounds[path].times(factor))
    return found


def _inside(span: Span, is_whole: bool) -> Fraction | None:
    """A number of the span; a whole one where that is asked for."""
    if is_whole:
        low = span.low.__floor__() + 1 if span.low_open else span.low.__ceil__()
        high = span.high.__ceil__() - 1 if span.high_open else span.high.__floor__()
        return Fraction(low) if low <= high else None
    if span.is_empty:
        return None
    return span.low if span.low == span.high else between(span.low, span.high)
