"""Columns: a decision over numbers is read for a whole batch at once, by quantising each column and looking cells up.

With the standard library a column of doubles is quantised by its leading bytes: those say on which side of a threshold
a double lies, except for the few that share them with one; such a row is looked at by itself, unless the other columns
decide it. With numpy the columns are compared as they are. What is no number in its domain goes through the row
evaluator, so that an odd cell means the same in a batch and alone; so does every row of a program that is no such
decision.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.evaluate import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.rows.building import ROOT, Building
from rulewright_runtime.rows.cells import Axis, Cells, all_cells, axes_of, cells_of

_ODD: Final = 255  # the code of a row that no cell answers


class _Absent:
    """The cell of a row that lacks the value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
Columns = Mapping[str, Any]  # sequences of one length
Path = tuple[int, ...]  # the leading bytes of a double


@dataclass(frozen=True, slots=True)
class Decided:
    """The answers of a batch: row i has `answers[codes[i]]`, or where the code is 255 what `odd[i]` holds: a value, or
    the EvaluationError of a row without one."""

    codes: Sequence[int]
    answers: tuple[Any, ...]
    odd: Mapping[int, Any]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        """The answer of one row, or its EvaluationError."""
        code = self.codes[row]
        return self.odd[row if row >= 0 else row + len(self.codes)] if code == _ODD else self.answers[code]

    def __iter__(self) -> Iterator[Any]:
        """The answers in the order of the rows."""
        answers, odd = self.answers, self.odd
        return (odd[row] if code == _ODD else answers[code] for row, code in enumerate(self.codes))


def prepare_columns(program: Program, numpy: bool | None = None) -> Callable[[Columns], Decided]:
    """The reading of `program` over columns: a mapping from paths (`cr`, `scores.cr`) to sequences of one length.

    The fastest columns are `array('d')`, or float64 arrays of numpy. `ABSENT` marks what a row lacks. `numpy` chooses
    the backend; None takes numpy where the first column is one of its arrays.
    """
    evaluate = prepare(program)
    building = Building.of(program)
    axes = axes_of(building, len(program.nodes) - 1, ROOT)
    cells = cells_of(axes, evaluate) if axes else None
    answers = _distinct(cells) if cells is not None else None
    if cells is None or answers is None:
        return lambda columns: _row_by_row(evaluate, columns)
    found, indices = answers

    def decide(columns: Columns) -> Decided:
        first = next(iter(columns.values()), ())
        wanted = hasattr(first, "dtype") if numpy is None else numpy
        given = [columns.get(".".join(axis.keys)) for axis in cells.axes]
        if any(column is None for column in given):
            return _row_by_row(evaluate, columns)
        coder = _code_numpy if wanted else _code_bytes
        codes, odd_rows = coder(cells, indices, given)
        odd = {row: _answer(evaluate, _row(columns, row)) for row in odd_rows}
        return Decided(codes, found, odd)

    return decide


def _distinct(cells: Cells) -> tuple[tuple[Any, ...], bytes] | None:
    """The different answers, and for each cell the index of its own."""
    found: list[Any] = []
    indices = bytearray()
    for answer in cells.answers:
        same = [i for i, other in enumerate(found) if other.__class__ is answer.__class__ and other == answer]
        index = same[0] if same else len(found)
        if not same:
            found.append(answer)
        if index >= _ODD:
            return None
        indices.append(index)
    return tuple(found), bytes(indices)


def _row_by_row(evaluate: Callable[[Any], Any], columns: Columns) -> Decided:
    length = _length(columns.values())
    odd = {row: _answer(evaluate, _row(columns, row)) for row in range(length)}
    return Decided(bytes([_ODD]) * length, (), odd)


def _length(columns: Any) -> int:
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError("columns of different lengths")
    return lengths.pop() if lengths else 0


def _row(columns: Columns, row: int) -> dict[str, Any]:
    """The bindings of one row; numbers of numpy become Python's."""
    bindings: dict[str, Any] = {}
    for path, column in columns.items():
        value = column[row]
        if value is ABSENT:
            continue
        *records, last = path.split(".")
        place = bindings
        for key in records:
            place = place.setdefault(key, {})
        place[last] = value.item() if hasattr(value, "dtype") else value
    return bindings


def _answer(evaluate: Callable[[Any], Any], bindings: dict[str, Any]) -> Any:
    try:
        return evaluate(bindings)
    except EvaluationError as why:
        return why


def _code_bytes(cells: Cells, indices: bytes, columns: list[Any]) -> tuple[bytes, list[int]]:
    """The answer's index for each row, as bytes, and the rows that have none."""
    length = _length(columns)
    odd: set[int] = set()
    doubles = [_doubles(column, axis, odd) for axis, column in zip(cells.axes, columns, strict=True)]
    coded = bytes([_ODD]) * length
    if math.prod(width + 2 for width in cells.shape) <= 256 and max(cells.shape) + 2 <= _EDGE:
        total = 0
        for axis, column in zip(cells.axes, doubles, strict=True):
            total = total * (axis.outside + 1) + _quantise(axis, column)
        coded = total.to_bytes(length, "little").translate(_answers(cells.axes, indices))
    return _settle(cells, indices, doubles, coded, odd)


@functools.lru_cache(maxsize=256)
def _answers(axes: tuple[Axis, ...], indices: bytes) -> bytes:
    """The answer's index for what `_quantise` says of each axis; 255 where that leaves it open."""
    table = bytearray([_ODD]) * 256
    cells = dict(zip(all_cells(axes), indices, strict=True))
    said = [[*((place,) for place in range(axis.near)), _near_cells(axis), ()] for axis in axes]
    for number, places in enumerate(itertools.product(*said)):
        found = {cells[cell] for cell in itertools.product(*places)}
        if len(found) == 1:
            (table[number],) = found
    return bytes(table)


def _near_cells(axis: Axis) -> tuple[int, ...]:
    """The cells on both sides of every cut at which a double's leading bytes don't change."""
    inside = [i for i, cut in enumerate(axis.cuts) if cut <= 0 or any(struct.pack(">d", cut)[_LEVELS:])]
    return tuple(sorted({*inside, *(i + 1 for i in inside)}))


def _settle(
    cells: Cells, indices: bytes, doubles: list[array[float]], coded: bytes, odd: set[int]
) -> tuple[bytes, list[int]]:
    """Decide by their numbers the rows that the leading bytes leave open."""
    rows = [found.start() for found in re.finditer(bytes([_ODD]), coded)]
    parts: list[Iterator[int]] = []
    weight = len(cells.answers)
    for axis, column in zip(cells.axes, doubles, strict=True):
        weight //= len(axis.cuts) + 1
        numbers = list(map(column.__getitem__, rows))
        places = dict.fromkeys(numbers, -len(cells.answers))
        for number in places:
            if axis.least <= number <= axis.most:
                places[number] = bisect_right(axis.cuts, number) * weight
        parts.append(map(places.__getitem__, numbers))
    changed = bytearray(coded)
    for row, cell in zip(rows, map(sum, zip(*parts, strict=True)), strict=True):
        if cell >= 0:
            changed[row] = indices[cell]
        else:
            odd.add(row)
    for row in odd:
        changed[row] = _ODD
    return bytes(changed), sorted(odd)


def _doubles(column: Any, axis: Axis, odd: set[int]) -> array[float]:
    """The column as doubles; the rows that hold none are noted as odd and stand as the least value."""
    if isinstance(column, array) and column.typecode == "d":
        return column
    made = array("d")
    filler = axis.cuts[0] if axis.cuts else axis.most
    for row, value in enumerate(column):
        if value.__class__ is float:
            made.append(value)
        else:
            odd.add(row)
            made.append(filler)
    return made


_EDGE: Final = 126  # the leading bytes are those of the domain's end: that number, or one outside
_OPEN: Final = 128  # the byte after them may tell more
_LEVELS: Final = 3  # how many leading bytes are looked at


def _quantise(axis: Axis, doubles: array[float]) -> int:
    """The cell of every row on one axis; `axis.near` where the leading bytes can't tell which, `axis.outside` where
    they can't tell whether there is one.

    One long number holds a byte for each row, so that all rows are masked and joined at once.
    """
    raw, length = doubles.tobytes(), len(doubles)
    places = range(7, -1, -1) if sys.byteorder == "little" else range(8)
    planes = [raw[places[0] :: 8]]
    opens = _repeated(_OPEN, length)
    root, branches = _tables(axis)
    known: dict[Path, int] = {(): int.from_bytes(planes[0].translate(root), "little")}
    for path, children in branches:
        unsure = known.get(path, 0) & opens
        if not unsure:
            continue
        if len(path) + 1 == len(planes):
            planes.append(raw[places[len(planes)] :: 8])
        plane, after = planes[len(path) : len(path) + 2]
        found = [(byte, table) for byte, table in children if byte in plane]
        for byte, table in found:
            mask = (unsure >> 7) * 255
            if len(found) > 1:
                mask &= int.from_bytes(plane.translate(_only(byte)), "little")
            if _EDGE in table:
                table = _at_edge(axis, table, after, mask, (raw[place::8] for place in places[len(path) + 2 :]))
            known[*path, byte] = int.from_bytes(after.translate(table), "little") & mask
    joined = functools.reduce(operator.or_, known.values())
    return joined ^ (joined & opens)


def _at_edge(axis: Axis, table: bytes, after: bytes, mask: int, rest: Iterable[bytes]) -> bytes:
    """The table with its edge decided: when many rows have the leading bytes of the domain's end (many scores are
    exactly 1) and those left are 0 in all of them, they are in the last cell."""
    edge = table.index(_EDGE)
    cell = axis.outside
    if after.count(edge) * 150 > len(after):
        rows = int.from_bytes(after.translate(_only(edge)), "little") & mask
        if not any(int.from_bytes(plane, "little") & rows for plane in rest):
            cell = len(axis.cuts)
    return table.replace(bytes([_EDGE]), bytes([cell]))


@functools.lru_cache(maxsize=1)
def _repeated(byte: int, length: int) -> int:
    return int.from_bytes(bytes([byte]) * length, "little")


@functools.lru_cache(maxsize=256)
def _only(byte: int) -> bytes:
    table = bytearray(256)
    table[byte] = 255
    return bytes(table)


@functools.lru_cache(maxsize=256)
def _tables(axis: Axis) -> tuple[bytes, tuple[tuple[Path, tuple[tuple[int, bytes], ...]], ...]]:
    """What the leading byte of a double says about its cell; and for the leading bytes that leave it open, what the
    byte after them says: each table by the last of these, gathered by those before it."""
    root, open_ones = _table(axis, ())
    branches: dict[Path, list[tuple[int, bytes]]] = {}
    for path in open_ones:
        table, more = _table(axis, path)
        branches.setdefault(path[:-1], []).append((path[-1], table))
        open_ones.extend(more)
    return root, tuple((path, tuple(children)) for path, children in branches.items())


def _table(axis: Axis, path: Path) -> tuple[bytes, list[Path]]:
    """The cells by the byte that follows `path`; the longer paths that can tell where it leaves them open."""
    table = bytearray(256)
    deeper: list[Path] = []
    shift = 8 * (7 - len(path))
    prefix = int.from_bytes(bytes(path), "big") << (shift + 8)
    for byte in range(256):
        first = prefix | byte << shift
        last = first + (1 << shift) - 1
        cell = _sure_cell(axis, first, last)
        if cell in (axis.near, axis.outside) and len(path) + 1 < _LEVELS and _reaches(axis, first, last):
            deeper.append((*path, byte))
            cell = _OPEN
        table[byte] = cell
    return bytes(table), deeper


def _double(bits: int) -> float:
    value: float = struct.unpack(">d", struct.pack(">Q", bits))[0]
    return value


def _reaches(axis: Axis, first: int, last: int) -> bool:
    """Whether some double whose bits lie between these is in the domain."""
    ends = [_double(bits) for bits in (first, last)]
    numbers = [math.copysign(math.inf, end) if math.isnan(end) else end for end in ends]
    return min(numbers) <= axis.most and max(numbers) >= axis.least


def _sure_cell(axis: Axis, first: int, last: int) -> int:
    """The cell of every double whose bits lie between these; `_EDGE`, or near, or outside when they don't share one."""
    ends = [_double(bits) for bits in (first, last)]
    if ends[0] == axis.most and last - first < 1 << 48:
        return _EDGE
    if not all(axis.least <= end <= axis.most for end in ends):
        return axis.outside
    cells = {bisect_right(axis.cuts, end) for end in ends}
    return cells.pop() if len(cells) == 1 else axis.near


def _code_numpy(cells: Cells, indices: bytes, columns: list[Any]) -> tuple[Any, list[int]]:
    """As `_code_bytes`, with numpy."""
    import numpy as np

    length = _length(columns)
    kind = np.uint8 if len(cells.answers) < 256 else np.intp
    total: Any = None
    odd: set[int] = set()
    for axis, column in zip(cells.axes, columns, strict=True):
        values = column if getattr(column, "dtype", None) == np.float64 else np.asarray(_doubles(column, axis, odd))
        # The least of values with a NaN among them is NaN, so that the comparison fails as it must.
        if length and not axis.least <= values.min() <= values.max() <= axis.most:
            odd.update(np.flatnonzero(~((values >= axis.least) & (values <= axis.most))).tolist())
        part = np.zeros(length, dtype=kind) if not axis.cuts else (values >= axis.cuts[0]).astype(kind, copy=False)
        for cut in axis.cuts[1:]:
            part += values >= cut
        total = part if total is None else total * kind(len(axis.cuts) + 1) + part
    codes = np.frombuffer(indices, dtype=np.uint8)[total] if kind is np.intp else _take(np, indices, total)
    rows = sorted(odd)
    if rows:
        codes[rows] = _ODD
    return codes, rows


def _take(np: Any, indices: bytes, total: Any) -> Any:
    return np.frombuffer(indices.ljust(256, b"\xff"), dtype=np.uint8).take(total)
