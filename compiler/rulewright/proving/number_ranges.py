"""Intervals of numbers, and the cells into which cuts divide them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct


class NumberRange(Struct, frozen=True):
    """An interval of numbers from `low` to `high`, each end open or closed."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @classmethod
    def inside(cls, low: Fraction, high: Fraction) -> NumberRange:
        """The open interval between two numbers; if they are equal, that number alone."""
        return cls(low, high, low < high, low < high)

    @property
    def is_empty(self) -> bool:
        """Whether the interval contains no number."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    @property
    def whole(self) -> int | None:
        """The int nearest to 0 in the interval; None if it contains none."""
        low = math.floor(self.low) + 1 if self.low_open else math.ceil(self.low)
        high = math.ceil(self.high) - 1 if self.high_open else math.floor(self.high)
        return min(max(0, low), high) if low <= high else None

    def holds(self, number: Fraction) -> bool:
        """Whether a number is in the interval."""
        return not self.meets(NumberRange(number, number)).is_empty

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


def divide(bounds: NumberRange, cuts: Iterable[Fraction]) -> list[NumberRange]:
    """The cells of an interval divided at the cuts, in order: every cut alone, and the open intervals between."""
    inner = ((cut, True) for cut in sorted(set(cuts)) if bounds.low <= cut <= bounds.high)
    cells: list[NumberRange] = []
    for (low, low_is_cut), (high, high_is_cut) in pairwise([(bounds.low, False), *inner, (bounds.high, False)]):
        cells += [NumberRange(low, low)] * low_is_cut
        cells.append(NumberRange(low, high, low_is_cut, high_is_cut))
    return [cell for each in cells if not (cell := each.meets(bounds)).is_empty]
