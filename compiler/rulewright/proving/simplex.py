"""Whether numbers lie within the bounds of them and of sums of them, decided by the simplex method.

From one question to the next only bounds differ, so that the rows of the last answer are kept (Dutertre and de Moura,
A Fast Linear-Arithmetic Solver for DPLL(T), 2006).
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from rulewright.proving.domains import NumberRange

Exact: TypeAlias = "int | Fraction"
# A number and the infinitely small steps that are added to it: more than a number is one step, less than it -1.
Value: TypeAlias = "tuple[Exact, Exact]"


class _Limits(Struct, frozen=True):
    low: Value
    high: Value

    @classmethod
    def of(cls, span: NumberRange) -> "_Limits":
        return cls((_plain(span.low), int(span.low_open)), (_plain(span.high), -int(span.high_open)))


class Simplex:
    """Numbers and sums of them, each sum the factors of some numbers. Numbers are numbered from 0, then the sums."""

    def __init__(self, count: int, sums: Sequence[Mapping[int, Fraction]]) -> None:
        self.count = count
        self.rows = {
            count + at: {number: _plain(by) for number, by in factors.items()} for at, factors in enumerate(sums)
        }
        self.columns: dict[int, set[int]] = {number: set() for number in range(count)}  # the rows that read it
        for row, factors in self.rows.items():
            for number in factors:
                self.columns[number].add(row)
        self.values: list[Value] = [(0, 0)] * (count + len(sums))
        self.bounds: dict[int, _Limits] = {}
        self._spans: Mapping[int, NumberRange] = {}  # of these bounds
        self._empty: set[int] = set()  # of the bounds
        self._unchecked = set(self.rows)  # all others are within their bounds

    def point(self, spans: Mapping[int, NumberRange]) -> list[Fraction] | None:
        """The numbers within the bounds of numbers and sums; None if there are none."""
        if not self.is_possible(spans):
            return None
        step = min(self._steps(), default=Fraction(1))
        return [Fraction(value + steps * step) for value, steps in self.values[: self.count]]

    def is_possible(self, spans: Mapping[int, NumberRange]) -> bool:
        """Whether numbers exist within the bounds of numbers and sums. Only what is bounded otherwise than in the last
        question is looked at."""
        before, self._spans = self._spans, spans
        for at in before.keys() - spans.keys():
            del self.bounds[at]
            self._empty.discard(at)
        for at, span in spans.items():
            if before.get(at) is not span:
                self._bound(at, _Limits.of(span))
        if self._empty:
            return False
        while (row := self._outside()) is not None:
            if not self._repair(row):
                return False
        return True

    def _bound(self, at: int, limits: _Limits) -> None:
        self.bounds[at] = limits
        (self._empty.add if limits.low > limits.high else self._empty.discard)(at)
        if at in self.columns:
            self._move(at, self._nearest(at))
        else:
            self._unchecked.add(at)

    def _nearest(self, at: int) -> Value:
        """The value within its bounds that is nearest to that of a number or sum."""
        bounds, value = self.bounds.get(at), self.values[at]
        return value if bounds is None else min(max(value, bounds.low), bounds.high)

    def _outside(self) -> int | None:
        """The first row whose sum is outside its bounds. The first of all, so that it ends (Bland's rule)."""
        self._unchecked = {row for row in self._unchecked if self._nearest(row) != self.values[row]}
        return min(self._unchecked, default=None)

    def _repair(self, row: int) -> bool:
        """Move the sum of a row to its bounds, by a number or sum with room; False if there is none."""
        wanted, factors = self._nearest(row), self.rows[row]
        is_up = wanted > self.values[row]
        free = min((at for at, by in factors.items() if self._has_room(at, is_up == (by > 0))), default=None)
        if free is None:
            return False
        by = factors[free]
        (value, steps), (to, steps_to) = self.values[row], wanted
        moved, turned = _divided(to - value, by), _divided(steps_to - steps, by)
        self._move(free, (self.values[free][0] + moved, self.values[free][1] + turned))
        self._exchange(row, free)
        return True

    def _has_room(self, at: int, is_up: bool) -> bool:
        bounds = self.bounds.get(at)
        return bounds is None or (self.values[at] < bounds.high if is_up else self.values[at] > bounds.low)

    def _move(self, at: int, to: Value) -> None:
        """Give a number outside the rows another value, and every row that reads it."""
        value, steps = self.values[at]
        if to == (value, steps):
            return
        more, further = to[0] - value, to[1] - steps
        self.values[at] = to
        self._unchecked |= self.columns[at]
        for row in self.columns[at]:
            by, (value, steps) = self.rows[row][at], self.values[row]
            self.values[row] = value + by * more, steps + by * further

    def _exchange(self, row: int, number: int) -> None:
        """Solve a row for a number that it reads, and put that into all rows."""
        factors = self.rows.pop(row)
        by = factors.pop(number)
        solved = {each: _divided(-factor, by) for each, factor in factors.items()} | {row: _divided(1, by)}
        readers = self.columns.pop(number) - {row}
        self.columns[row] = set()
        for each in factors:
            self.columns[each].discard(row)
        for reader in readers:
            self._add(reader, solved, self.rows[reader].pop(number))
        self.rows[number] = solved
        self._unchecked.discard(row)
        self._unchecked.add(number)
        for each in solved:
            self.columns[each].add(number)

    def _add(self, row: int, factors: Mapping[int, Exact], times: Exact) -> None:
        into = self.rows[row]
        for at, factor in factors.items():
            found = into.get(at, 0) + factor * times
            if found:
                into[at] = found
                self.columns[at].add(row)
            else:
                into.pop(at, None)
                self.columns[at].discard(row)

    def _steps(self) -> Iterator[Fraction]:
        """How large a step may be, so that everything stays within its bounds."""
        for at, bounds in self.bounds.items():
            value, steps = self.values[at]
            for end, to in (bounds.low, bounds.high):
                if value != end and steps != to and (value < end) == (steps > to):
                    yield Fraction(end - value) / (steps - to)


def _plain(number: Fraction) -> Exact:
    """The number as an int if it is one, which is faster."""
    return number.numerator if number.denominator == 1 else number


def _divided(number: Exact, by: Exact) -> Exact:
    return number * by if by in (1, -1) else _plain(Fraction(number) / by)
