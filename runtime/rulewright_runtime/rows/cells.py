"""Quantisation: a decision over numbers reads each only through the thresholds it is compared with, so that finitely
many cells hold every possible answer.

The answers are found by evaluating the program itself once for each cell, on a number that lies in it; nothing is
derived twice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.rows.building import ROOT, Building
from rulewright_runtime.rows.leaves import Keys, Number, leaf_of

MAX_CELLS: Final = 4096


@dataclass(frozen=True, slots=True)
class Axis:
    """A number that is read: where it stands, its domain (outside it the general evaluator decides), and the cuts.

    A value lies in the cell whose index is the number of cuts not above it.
    """

    keys: Keys
    least: float
    most: float
    cuts: tuple[float, ...]

    @property
    def near(self) -> int:
        """What stands for an unknown cell."""
        return len(self.cuts) + 1

    @property
    def outside(self) -> int:
        """What stands for no cell, or an unknown one."""
        return len(self.cuts) + 2

    def example(self, cell: int) -> float:
        """A value that lies in the cell."""
        return self.cuts[cell - 1] if cell else self.least


@dataclass(frozen=True, slots=True)
class Cells:
    """Every answer of a decision: `answers` holds one for each cell, the last axis running fastest."""

    axes: tuple[Axis, ...]
    answers: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each axis has."""
        return tuple(len(axis.cuts) + 1 for axis in self.axes)


def axes_of(building: Building, number: int, mode: int, most: int = MAX_CELLS) -> tuple[Axis, ...] | None:
    """One axis for each number that a decision reads, in order of first sight. None when it does anything but compare
    doubles or scores of the bindings with constants, reads one of them in two ways, or has more than `most` cells."""
    leaves = _numbers(building, number, mode) if mode == ROOT else None
    if not leaves:
        return None
    domains: dict[Keys, tuple[float, float]] = {}
    cuts: dict[Keys, set[float]] = {}
    for leaf in leaves:
        domain = (min(leaf.low, leaf.other_low), max(leaf.high, leaf.other_high))
        if domains.setdefault(leaf.keys, domain) != domain:
            return None
        for low, high in ((leaf.low, leaf.high), (leaf.other_low, leaf.other_high)):
            if low > domain[0]:
                cuts.setdefault(leaf.keys, set()).add(low)
            if high < domain[1]:
                cuts.setdefault(leaf.keys, set()).add(math.nextafter(high, math.inf))
    if any(keys[:end] in domains for keys in domains for end in range(1, len(keys))):
        return None  # what is a number can't be a record too
    axes = tuple(Axis(keys, *domains[keys], tuple(sorted(cuts.get(keys, ())))) for keys in domains)
    return axes if math.prod(len(axis.cuts) + 1 for axis in axes) <= most else None


def _numbers(building: Building, number: int, mode: int) -> list[Number] | None:
    """The comparisons a decision is made of, when there is nothing else in it; else None."""
    nodes = building.program.nodes
    found: list[Number] = []
    pending = [number]
    while pending:
        here = pending.pop()
        node = nodes[here]
        if node.op == "const":
            continue
        if node.op in ("cond", "and", "or") or (node.op == "not" and nodes[node.args[0]].op not in ("name", "select")):
            pending += node.args[::-1]
            if len(pending) > MAX_CELLS:
                return None
            continue
        leaf = leaf_of(building, here, mode)
        if not isinstance(leaf, Number) or leaf.kind is not float or not leaf.keys:
            return None
        found.append(leaf)
    return found


def cells_of(axes: Sequence[Axis], evaluate: Callable[[Any], Any]) -> Cells | None:
    """The cells of a decision, answered by its general closure; None where one has no answer."""
    try:
        return Cells(tuple(axes), tuple(evaluate(bindings_of(axes, cell)) for cell in all_cells(axes)))
    except EvaluationError:
        return None


def all_cells(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """The place of every cell on each axis, the last running fastest."""
    return itertools.product(*(range(len(axis.cuts) + 1) for axis in axes))


def bindings_of(axes: Sequence[Axis], cell: tuple[int, ...]) -> dict[str, Any]:
    """Bindings whose numbers lie in the cell."""
    bindings: dict[str, Any] = {}
    for axis, index in zip(axes, cell, strict=True):
        place = bindings
        for key in axis.keys[:-1]:
            place = place.setdefault(key, {})
        place[axis.keys[-1]] = axis.example(index)
    return bindings


@dataclass(frozen=True, slots=True)
class Box:
    """An answer for every value not below `corner` that no earlier box has."""

    corner: tuple[float, ...]
    answer: Any


def nested_boxes(cells: Cells) -> list[Box] | None:
    """The cells as boxes one inside the other, the innermost first, the last the whole domain, or None."""
    shape = cells.shape
    left = dict(zip(itertools.product(*map(range, shape)), cells.answers, strict=True))
    boxes: list[Box] = []
    while left:
        answer = left[max(left)]
        mine = [cell for cell, value in left.items() if value.__class__ is answer.__class__ and value == answer]
        if not mine:  # NaN, which equals nothing
            return None
        corner = tuple(min(cell[i] for cell in mine) for i in range(len(shape)))
        inside = [cell for cell in left if all(a >= b for a, b in zip(cell, corner, strict=True))]
        if len(inside) != len(mine) or len(boxes) > 2:
            return None
        for cell in mine:
            del left[cell]
        bounds = tuple(axis.example(i) for axis, i in zip(cells.axes, corner, strict=True))
        boxes.append(Box(bounds, answer))
    return boxes if all(i == axis.least for i, axis in zip(boxes[-1].corner, cells.axes, strict=True)) else None
