"""The variables of a box and the relations between them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import and_
from typing import Final, NamedTuple, TypeAlias

from rulewright.proving.atoms import ERROR, TRUE
from rulewright.proving.comparisons import Order
from rulewright.proving.domains import Absent, Domain, Path, boolean
from rulewright.proving.program_parts import exact_of
from rulewright.proving.sums import Terms
from rulewright_runtime.ir import Program
from rulewright_runtime.score import Score
from rulewright_runtime.values import Optional, Value

Box: TypeAlias = tuple[int, ...]
_BOOL: Final = boolean()
LONGEST: Final = 200  # characters up to which the length of a text is taken into account


class TooMany(Exception):  # noqa: N818  control flow, not an error
    """The conditions need more boxes than are looked at, or their atoms are too many for their cells."""


class BoxVariable(NamedTuple):
    """A variable of a box: its index, the part of conditions that it stands for, and a value of each of its cells.

    It is an input, or a part in the place of one, with a `path`, its `domain` and the `cuts` between its cells, or else
    the result of an atom. `reason` says why no input can be made from its cells. The cells of a sum of the `terms` are
    intervals, those of an `order` the relations of two numbers.
    """

    at: int
    program: Program
    values: Sequence[Value]
    cuts: frozenset[Value] = frozenset()
    path: Path = ()
    domain: Domain = _BOOL
    reason: str | None = None
    terms: Terms = ()
    order: Order | None = None

    @property
    def is_input(self) -> bool:
        """Whether an input gives it a value."""
        return bool(self.path) and self.reason is None

    @property
    def lacking(self) -> int:
        """The cells without a value, as a bit mask."""
        return cell_mask(isinstance(value, Absent) for value in self.values)

    def cells(self, bit: int) -> int:
        """The cells of a condition's result: TRUE, FALSE or ERROR."""
        return self.lacking if bit == ERROR else cell_mask(value is (bit == TRUE) for value in self.values)

    def within(self, box: Box) -> list[Value]:
        """The values of the cells that a box has."""
        return [value for number, value in enumerate(self.values) if box[self.at] >> number & 1]

    def all_in(self, cell: Value) -> list[Value] | None:
        """All values of the cell with a value; None where it holds too many."""
        if isinstance(cell, Optional) and cell.present:
            inside = self.all_in(cell.value)
            return None if inside is None else [Optional(each) for each in inside]
        if isinstance(cell, float) and cell == 0 and cell in self.cuts:
            return [0.0, -0.0]  # equal, but not as texts
        return [cell] if self._is_single(cell) else None

    def _is_single(self, value: Value) -> bool:
        if isinstance(value, list):
            return not value  # others have any order, and any number of each text
        if isinstance(value, str):
            return self.domain.finite or value in self.cuts
        if isinstance(value, int | float | Score) and not self.domain.finite:
            exact = exact_of(value)
            return exact is None or exact in self.cuts
        return True


class Relation(ABC):
    """A relation between variables of a box, by their indices."""

    indices: tuple[int, ...]

    @abstractmethod
    def allows(self, cells: Box) -> bool:
        """Whether an input may be in these cells of the variables; False is exact."""


def cell_mask(cells: Iterable[bool]) -> int:
    return sum(1 << number for number, is_in in enumerate(cells) if is_in)


class Rows(Relation):
    """Combinations of cells, one of which every input is in; found when a box first asks for them."""

    @abstractmethod
    def combinations(self) -> Sequence[Box] | None:
        """The combinations; None where they are unknown."""

    @cached_property
    def _rows(self) -> Sequence[Box] | None:
        return self.combinations()

    def allows(self, cells: Box) -> bool:
        rows = self._rows
        return rows is None or any(all(map(and_, cells, row)) for row in rows)
