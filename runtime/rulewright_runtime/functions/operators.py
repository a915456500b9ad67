"""The operators of strict CEL: arithmetic with overflow checks, equality, order, membership, indexing, size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table, check_list, check_text
from rulewright_runtime.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Timestamp,
    UInt,
    Value,
    equal,
    find,
    less,
    less_equal,
    no_overload,
)


def as_int(number: int) -> int:
    """Return `number`. Raises EvaluationError unless it fits in 64 signed bits."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationError("integer overflow", "overflow")


def as_uint(number: int) -> UInt:
    """Return `number` as a uint. Raises EvaluationError unless it fits in 64 unsigned bits."""
    if 0 <= number <= UINT_MAX:
        return UInt(number)
    raise EvaluationError("unsigned integer overflow", "overflow")


def add(left: Value, right: Value) -> Value:
    """`left + right`: numbers of one type, strings, bytes, lists, timestamps and durations.

    A sum of durations must fit in 64 bits of nanoseconds. Raises EvaluationError.
    """
    a, b = left.__class__, right.__class__
    if a is b:
        if a is float:
            return left + right
        if a is int:
            return as_int(left + right)
        if a is str or a is bytes:
            check_text(len(left) + len(right))
            return left + right
        if a is UInt:
            return as_uint(int(left) + int(right))
        if a is Duration:
            return Duration(as_int(left.nanos + right.nanos))
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        check_list(len(left) + len(right))
        return [*left, *right]
    if (a is Timestamp and b is Duration) or (a is Duration and b is Timestamp):
        return Timestamp(left.nanos + right.nanos)
    raise no_overload("_+_", left, right)


def subtract(left: Value, right: Value) -> object:
    """`left - right`; a resulting duration must fit in 64 bits of nanoseconds. Raises EvaluationError."""
    a, b = left.__class__, right.__class__
    if a is b:
        if a is float:
            return left - right
        if a is int:
            return as_int(left - right)
        if a is UInt:
            return as_uint(int(left) - int(right))
        if a is Duration:
            return Duration(as_int(left.nanos - right.nanos))
        if a is Timestamp:
            return Duration(as_int(left.nanos - right.nanos))
    if a is Timestamp and b is Duration:
        return Timestamp(left.nanos - right.nanos)
    raise no_overload("_-_", left, right)


def multiply(left: Value, right: Value) -> object:
    """`left * right` of numbers of one type. Raises EvaluationError."""
    a = left.__class__
    if a is right.__class__:
        if a is float:
            return left * right
        if a is int:
            return as_int(left * right)
        if a is UInt:
            return as_uint(int(left) * int(right))
    raise no_overload("_*_", left, right)


def divide(left: Value, right: Value) -> object:
    """`left / right`: integer division truncates towards zero, doubles follow IEEE 754. Raises EvaluationError."""
    a = left.__class__
    if a is right.__class__:
        if a is float:
            return _divide_doubles(left, right)
        if a is int or a is UInt:
            if right == 0:
                raise EvaluationError("divide by zero", "divide_by_zero")
            quotient = abs(int(left)) // abs(int(right))
            return UInt(quotient) if a is UInt else as_int(quotient if (left < 0) == (right < 0) else -quotient)
    raise no_overload("_/_", left, right)


def _divide_doubles(left: float, right: float) -> float:
    if right != 0.0:
        return left / right
    if left == 0.0 or left != left:
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, left) * math.copysign(1.0, right))


def modulo(left: Value, right: Value) -> object:
    """`left % right`: the remainder has the sign of `left`. Raises EvaluationError."""
    a = left.__class__
    if a is right.__class__ and (a is int or a is UInt):
        if right == 0:
            raise EvaluationError("modulus by zero", "divide_by_zero")
        if a is UInt:
            return UInt(int(left) % int(right))
        if left == INT_MIN and right == -1:
            raise EvaluationError("integer overflow", "overflow")
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest
    raise no_overload("_%_", left, right)


def negate(value: object) -> object:
    """`-value` of an int or a double. Raises EvaluationError."""
    if value.__class__ is int:
        return as_int(-value)
    if value.__class__ is float:
        return -value
    raise no_overload("-_", value)


def is_in(value: object, container: object) -> bool:
    """`value in container`: an element of a list, or a key of a map. Raises EvaluationError."""
    if isinstance(container, (list, tuple)):
        if value.__class__ is str:
            return value in container
        return any(equal(value, item) for item in container)
    if isinstance(container, Mapping):
        return find(container, value).present
    raise no_overload("@in", value, container)


def index(container: Value, key: Value) -> Value:
    """`container[key]`. Raises EvaluationError for a missing key and an index out of bounds."""
    if isinstance(container, (list, tuple)):
        at = list_index(container, key)
        if at is None:
            raise EvaluationError(f"index out of bounds: {key}", "index_out_of_bounds")
        return container[at]
    if isinstance(container, Mapping):
        entry = find(container, key)
        if not entry.present:
            raise no_such_key(key)
        return entry.value
    raise no_overload("_[_]", container, key)


def no_such_key(key: object) -> EvaluationError:
    """Return the error for a missing key of a map."""
    shown = key if isinstance(key, str) and len(key) < 80 else repr(key)[:80]
    return EvaluationError(f"no such key: `{shown}`", "no_such_key", key)


def list_index(container: Value, key: Value) -> int | None:
    """Return `key` as an index of a list, or None out of bounds. Raises EvaluationError unless it is a whole number."""
    if key.__class__ is float and key.is_integer():
        key = int(key)
    if key.__class__ is not int and key.__class__ is not UInt:
        raise no_overload("_[_]", container, key)
    return int(key) if 0 <= key < len(container) else None


def size(value: Value) -> int:
    """Return the number of code points, bytes, elements or entries. Raises EvaluationError."""
    if isinstance(value, (str, bytes, list, tuple, Mapping)):
        return len(value)
    raise no_overload("size", value)


TABLE: Final[Table] = {
    "_+_": (add, 2, 2),
    "_-_": (subtract, 2, 2),
    "_*_": (multiply, 2, 2),
    "_/_": (divide, 2, 2),
    "_%_": (modulo, 2, 2),
    "-_": (negate, 1, 1),
    "_==_": (equal, 2, 2),
    "_!=_": (lambda left, right: not equal(left, right), 2, 2),
    "_<_": (less, 2, 2),
    "_<=_": (less_equal, 2, 2),
    "_>_": (lambda left, right: less(right, left), 2, 2),
    "_>=_": (lambda left, right: less_equal(right, left), 2, 2),
    "@in": (is_in, 2, 2),
    "_[_]": (index, 2, 2),
    "size": (size, 1, 1),
}
