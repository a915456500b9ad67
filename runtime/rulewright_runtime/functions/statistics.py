"""Statistics of the profile: exact in any order, and `optional.none()` without data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.operators import as_int
from rulewright_runtime.functions.table import LIST, Function, Table, typed
from rulewright_runtime.score import MAX_BITS, Score, exact_pair
from rulewright_runtime.values import NONE, Optional, UInt, Value, is_number, less, no_overload


def _numbers(function: str, values: list[Value]) -> list[Value]:
    if not all(map(is_number, values)):
        raise no_overload(function, values)
    return list(values)


def _total(pairs: Iterable[tuple[int, int]]) -> Fraction:
    """Return the exact sum of fractions (numerator, denominator). Raises EvaluationError above `MAX_BITS`."""
    by_denominator: dict[int, int] = {}
    for numerator, denominator in pairs:
        by_denominator[denominator] = by_denominator.get(denominator, 0) + numerator
    total: Fraction | None = None
    for denominator, numerator in by_denominator.items():
        part = Fraction(numerator, denominator)
        total = part if total is None else total + part
        if total.denominator.bit_length() > MAX_BITS:
            raise EvaluationError(f"an exact sum needs more than {MAX_BITS} bits", "limit")
    return total or Fraction(0)


def _result(value: Fraction, inputs: Iterable[Value]) -> Optional:
    """Return a score if an input is one, else a double, rounded once."""
    if any(number.__class__ is Score for number in inputs):
        return Optional(Score(value.numerator, value.denominator))
    try:
        return Optional(value.numerator / value.denominator)
    except OverflowError:
        raise EvaluationError("a statistic is out of the range of a double", "overflow") from None


def total(values: list[Value]) -> Optional:
    """Return the sum: an int for ints, a score with scores, else a double; `optional.none()` for an empty list."""
    numbers = _numbers("sum", values)
    if not numbers:
        return NONE
    exact = _total(map(exact_pair, numbers))
    if all(number.__class__ is int or number.__class__ is UInt for number in numbers):
        return Optional(as_int(exact.numerator))
    return _result(exact, numbers)


def mean(values: list[Value]) -> Optional:
    """Return the mean, exact and rounded once; `optional.none()` for an empty list."""
    numbers = _numbers("mean", values)
    if not numbers:
        return NONE
    return _result(_total(map(exact_pair, numbers)) / len(numbers), numbers)


def _weighted_mean(values: list[object], weights: list[Value]) -> Optional:
    if any(weight < 0 for weight in weights):
        raise EvaluationError("a weight below 0", "invalid_argument")
    whole = _total(map(exact_pair, weights))
    if whole == 0:
        return NONE
    pairs = [(exact_pair(value), exact_pair(weight)) for value, weight in zip(values, weights, strict=True)]
    return _result(_total((a * c, b * d) for (a, b), (c, d) in pairs) / whole, [*values, *weights])


def weighted_mean(values: list[Value], weights: list[Value]) -> Optional:
    """Return the mean of `values` weighted by `weights`, a list of equal length; none when the weights sum to 0. Raises
    EvaluationError."""
    numbers, parts = _numbers("wmean", values), _numbers("wmean", weights)
    if len(numbers) != len(parts):
        raise EvaluationError("wmean needs as many weights as values", "invalid_argument")
    return _weighted_mean(numbers, parts)


def weighted_mean_present(values: Mapping[Value, Value], weights: Mapping[Value, Value]) -> Optional:
    """Return the weighted mean of the entries with both a weight and a value (neither null nor `optional.none()`)."""
    numbers, parts = [], []
    for key, value in values.items():
        weight = _present(weights.get(key))
        number = _present(value)
        if weight is not None and number is not None:
            numbers.append(number)
            parts.append(weight)
    return _weighted_mean(_numbers("wmean_present", numbers), _numbers("wmean_present", parts))


def _present(value: object) -> object:
    if isinstance(value, Optional):
        return value.value if value.present else None
    return value


def _extreme(function: str, is_better: Callable[[Value, Value], bool]) -> Function:
    """The function that returns the best number of a list, of equal ones the first, or `optional.none()`."""

    def extreme(values: list[Value]) -> Optional:
        numbers = _numbers(function, values)
        if any(number != number for number in numbers):
            raise EvaluationError(f"`{function}` of NaN", "not_a_score")
        return (
            Optional(reduce(lambda best, each: each if is_better(each, best) else best, numbers)) if numbers else NONE
        )

    return extreme


def quantile(values: list[Value], fraction: Value) -> Optional:
    """Return the quantile at `fraction` (0: the least number), interpolated linearly. Raises EvaluationError."""
    numbers = _numbers("quantile", values)
    if not is_number(fraction):
        raise no_overload("quantile", values, fraction)
    part = Fraction(*exact_pair(fraction))
    if not 0 <= part <= 1:
        raise EvaluationError("a quantile is between 0 and 1", "invalid_argument")
    if not numbers:
        return NONE
    exact = sorted(Fraction(*exact_pair(number)) for number in numbers)
    rank = part * (len(exact) - 1)
    low = math.floor(rank)
    high = min(low + 1, len(exact) - 1)
    return _result(exact[low] + (exact[high] - exact[low]) * (rank - low), numbers)


def share(values: Sequence[Value]) -> Optional:
    """Return the exact share of true values as a score; `optional.none()` for an empty list. Raises EvaluationError."""
    if not all(value.__class__ is bool for value in values):
        raise no_overload("share", values)
    return Optional(Score(sum(values), len(values))) if values else NONE


def rate(hits: Value, *whole: Value) -> Optional:
    """Return `rate(hits, total)` of two counts, or `rate(bools)`, as an exact score; `optional.none()` for a total of
    0. Raises EvaluationError."""
    if not whole and isinstance(hits, LIST):
        return share(hits)
    if not whole or not all(number.__class__ is int or number.__class__ is UInt for number in (hits, *whole)):
        raise no_overload("rate", hits, *whole)
    count = whole[0]
    if not 0 <= hits <= count:
        raise EvaluationError("a rate needs 0 <= hits <= total", "invalid_argument")
    return Optional(Score(int(hits), int(count))) if count else NONE


TABLE: Final[Table] = typed(
    {
        "sum": (total, LIST),
        "mean": (mean, LIST),
        "wmean": (weighted_mean, LIST, LIST),
        "wmean_present": (weighted_mean_present, Mapping, Mapping),
        "min": (_extreme("min", less), LIST),
        "max": (_extreme("max", lambda number, best: less(best, number)), LIST),
        "quantile": (quantile, LIST, object),
        "share": (share, LIST),
    }
) | {"rate": (rate, 1, 2)}
