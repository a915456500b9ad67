"""Columns: a decision over numbers is read for a whole batch at once, by quantising each column and looking cells up.

With the standard library a column of doubles is quantised by its two leading bytes: those say on which side of a
threshold a double lies, except for the few that share both bytes with one; these are compared one by one. With numpy
the columns are compared as they are. What is no number in its domain goes through the row evaluator, so that an odd
cell means the same in a batch and alone; so does every row of a program that is no such decision.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.evaluate import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.rows.building import ROOT, Building
from rulewright_runtime.rows.cells import Axis, Cells, axes_of, cells_of

_ODD: Final = 255  # the code of a row that no cell answers
_MAX_CODES: Final = 255


class _Absent:
    """The cell of a row that lacks the value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
Columns = Mapping[str, Any]  # sequences of one length


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
    total = 0
    many = len(cells.answers) >= _MAX_CODES
    parts: list[bytes] = []
    for axis, column in zip(cells.axes, columns, strict=True):
        doubles = _doubles(column, axis, odd)
        parts.append(_quantise(axis, doubles, odd))
    if many:
        codes = bytes(indices[_cell(cells, part)] for part in zip(*parts, strict=True))
    else:
        # One long number holds a byte for each row: columns are combined by arithmetic on all rows at once.
        for part, width in zip(parts, cells.shape, strict=True):
            total = total * width + int.from_bytes(part, "little")
        codes = total.to_bytes(length, "little").translate(indices.ljust(256, b"\xff"))
    if odd:
        marked = bytearray(codes)
        for row in odd:
            marked[row] = _ODD
        codes = bytes(marked)
    return codes, sorted(odd)


def _cell(cells: Cells, places: tuple[int, ...]) -> int:
    cell = 0
    for place, width in zip(places, cells.shape, strict=True):
        cell = cell * width + place
    return cell


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


_MIXED: Final = 254  # the leading bytes don't decide
_EDGE: Final = 253  # they decide for the end of the domain alone
_LEVELS: Final = 3  # how many leading bytes are looked at


def _quantise(axis: Axis, doubles: array[float], odd: set[int]) -> bytes:
    """The cell of every row on one axis, a byte each; what lies outside the domain is noted as odd and gets 0."""
    raw = doubles.tobytes()
    places = range(7, -1, -1) if sys.byteorder == "little" else range(8)
    planes = [raw[place::8] for place in places[:_LEVELS]]
    root, branches = _tables(axis)
    coded = planes[0].translate(root)
    if branches:
        number = int.from_bytes(coded, "little")
        masks: dict[tuple[int, ...], int] = {(): -1}
        for path, table in branches:
            *before, byte = path
            above = masks.get(tuple(before), 0)
            plane = planes[len(before)]
            mask = above & int.from_bytes(plane.translate(_only(byte)), "little") if above and byte in plane else 0
            if mask:
                masks[path] = mask
                number |= int.from_bytes(planes[len(path)].translate(table), "little") & mask
        coded = number.to_bytes(len(doubles), "little")
    return _settle(axis, doubles, _at_edge(axis, raw, coded), odd)


def _at_edge(axis: Axis, raw: bytes, coded: bytes) -> bytes:
    """Many scores are exactly 1: when all that begin like it are, they are decided at once."""
    if coded.count(_EDGE) * 50 > len(coded):
        rest = 0
        for place in range(6) if sys.byteorder == "little" else range(2, 8):
            rest |= int.from_bytes(raw[place::8], "little")
        if not rest & int.from_bytes(coded.translate(_only(_EDGE)), "little"):
            table = bytearray(range(256))
            table[_EDGE] = len(axis.cuts)
            return coded.translate(bytes(table))
    return coded


def _settle(axis: Axis, doubles: array[float], coded: bytes, odd: set[int]) -> bytes:
    """Decide one by one what the leading bytes can't."""
    cuts, least, most = axis.cuts, axis.least, axis.most
    exact = coded
    for code in (_MIXED, _EDGE):
        row = coded.find(code)
        if row < 0:
            continue
        changed = bytearray(exact)
        while row >= 0:
            value = doubles[row]
            if least <= value <= most:
                changed[row] = bisect_right(cuts, value)
            else:
                changed[row] = 0
                odd.add(row)
            row = coded.find(code, row + 1)
        exact = bytes(changed)
    return exact


@lru_cache(maxsize=256)
def _only(byte: int) -> bytes:
    table = bytearray(256)
    table[byte] = 255
    return bytes(table)


@lru_cache(maxsize=256)
def _tables(axis: Axis) -> tuple[bytes, tuple[tuple[tuple[int, ...], bytes], ...]]:
    """What the leading byte of a double says about its cell; and for the leading bytes that leave it open, what the
    byte after them says."""
    root, open_ones = _table(axis, ())
    branches: list[tuple[tuple[int, ...], bytes]] = []
    for path in open_ones:
        table, more = _table(axis, path)
        branches.append((path, table))
        open_ones.extend(more)
    return root, tuple(branches)


def _table(axis: Axis, path: tuple[int, ...]) -> tuple[bytes, list[tuple[int, ...]]]:
    """The cells by the byte that follows `path`; the paths that leave it open get 0 where a longer one can tell."""
    table = bytearray(256)
    deeper: list[tuple[int, ...]] = []
    shift = 8 * (7 - len(path))
    prefix = int.from_bytes(bytes(path), "big") << (shift + 8)
    for byte in range(256):
        first = prefix | byte << shift
        last = first + (1 << shift) - 1
        cell = _sure_cell(axis, first, last)
        if cell == _MIXED and len(path) + 1 < _LEVELS and _reaches(axis, first, last):
            deeper.append((*path, byte))
        else:
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
    """The cell of every double whose bits lie between these; `_EDGE`, or `_MIXED` when they don't share one."""
    ends = [_double(bits) for bits in (first, last)]
    if ends[0] == axis.most and math.isfinite(axis.most) and last - first < 1 << 48:
        return _EDGE
    if not all(axis.least <= end <= axis.most for end in ends):
        return _MIXED
    cells = {bisect_right(axis.cuts, end) for end in ends}
    cell = cells.pop()
    return _MIXED if cells else min(cell, _MIXED)


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
