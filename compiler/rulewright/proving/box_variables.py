"""The variables of a box and the relations between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import and_
from typing import Final, NamedTuple, TypeAlias

from rulewright.proving.atoms import ERROR, TRUE
from rulewright.proving.domains import Absent
from rulewright_runtime.ir import Program
from rulewright_runtime.values import Value

Box: TypeAlias = tuple[int, ...]
LONGEST: Final = 200  # characters up to which the length of a text is taken into account


class BoxVariable(NamedTuple):
    """A variable of a box: its index, the part of conditions that it stands for, a value of each cell, and the cuts
    between them."""

    at: int
    program: Program
    values: Sequence[Value]
    cuts: frozenset[Value]

    @property
    def lacking(self) -> int:
        """The cells in which there is no value, as a bit mask."""
        return cell_mask(isinstance(value, Absent) for value in self.values)

    def cells(self, bit: int) -> int:
        """The cells of a condition's result: TRUE, FALSE or ERROR."""
        return self.lacking if bit == ERROR else cell_mask(value is (bit == TRUE) for value in self.values)


class Relation(ABC):
    """A relation between variables of a box, by their indices."""

    indices: tuple[int, ...]

    @abstractmethod
    def allows(self, cells: Box) -> bool:
        """Whether an input may lie in these cells of the variables; False is exact."""


def cell_mask(cells: Iterable[bool]) -> int:
    return sum(1 << number for number, is_in in enumerate(cells) if is_in)


class Rows(Relation):
    """Combinations of cells, one of which every input lies in; found when a box first asks for them."""

    @abstractmethod
    def combinations(self) -> Sequence[Box] | None:
        """The combinations; None where they can't be told."""

    @cached_property
    def _rows(self) -> Sequence[Box] | None:
        return self.combinations()

    def allows(self, cells: Box) -> bool:
        rows = self._rows
        return rows is None or any(all(map(and_, cells, row)) for row in rows)
