"""Columns: evaluates a decision over numbers for a whole batch at once, by quantising each column.

Such a decision depends on each number only through the thresholds it is compared with, so that a finite number of cells
covers every possible result. The program is evaluated once for each cell, on numbers inside it. A row with any other
value goes through the row evaluator, so that it has the same result in a batch and alone; so does every row of a
program that is not such a decision.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter.closures import Layout
from rulewright_runtime.interpreter.conditions import Keys, Number, condition_of
from rulewright_runtime.interpreter.evaluator import Evaluator, prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.values import Value

_MAX_CELLS: Final = 4096
_MAX_CACHED: Final = 10_000  # different numbers of a column
ABSENT: Final = object()  # marks a missing value in a column
Columns = Mapping[str, Value]  # sequences of one length


@dataclass(frozen=True, slots=True)
class Answers(Sequence[Value]):
    """The results of a batch: row i has `odd[i]`, a value or an EvaluationError, if it is there, else
    `by_code[codes[i]]`."""

    codes: Sequence[int]
    by_code: tuple[Value, ...]
    odd: Mapping[int, Value]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def __getitem__(self, row: Value) -> Value:
        """The value of one row, or its EvaluationError."""
        row = row if row >= 0 else row + len(self.codes)
        return self.odd[row] if row in self.odd else self.by_code[self.codes[row]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A number that the decision reads: its path, the least value of each of its cells, and the greatest value."""

    keys: Keys
    cells: tuple[float, ...]
    most: float


def prepare_columns(program: Program, numpy: bool | None = None) -> Callable[[Columns], Answers]:
    """Prepare `program` for columns: a mapping from paths (`cr`, `scores.cr`) to sequences of equal length.

    numpy arrays of float64 are the fastest columns, then `array('d')`. `ABSENT` marks a missing value. `numpy` selects
    the backend; None uses numpy if the first column is a numpy array. The result raises ValueError for columns of
    different lengths.
    """
    evaluate = prepare(program)
    axes = _axes(Layout.of(program))
    paths = [".".join(axis.keys) for axis in axes or ()]
    answers = _answers(evaluate, axes, paths) if axes else None

    def decide(columns: Columns) -> Answers:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns of different lengths")
        length = max(lengths, default=0)
        if not axes or answers is None or not columns.keys() >= set(paths):
            return Answers(bytes(length), (), {row: _answer(evaluate, columns, row) for row in range(length)})
        use_numpy = hasattr(next(iter(columns.values())), "dtype") if numpy is None else numpy
        code = _code_with_numpy if use_numpy else _code
        codes, odd = code(axes, [columns[path] for path in paths], len(answers))
        return Answers(codes, answers, {row: _answer(evaluate, columns, row) for row in odd})

    return decide


def _axes(layout: Layout) -> list[_Axis] | None:
    """One axis for each number that a decision reads. None if it does anything but compare doubles or scores of the
    bindings with constants, reads one of them as both, or has too many cells."""
    numbers = _numbers(layout)
    domains: dict[Keys, tuple[float, float]] = {}
    cuts: dict[Keys, set[float]] = {}
    for each in numbers or ():
        domain = (min(each.low, each.other_low), max(each.high, each.other_high))
        if domains.setdefault(each.keys, domain) != domain:
            return None
        ranges = ((each.low, each.high), (each.other_low, each.other_high))
        cuts_of_number = cuts.setdefault(each.keys, set())
        cuts_of_number |= {low for low, _ in ranges if low > domain[0]}
        cuts_of_number |= {math.nextafter(high, math.inf) for _, high in ranges if high < domain[1]}
    if any(keys[:end] in domains for keys in domains for end in range(1, len(keys))):
        return None  # a number can't also be a record
    axes = [_Axis(keys, (least, *sorted(cuts[keys])), most) for keys, (least, most) in domains.items()]
    return axes if math.prod(len(axis.cells) for axis in axes) <= _MAX_CELLS else None


def _numbers(layout: Layout) -> list[Number] | None:
    """The comparisons of a decision that contains nothing else; else None."""
    nodes, numbers = layout.program.nodes, list[Number]()
    pending = [len(nodes) - 1]
    while pending and len(pending) <= _MAX_CELLS and not layout.framed:
        number = pending.pop()
        each = condition_of(layout, number)
        if nodes[number].op in ("cond", "and", "or") or (nodes[number].op == "not" and not isinstance(each, Number)):
            pending += nodes[number].args[::-1]
        elif isinstance(each, Number) and each.low.__class__ is float:
            numbers.append(each)
        elif nodes[number].op != "const":
            return None
    return None if pending else numbers


def _answers(evaluate: Evaluator, axes: list[_Axis], paths: list[str]) -> tuple[Value, ...] | None:
    """The value of every cell, with the last axis varying fastest; None if a cell has no value."""
    cells = product(*(axis.cells for axis in axes))
    try:
        return tuple([evaluate(_bindings(dict(zip(paths, cell, strict=True)))) for cell in cells])
    except EvaluationError:
        return None


def _bindings(values: Mapping[str, Value]) -> dict[str, Value]:
    """The bindings of one row, given the value at each path; numpy numbers become Python numbers."""
    bindings: dict[str, Value] = {}
    for path, value in values.items():
        *records, last = path.split(".")
        record = bindings
        for key in records:
            record = record.setdefault(key, {})
        if value is not ABSENT:
            record[last] = value.item() if hasattr(value, "dtype") else value
    return bindings


def _answer(evaluate: Evaluator, columns: Columns, row: int) -> Value:
    try:
        return evaluate(_bindings({path: column[row] for path, column in columns.items()}))
    except EvaluationError as why:
        return why


class _Quantiser(dict[Value, int]):
    """The contribution of each number of a column to its row's code; `odd` for a number outside the domain."""

    def __init__(self, axis: _Axis, weight: int, odd: int) -> None:
        self.axis, self.weight, self.odd = axis, weight, odd

    def __missing__(self, number: float) -> int:
        if not self.axis.cells[0] <= number <= self.axis.most:
            return self.odd
        code = (bisect_right(self.axis.cells, number) - 1) * self.weight
        if len(self) < _MAX_CACHED:
            self[number] = code
        return code

    def of(self, value: Value) -> int:
        """The contribution of a value; `odd` if it is not a float."""
        return self[value] if value.__class__ is float else self.odd


def _code(axes: list[_Axis], columns: list[Value], cells: int) -> tuple[Sequence[int], list[int]]:
    """The cell of each row, and the rows outside every cell."""
    weight, parts = cells, list[Iterator[int]]()
    for axis, column in zip(axes, columns, strict=True):
        weight //= len(axis.cells)
        quantiser = _Quantiser(axis, weight, cells)
        is_double = isinstance(column, array) and column.typecode == "d"
        parts.append(map(quantiser.__getitem__ if is_double else quantiser.of, column))
    codes = list(reduce(lambda left, right: map(add, left, right), parts))
    return codes, [row for row, code in enumerate(codes) if code >= cells]


def _code_with_numpy(axes: list[_Axis], columns: list[Value], cells: int) -> tuple[Value, list[int]]:
    """As `_code`, with numpy."""
    import numpy as np

    kind = np.uint8 if cells <= 256 else np.intp
    total: Value = None
    odd: set[int] = set()
    for axis, column in zip(axes, columns, strict=True):
        is_double = getattr(column, "dtype", None) == np.float64
        values = column if is_double else np.array([v if v.__class__ is float else math.nan for v in column], float)
        # `min` of values with a NaN is NaN, so that the comparison fails as required.
        least, *cuts = axis.cells
        if len(values) and not least <= values.min() <= values.max() <= axis.most:
            odd.update(np.flatnonzero(~((values >= least) & (values <= axis.most))).tolist())
        part = sum((values >= cut for cut in cuts), np.zeros(len(values), dtype=kind))
        total = part if total is None else total * kind(len(axis.cells)) + part
    return total, sorted(odd)
