"""Whether linear inequalities hold together, exactly: the simplex method over fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

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
