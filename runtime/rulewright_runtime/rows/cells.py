"""Quantisation: a decision over numbers reads each only through the thresholds it is compared with, so that finitely
many cells hold every possible answer.

The answers are found by evaluating the program itself once for each cell, on a number that lies in it; nothing is
derived twice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.rows.building import ROOT
from rulewright_runtime.rows.leaves import Leaf, leaf_of

if TYPE_CHECKING:
    from rulewright_runtime.rows.building import Building

MAX_CELLS: Final = 4096


@dataclass(frozen=True, slots=True)
class Axis:
    """A number that is read: where it stands, its domain (outside it the general evaluator decides), and the cuts.

    A value lies in the cell whose index is the number of cuts not above it.
    """

    keys: tuple[Any, ...]
    least: float
    most: float
    cuts: tuple[float, ...]

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


def numeric_leaves(building: Building, number: int, mode: int) -> list[Leaf] | None:
    """The comparisons a decision is made of, when they compare doubles or scores with constants and nothing else
    varies; else None."""
    nodes = building.program.nodes
    found: list[Leaf] = []
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
        if leaf is None or leaf.kind is not float or not leaf.keys:
            return None
        found.append(leaf)
    return found


def axes_of(leaves: list[Leaf]) -> tuple[Axis, ...] | None:
    """One axis for each number read, in order of first sight; None when a number is read in two ways."""
    domains: dict[tuple[Any, ...], tuple[float, float]] = {}
    cuts: dict[tuple[Any, ...], set[float]] = {}
    for leaf in leaves:
        domain = (min(leaf.low, leaf.other_low), max(leaf.high, leaf.other_high))
        if domains.setdefault(leaf.keys, domain) != domain:
            return None
        for low, high in ((leaf.low, leaf.high), (leaf.other_low, leaf.other_high)):
            if low > domain[0]:
                cuts.setdefault(leaf.keys, set()).add(low)
            if high < domain[1]:
                cuts.setdefault(leaf.keys, set()).add(math.nextafter(high, math.inf))
    return tuple(Axis(keys, *domains[keys], tuple(sorted(cuts.get(keys, ())))) for keys in domains)


def cells_of(building: Building, number: int, mode: int, evaluate: Callable[[Any], Any]) -> Cells | None:
    """The cells of a decision in the bindings themselves, or None where it has no such form. `evaluate` is the node's
    general closure."""
    leaves = numeric_leaves(building, number, mode)
    axes = axes_of(leaves) if leaves else None
    if axes is None or mode != ROOT or math.prod(len(axis.cuts) + 1 for axis in axes) > MAX_CELLS:
        return None
    try:
        answers = tuple(evaluate(_bindings(axes, cell)) for cell in _all_cells(axes))
    except EvaluationError:
        return None
    return Cells(axes, answers)


def _all_cells(axes: tuple[Axis, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(len(axis.cuts) + 1) for axis in axes))


def _bindings(axes: tuple[Axis, ...], cell: tuple[int, ...]) -> dict[str, Any]:
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
        corner = tuple(min(cell[i] for cell in mine) for i in range(len(shape)))
        inside = [cell for cell in left if all(a >= b for a, b in zip(cell, corner, strict=True))]
        if len(inside) != len(mine) or len(boxes) > 2:
            return None
        for cell in mine:
            del left[cell]
        bounds = tuple(axis.example(i) for axis, i in zip(cells.axes, corner, strict=True))
        boxes.append(Box(bounds, answer))
    return boxes if all(i == axis.least for i, axis in zip(boxes[-1].corner, cells.axes, strict=True)) else None
