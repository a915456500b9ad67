"""Fast closures for decisions over one to three numbers of one record: boxes one inside the other, else bisection and a
look-up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.rows.building import Building, Closure
from rulewright_runtime.rows.cells import Box, Cells, all_cells, axes_of, bindings_of, cells_of, nested_boxes
from rulewright_runtime.rows.chains import ABSENT

_MOST_NUMBERS: Final = 3
_MOST_CELLS: Final = 256


def decision(building: Building, number: int, mode: int, general: Closure) -> Closure | None:
    """The closure of a decision over numbers of one kind, where it is faster than comparing one after the other."""
    axes = axes_of(building, number, mode, _MOST_CELLS) or ()
    if not 1 <= len(axes) <= _MOST_NUMBERS or len({(axis.keys[:-1], axis.least, axis.most) for axis in axes}) > 1:
        return None
    cells = cells_of(axes, general)
    if cells is None or len(axes[0].keys) > 2:
        return None
    boxes = nested_boxes(cells)
    if boxes is not None and len(cells.answers) > 2:
        inner, middle, outer = [boxes[0]] * (3 - len(boxes)) + boxes
        if _in_turn(cells, middle.corner, general):
            return _boxes(cells, inner, middle, outer, general)
    many = sum(len(axis.cuts) for axis in axes) > 2 * len(axes)
    return _looked_up(cells, general) if many else None


def _in_turn(cells: Cells, corner: Sequence[float], general: Closure) -> bool:
    """Whether the numbers can be read one by one: the first below its bound decides, even with those after it absent.
    (Logic here is Kleene's: what is decided while a value is absent, no value can change.) The bounds are above 0, so
    that among the bools only True reaches one."""
    try:
        for end in range(1, len(cells.axes) + 1):
            axes = cells.axes[:end]
            for cell in all_cells(axes):
                *before, last = (axis.example(i) >= bound for axis, i, bound in zip(axes, cell, corner, strict=False))
                if all(before) and not last:
                    general(bindings_of(axes, cell))
    except EvaluationError:
        return False
    return min(corner) > 0


def _root(cells: Cells) -> Any:
    """The name of the record that holds the numbers, or None where the bindings do."""
    way = cells.axes[0].keys[:-1]
    return way[0] if way else None


def _boxes(cells: Cells, inner: Box, middle: Box, outer: Box, general: Closure) -> Closure:
    """Three boxes, of which the first two may be one."""
    root, least, most = _root(cells), cells.axes[0].least, cells.axes[0].most
    corners = list(zip((axis.keys[-1] for axis in cells.axes), inner.corner, middle.corner, strict=True))
    missing = [(None, least, least)] * (_MOST_NUMBERS - len(corners))
    (key_x, x1, x2), (key_y, y1, y2), (key_z, z1, z2) = corners + missing
    best, good, poor = inner.answer, middle.answer, outer.answer

    def decide(a: Any) -> Any:
        try:
            record = a if root is None else a[root]
            x = record[key_x]
            if x2 <= x <= most:
                if x is True:
                    return general(a)
                if key_y is None:
                    return best if x1 <= x else good
                y = record[key_y]
                if y2 <= y <= most:
                    if y is True:
                        return general(a)
                    if key_z is None:
                        return best if x1 <= x and y1 <= y else good
                    z = record[key_z]
                    if z2 <= z <= most:
                        if z is not True:
                            return best if x1 <= x and y1 <= y and z1 <= z else good
                    elif least <= z < z2 and z is not True and z is not False:
                        return poor
                elif least <= y < y2 and y is not True and y is not False:
                    return poor
            elif least <= x < x2 and x is not True and x is not False:
                return poor
        except ABSENT:
            pass
        return general(a)

    return decide


def _looked_up(cells: Cells, general: Closure) -> Closure:
    """By bisection of each number and one look-up."""
    root, least, most = _root(cells), cells.axes[0].least, cells.axes[0].most
    axes = [(axis.keys[-1], axis.cuts, len(axis.cuts) + 1) for axis in cells.axes]
    answers = cells.answers

    def decide(a: Any) -> Any:
        try:
            record = a if root is None else a[root]
            cell = 0
            for key, cuts, width in axes:
                x = record[key]
                if x is True or x is False or not least <= x <= most:
                    return general(a)
                cell = cell * width + bisect_right(cuts, x)
            return answers[cell]
        except ABSENT:
            return general(a)

    return decide
