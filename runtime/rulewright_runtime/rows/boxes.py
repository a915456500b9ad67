"""Fast closures for decisions over one to three numbers: boxes one inside the other, else bisection and a look-up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.rows.cells import Box, Cells, nested_boxes

Closure: TypeAlias = Callable[[Any], Any]
_ABSENT = (LookupError, TypeError)


def decision(cells: Cells, slow: Closure) -> Closure | None:
    """The closure for the cells; None for more than three numbers, or paths of unlike depth."""
    keys = [axis.keys for axis in cells.axes]
    if len(keys) > 3 or len({key[:-1] for key in keys}) != 1 or len(keys[0]) > 2:
        return None
    boxes = nested_boxes(cells)
    if boxes is None:
        made = _looked_up(cells, slow)
    else:
        padded = [boxes[0]] * (3 - len(boxes)) + boxes
        early = len(keys) == 3 and len(keys[0]) == 1 and all(_alone(cells, axis, padded, slow) for axis in range(3))
        make = _three_in_turn if early else (_one_number, _two_numbers, _three_numbers)[len(keys) - 1]
        made = make(cells, padded, slow)
    return made if len(keys[0]) == 1 else _inside(keys[0][0], made, slow)


def _inside(root: str, made: Closure, slow: Closure) -> Closure:
    """The numbers stand in one record of the bindings; what `made` can't answer about it, `slow` answers."""

    def decide(a: Any) -> Any:
        try:
            value = made(a[root])
        except _ABSENT:
            return slow(a)
        return slow(a) if value is _AGAIN else value

    return decide


_AGAIN = object()


def _again(_: Any) -> Any:
    return _AGAIN


def _alone(cells: Cells, number: int, boxes: list[Box], slow: Closure) -> bool:
    """Whether one number below the middle box decides for the outermost answer, even with the others absent. Logic here
    is Kleene's: what is decided while a value is absent, no value can change."""
    axis = cells.axes[number]
    bound, answer = boxes[1].corner[number], boxes[2].answer
    try:
        values = (axis.example(cell) for cell in range(len(axis.cuts) + 1))
        return all(slow({axis.keys[0]: value}) == answer for value in values if value < bound)
    except EvaluationError:
        return False


def _three_in_turn(cells: Cells, boxes: list[Box], slow: Closure) -> Closure:
    """Three numbers, each of which alone can decide for the outermost answer."""
    (key_x,), (key_y,), (key_z,) = (axis.keys for axis in cells.axes)
    most_x, most_y, most_z = (axis.most for axis in cells.axes)
    least_x, least_y, least_z = (axis.least for axis in cells.axes)
    inner, middle, outer = boxes
    (x1, y1, z1), (x2, y2, z2) = inner.corner, middle.corner
    answer1, answer2, answer3 = inner.answer, middle.answer, outer.answer

    def decide(a: Any) -> Any:
        try:
            x = a[key_x]
            if x is not True and x is not False:
                if x2 <= x <= most_x:
                    y = a[key_y]
                    if y is not True and y is not False:
                        if y2 <= y <= most_y:
                            z = a[key_z]
                            if z is not True and z is not False:
                                if z2 <= z <= most_z:
                                    return answer1 if x1 <= x and y1 <= y and z1 <= z else answer2
                                if least_z <= z < z2:
                                    return answer3
                        elif least_y <= y < y2:
                            return answer3
                elif least_x <= x < x2:
                    return answer3
        except _ABSENT:
            pass
        return slow(a)

    return decide


def _one_number(cells: Cells, boxes: list[Box], slow: Closure) -> Closure:
    (axis,) = cells.axes
    key, most = axis.keys[-1], axis.most
    first, second, third = boxes
    (x1,), (x2,), (x3,) = first.corner, second.corner, third.corner
    answer1, answer2, answer3 = first.answer, second.answer, third.answer
    again = slow if len(axis.keys) == 1 else _again

    def decide(a: Any) -> Any:
        try:
            x = a[key]
            if x is not True and x is not False:
                if x1 <= x <= most:
                    return answer1
                if x2 <= x <= most:
                    return answer2
                if x3 <= x <= most:
                    return answer3
        except _ABSENT:
            pass
        return again(a)

    return decide


def _two_numbers(cells: Cells, boxes: list[Box], slow: Closure) -> Closure:
    (key_x, most_x), (key_y, most_y) = ((axis.keys[-1], axis.most) for axis in cells.axes)
    first, second, third = boxes
    (x1, y1), (x2, y2), (x3, y3) = first.corner, second.corner, third.corner
    answer1, answer2, answer3 = first.answer, second.answer, third.answer
    again = slow if len(cells.axes[0].keys) == 1 else _again

    def decide(a: Any) -> Any:
        try:
            x = a[key_x]
            y = a[key_y]
            if x.__class__ is not bool and y.__class__ is not bool:
                if x1 <= x <= most_x and y1 <= y <= most_y:
                    return answer1
                if x2 <= x <= most_x and y2 <= y <= most_y:
                    return answer2
                if x3 <= x <= most_x and y3 <= y <= most_y:
                    return answer3
        except _ABSENT:
            pass
        return again(a)

    return decide


def _three_numbers(cells: Cells, boxes: list[Box], slow: Closure) -> Closure:
    (key_x, most_x), (key_y, most_y), (key_z, most_z) = ((axis.keys[-1], axis.most) for axis in cells.axes)
    first, second, third = boxes
    (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = first.corner, second.corner, third.corner
    answer1, answer2, answer3 = first.answer, second.answer, third.answer
    again = slow if len(cells.axes[0].keys) == 1 else _again

    def decide(a: Any) -> Any:
        try:
            x = a[key_x]
            y = a[key_y]
            z = a[key_z]
            if x.__class__ is not bool and y.__class__ is not bool and z.__class__ is not bool:
                if x1 <= x <= most_x and y1 <= y <= most_y and z1 <= z <= most_z:
                    return answer1
                if x2 <= x <= most_x and y2 <= y <= most_y and z2 <= z <= most_z:
                    return answer2
                if x3 <= x <= most_x and y3 <= y <= most_y and z3 <= z <= most_z:
                    return answer3
        except _ABSENT:
            pass
        return again(a)

    return decide


def _looked_up(cells: Cells, slow: Closure) -> Closure:
    """By bisection of each number and one look-up."""
    axes = [(axis.keys[-1], axis.cuts, axis.least, axis.most, len(axis.cuts) + 1) for axis in cells.axes]
    answers = cells.answers
    again = slow if len(cells.axes[0].keys) == 1 else _again

    def decide(a: Any) -> Any:
        try:
            cell = 0
            for key, cuts, least, most, width in axes:
                x = a[key]
                if x.__class__ is bool or not least <= x <= most:
                    return again(a)
                cell = cell * width + bisect_right(cuts, x)
            return answers[cell]
        except _ABSENT:
            return again(a)

    return decide
