"""CEL's math extension."""

from __future__ import annotations

import math
from typing import Any, Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.operators import as_int
from rulewright_runtime.functions.table import Table
from rulewright_runtime.score import Score
from rulewright_runtime.values import UINT_MAX, UInt, Value, is_number, less, no_overload


def _numbers(function: str, values: tuple[Value, ...]) -> Value:
    numbers = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    if not numbers:
        raise EvaluationError(f"`{function}` needs a number at least", "invalid_argument")
    if not all(is_number(number) for number in numbers):
        raise no_overload(function, *values)
    return numbers


def greatest(*values: Any) -> object:
    """Return the greatest of some numbers, given as arguments or as a list; of equal ones the first."""
    numbers = _numbers("math.greatest", values)
    best = numbers[0]
    for number in numbers[1:]:
        if less(best, number):
            best = number
    return best


def least(*values: Any) -> Value:
    """Return the least of some numbers, given as arguments or as a list; of equal ones the first."""
    numbers = _numbers("math.least", values)
    best = numbers[0]
    for number in numbers[1:]:
        if less(number, best):
            best = number
    return best


def _double(function: str, value: object) -> float:
    if value.__class__ is not float:
        raise no_overload(function, value)
    return float(value)


def _with_sign(number: int, value: float) -> float:
    return math.copysign(float(number), value)


def ceil(value: object) -> float:
    """Return the smallest whole double that is not less than the value."""
    number = _double("math.ceil", value)
    return _with_sign(math.ceil(number), number) if math.isfinite(number) else number


def floor(value: object) -> float:
    """Return the largest whole double that is not greater than the value."""
    number = _double("math.floor", value)
    return _with_sign(math.floor(number), number) if math.isfinite(number) else number


def round_half_away(value: object) -> float:
    """Return the nearest whole double; halves are rounded away from zero."""
    number = _double("math.round", value)
    if not math.isfinite(number):
        return number
    truncated = math.trunc(number)
    step = (1 if number > 0 else -1) if abs(number - truncated) >= 0.5 else 0
    return _with_sign(truncated + step, number)


def trunc(value: object) -> float:
    """Return the double without its fraction."""
    number = _double("math.trunc", value)
    return _with_sign(math.trunc(number), number) if math.isfinite(number) else number


def absolute(value: Value) -> Value:
    """Return the absolute value of an int, uint or double."""
    if value.__class__ is int:
        return as_int(abs(value))
    if value.__class__ is UInt or value.__class__ is float:
        return value if value.__class__ is UInt else abs(value)
    raise no_overload("math.abs", value)


def sign(value: Value) -> Value:
    """Return -1, 0 or 1 in the type of the value; NaN for NaN."""
    kind = value.__class__
    if kind is int or kind is UInt or kind is float:
        return value if value != value else kind((value > 0) - (value < 0))
    raise no_overload("math.sign", value)


def is_nan(value: object) -> bool:
    """Whether a double is NaN."""
    return math.isnan(_double("math.isNaN", value))


def is_inf(value: object) -> bool:
    """Whether a double is infinite."""
    return math.isinf(_double("math.isInf", value))


def is_finite(value: object) -> bool:
    """Whether a double is neither NaN nor infinite."""
    return math.isfinite(_double("math.isFinite", value))


def square_root(value: Value) -> float:
    """Return the square root; NaN for a negative number."""
    if not is_number(value) or isinstance(value, Score):
        raise no_overload("math.sqrt", value)
    return math.sqrt(value) if value >= 0 else math.nan


def _bits(function: str, left: Value, right: Value) -> Value:
    kind = left.__class__
    if kind is not right.__class__ or (kind is not int and kind is not UInt):
        raise no_overload(function, left, right)
    return kind


def bit_and(left: Value, right: Value) -> object:
    """Bitwise and of two ints or two uints."""
    return _bits("math.bitAnd", left, right)(int(left) & int(right))


def bit_or(left: Value, right: Value) -> object:
    """Bitwise or of two ints or two uints."""
    return _bits("math.bitOr", left, right)(int(left) | int(right))


def bit_xor(left: Value, right: Value) -> object:
    """Bitwise exclusive or of two ints or two uints."""
    return _bits("math.bitXor", left, right)(int(left) ^ int(right))


def bit_not(value: object) -> object:
    """Bitwise complement of an int or a uint."""
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

TABLE: Final[Table] = {
    "math.greatest": (greatest, 1, _MAX_ARGUMENTS),
    "math.least": (least, 1, _MAX_ARGUMENTS),
    "math.ceil": (ceil, 1, 1),
    "math.floor": (floor, 1, 1),
    "math.round": (round_half_away, 1, 1),
    "math.trunc": (trunc, 1, 1),
    "math.abs": (absolute, 1, 1),
    "math.sign": (sign, 1, 1),
    "math.isNaN": (is_nan, 1, 1),
    "math.isInf": (is_inf, 1, 1),
    "math.isFinite": (is_finite, 1, 1),
    "math.sqrt": (square_root, 1, 1),
    "math.bitAnd": (bit_and, 2, 2),
    "math.bitOr": (bit_or, 2, 2),
    "math.bitXor": (bit_xor, 2, 2),
    "math.bitNot": (bit_not, 1, 1),
    "math.bitShiftLeft": (shift_left, 2, 2),
    "math.bitShiftRight": (shift_right, 2, 2),
}
