"""CEL's math extension."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.operators import as_int
from rulewright_runtime.functions.table import Function, Table, not_nan, typed
from rulewright_runtime.score import Score
from rulewright_runtime.values import UINT_MAX, UInt, Value, is_number, less, no_overload


def _numbers(function: str, values: tuple[Value, ...]) -> Value:
    numbers = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    if not numbers:
        raise EvaluationError(f"`{function}` needs a number at least", "invalid_argument")
    if not all(is_number(number) for number in numbers):
        raise no_overload(function, *values)
    return numbers


def _best(function: str, is_better: Callable[[Value, Value], bool]) -> Function:
    """The function that returns the best of some numbers, given as arguments or as a list; of equal ones the first."""

    def best(*values: Any) -> Value:
        found, *others = _numbers(function, values)
        for number in others:
            if is_better(number, found):
                found = number
        return found

    return best


def _whole(rounded: Callable[[float], int]) -> Function:
    """The function that rounds a finite double to a whole one and keeps its sign."""

    def whole(number: float) -> float:
        return math.copysign(float(rounded(number)), number) if math.isfinite(number) else number

    return whole


def _half_away(number: float) -> int:
    """The nearest whole number; halves are rounded away from zero."""
    truncated = math.trunc(number)
    step = (1 if number > 0 else -1) if abs(number - truncated) >= 0.5 else 0
    return truncated + step


def absolute(value: Value) -> Value:
    """Return the absolute value of an int, uint or double. Raises EvaluationError."""
    if value.__class__ is int:
        return as_int(abs(value))
    if value.__class__ is UInt or value.__class__ is float:
        return value if value.__class__ is UInt else abs(value)
    raise no_overload("math.abs", value)


def sign(value: Value) -> Value:
    """Return -1, 0 or 1 in the type of the value; NaN for NaN. Raises EvaluationError."""
    kind = value.__class__
    if kind is int or kind is UInt or kind is float:
        return value if value != value else kind((value > 0) - (value < 0))
    raise no_overload("math.sign", value)


def square_root(value: Value) -> float:
    """Return the square root; NaN for a negative number. Raises EvaluationError."""
    if not is_number(value) or isinstance(value, Score):
        raise no_overload("math.sqrt", value)
    return math.sqrt(value) if value >= 0 else math.nan


def _bitwise(function: str, join: Callable[[int, int], int]) -> Function:
    """The bitwise function of two ints or two uints."""

    def joined(left: Value, right: Value) -> object:
        kind = left.__class__
        if kind is not right.__class__ or (kind is not int and kind is not UInt):
            raise no_overload(function, left, right)
        return kind(join(int(left), int(right)))

    return joined


def bit_not(value: object) -> object:
    """Bitwise complement of an int or a uint. Raises EvaluationError."""
    if value.__class__ is int:
        return ~value
    if value.__class__ is UInt:
        return UInt(UINT_MAX ^ int(value))
    raise no_overload("math.bitNot", value)


def _shift(function: str, value: object, offset: object) -> None:
    if (value.__class__ is not int and value.__class__ is not UInt) or offset.__class__ is not int:
        raise no_overload(function, value, offset)
    if offset < 0:
        raise EvaluationError(f"{function} negative offset: {offset}", "invalid_argument")


def _from_bits(value: object, bits: int) -> object:
    if value.__class__ is UInt:
        return UInt(bits)
    return bits - 2**64 if bits >> 63 else bits


def shift_left(value: Value, offset: Value) -> object:
    """Shift the 64 bits to the left; 0 for an offset of 64 or more."""
    _shift("math.bitShiftLeft", value, offset)
    return _from_bits(value, (int(value) << offset) & UINT_MAX if offset < 64 else 0)


def shift_right(value: Value, offset: Value) -> object:
    """Shift the 64 bits to the right, filling with zeros; 0 for an offset of 64 or more."""
    _shift("math.bitShiftRight", value, offset)
    return _from_bits(value, (int(value) & UINT_MAX) >> offset if offset < 64 else 0)


_MAX_ARGUMENTS: Final = 10_000
_ROUNDINGS: Final[Mapping[str, Callable[[float], int]]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round": _half_away,
    "trunc": math.trunc,
}
_TESTS: Final = {"isNaN": math.isnan, "isInf": math.isinf, "isFinite": math.isfinite}
_JOINS: Final = {"bitAnd": operator.and_, "bitOr": operator.or_, "bitXor": operator.xor}
TABLE: Final[Table] = {
    "math.greatest": (_best("math.greatest", lambda number, best: less(best, number)), 1, _MAX_ARGUMENTS),
    "math.least": (_best("math.least", less), 1, _MAX_ARGUMENTS),
    "math.abs": (absolute, 1, 1),
    "math.sign": (sign, 1, 1),
    "math.sqrt": (square_root, 1, 1),
    "math.bitNot": (bit_not, 1, 1),
    "math.bitShiftLeft": (shift_left, 2, 2),
    "math.bitShiftRight": (shift_right, 2, 2),
    **{f"math.{name}": (_bitwise(f"math.{name}", join), 2, 2) for name, join in _JOINS.items()},
    **typed({f"math.{name}": (_whole(rounded), float) for name, rounded in _ROUNDINGS.items()}),
    **typed({f"math.{name}": (test, float) for name, test in _TESTS.items()}),
}
PROFILE: Final[Table] = {"math.sqrt": (lambda value: not_nan(square_root(value)), 1, 1)}
