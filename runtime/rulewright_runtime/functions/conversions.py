"""Conversions between types: `int uint double string bytes bool timestamp duration type dyn`."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table, not_nan
from rulewright_runtime.functions.times import format_duration, format_timestamp, parse_duration, parse_timestamp
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import (
    INT_MAX,
    INT_MIN,
    NANOS,
    UINT_MAX,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    cel_type_name,
    no_overload,
)

_INT: Final = re.compile(r"[+-]?[0-9]{1,40}")
_UINT: Final = re.compile(r"\+?[0-9]{1,40}")
_DOUBLE: Final = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf(?:inity)?|nan", re.IGNORECASE
)
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def _bad(text: str, kind: str) -> EvaluationError:
    return EvaluationError(f"can't read `{text[:60]}` as {kind}", "invalid_argument")


def _range(kind: str) -> EvaluationError:
    return EvaluationError(f"{kind} out of range", "range")


def to_int(value: Value) -> int:
    """Convert a number (truncated towards zero), a string, or a timestamp (Unix seconds) to an int. Raises
    EvaluationError."""
    kind = value.__class__
    if kind is int:
        return int(value)
    if kind is UInt:
        number = int(value)
    elif kind is float:
        if not -(2.0**63) < value < 2.0**63:
            raise _range("int")
        number = int(value)
    elif kind is str:
        if _INT.fullmatch(value) is None:
            raise _bad(value, "an int")
        number = int(value)
    elif kind is Timestamp:
        number = value.nanos // NANOS
    else:
        raise no_overload("int", value)
    if not INT_MIN <= number <= INT_MAX:
        raise _range("int")
    return number


def to_uint(value: Value) -> UInt:
    """Convert a number (truncated towards zero) or a string to a uint. Raises EvaluationError."""
    kind = value.__class__
    if kind is UInt:
        return UInt(value)
    if kind is int:
        number = int(value)
    elif kind is float:
        if not -1.0 < value < 2.0**64 or value < 0:
            raise _range("uint")
        number = int(value)
    elif kind is str:
        if _UINT.fullmatch(value) is None:
            raise _bad(value, "a uint")
        number = int(value)
    else:
        raise no_overload("uint", value)
    if not 0 <= number <= UINT_MAX:
        raise _range("uint")
    return UInt(number)


def to_double(value: Value) -> float:
    """Convert a number or a string to a double. Raises EvaluationError."""
    kind = value.__class__
    if kind is float or kind is int or kind is UInt or kind is Score:
        try:
            return float(value)
        except OverflowError:
            raise _range("double") from None
    if kind is str:
        if len(value) > 1000 or _DOUBLE.fullmatch(value) is None:
            raise _bad(value, "a double")
        number = float(value)
        if math.isinf(number) and "n" not in value.lower():
            raise _range("double")
        return number
    raise no_overload("double", value)


def format_double(value: float) -> str:
    """Return the shortest digits that parse to the same double, with an exponent below 1e-4 and from 1e6, like `%g` in
    cel-go: `123456.5`, `1e+06`, `1e-05`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    sign, numbers, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, numbers))
    power = len(digits) + exponent - 1
    minus = "-" if sign else ""
    if power < -4 or power >= 6:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{minus}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"
    return f"{minus}{Decimal(repr(abs(value))).normalize():f}"


def to_string(value: Value) -> str:
    """Convert a scalar to a string: numbers in digits, bytes as UTF-8, timestamps in RFC 3339, durations in seconds.
    Raises EvaluationError."""
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is UInt:
        return str(int(value))
    if kind is float:
        return format_double(value)
    if kind is bytes:
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise EvaluationError("malformed UTF-8 bytes", "invalid_argument") from None
    if kind is Timestamp:
        return format_timestamp(value)
    if kind is Duration:
        return format_duration(value)
    if kind is Score:
        return format_double(leave(value))
    raise no_overload("string", value)


def to_bytes(value: object) -> bytes:
    """Convert a string to its UTF-8 bytes. Raises EvaluationError."""
    if value.__class__ is bytes:
        return bytes(value)
    if value.__class__ is str:
        try:
            return str(value).encode()
        except UnicodeEncodeError:
            raise EvaluationError("a text with unpaired surrogates has no UTF-8 bytes", "invalid_argument") from None
    raise no_overload("bytes", value)


def to_bool(value: object) -> bool:
    """Convert a string to a bool: `true`, `t`, `1`, `false` ... in lower, upper or title case. Raises
    EvaluationError."""
    if value.__class__ is bool:
        return bool(value)
    if value.__class__ is str:
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise _bad(value, "a bool")
    raise no_overload("bool", value)


def to_timestamp(value: object) -> Timestamp:
    """Convert a string in RFC 3339 or Unix seconds to a timestamp. Raises EvaluationError."""
    if value.__class__ is Timestamp:
        return Timestamp(value.nanos)
    if value.__class__ is str:
        return parse_timestamp(value)
    if value.__class__ is int:
        return Timestamp(value * NANOS)
    raise no_overload("timestamp", value)


def to_duration(value: object) -> Duration:
    """Convert a string such as `1h30m` to a duration. Raises EvaluationError."""
    if value.__class__ is Duration:
        return Duration(value.nanos)
    if value.__class__ is str:
        return parse_duration(value)
    raise no_overload("duration", value)


def type_of(value: Value) -> TypeValue:
    return TypeValue(cel_type_name(value))


TABLE: Final[Table] = {
    "int": (to_int, 1, 1),
    "uint": (to_uint, 1, 1),
    "double": (to_double, 1, 1),
    "string": (to_string, 1, 1),
    "bytes": (to_bytes, 1, 1),
    "bool": (to_bool, 1, 1),
    "timestamp": (to_timestamp, 1, 1),
    "duration": (to_duration, 1, 1),
    "type": (type_of, 1, 1),
    "dyn": (lambda value: leave(value) if value.__class__ is Score else value, 1, 1),
}
PROFILE: Final[Table] = {"double": (lambda value: not_nan(to_double(value)), 1, 1)}
