"""`text.format(arguments)`: the clauses %s %d %f %e %b %o %x %X (CEL specification, extensions, strings)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.conversions import to_string
from rulewright_runtime.functions.table import LIST, Table, check_text, typed
from rulewright_runtime.functions.times import format_timestamp
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import (
    MAX_DEPTH,
    NANOS,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    cel_type_name,
    too_large,
)

_MAX_PRECISION: Final = 1000
_INVALID: Final = re.compile("[\udc80-\udcff]+")  # surrogate escapes of bytes that are not UTF-8
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def format_text(template: str, arguments: list[Value]) -> str:
    """Replace each clause of `template` by the next argument. Raises EvaluationError for an unknown clause, and for an
    argument that is missing or of the wrong type."""
    parts: list[str] = []
    length = position = used = 0
    while True:
        percent = template.find("%", position)
        parts.append(template[position:] if percent < 0 else template[position:percent])
        length += len(parts[-1])
        check_text(length)
        if percent < 0:
            return "".join(parts)
        if template.startswith("%", percent + 1):
            parts.append("%")
            position = percent + 2
            continue
        precision, letter, position = _clause(template, percent + 1)
        if used >= len(arguments):
            raise EvaluationError(f"index {used} out of range", "invalid_argument")
        parts.append(_CLAUSES[letter](arguments[used], precision))
        length += len(parts[-1])
        used += 1


def _clause(template: str, position: int) -> tuple[int | None, str, int]:
    precision = None
    if template.startswith(".", position):
        end = position + 1
        while end < len(template) and template[end] in "0123456789":
            end += 1
        if end == position + 1 or end - position > 5 or int(template[position + 1 : end]) > _MAX_PRECISION:
            raise EvaluationError("a precision in a format is a whole number up to 1000", "invalid_argument")
        precision, position = int(template[position + 1 : end]), end
    if position >= len(template):
        raise EvaluationError("unexpected end of a format", "invalid_argument")
    letter = template[position]
    if letter not in _CLAUSES:
        raise EvaluationError(f"unknown formatting clause `{letter}`", "invalid_argument")
    return precision, letter, position + 1


def _refuse(clause: str, expected: str, value: object) -> EvaluationError:
    actual = cel_type_name(value)
    return EvaluationError(f"{clause} clause can only be used on {expected}, was given {actual}", "invalid_argument")


def _string(value: object, _: int | None) -> str:
    out: list[str] = []
    try:
        _write(value, out, [0], 0)
    except RecursionError:
        raise too_large() from None
    return "".join(out)


def _write(value: object, out: list[str], length: list[int], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise too_large()
    if isinstance(value, (list, tuple)):
        _write_all(value, "[", "]", out, length, depth)
    elif isinstance(value, Mapping):
        pairs = sorted(((_map_key(key), item) for key, item in value.items()), key=lambda pair: pair[0])
        _write_all(pairs, "{", "}", out, length, depth)
    else:
        out.append(_scalar(value))
        length[0] += len(out[-1])
        check_text(length[0])


def _write_all(items: Value, opening: str, closing: str, out: list[str], length: list[int], depth: int) -> None:
    out.append(opening)
    for number, item in enumerate(items):
        if number:
            out.append(", ")
        length[0] += 3
        check_text(length[0])
        if opening == "{":
            out.append(f"{item[0]}: ")
            item = item[1]
        _write(item, out, length, depth + 1)
    out.append(closing)


def _map_key(key: object) -> str:
    if isinstance(key, (str, bool, int)):
        return to_string(key if isinstance(key, (bool, UInt, str)) else int(key))
    raise _refuse("string", "maps with bool, int, uint and string keys", key)


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if value.__class__ is float:
        return _digits(value)
    if value.__class__ is Score:
        return _digits(leave(value))
    if value.__class__ is bytes:
        return _INVALID.sub("\ufffd", bytes(value).decode("utf-8", "surrogateescape"))
    if value.__class__ is TypeValue:
        return str(value.name)
    if value.__class__ is Timestamp:
        return format_timestamp(value, trim=True)
    if value.__class__ is Duration:
        seconds, nanos = divmod(abs(value.nanos), NANOS)
        return f"{'-' if value.nanos < 0 else ''}{_digits(seconds + nanos / NANOS)}s"
    if value.__class__ in (bool, int, UInt, str):
        return to_string(value)
    raise _refuse("string", "strings, bools, bytes, ints, doubles, maps, lists, types, durations and timestamps", value)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "" if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _digits(value: float) -> str:
    """Return the shortest decimal that parses to the same double, without an exponent."""
    return _special(value) or f"{Decimal(repr(value)).normalize():f}"


def _decimal(value: object, _: int | None) -> str:
    if value.__class__ is int or value.__class__ is UInt:
        return str(int(value))
    if value.__class__ is float:
        return _digits(value)
    raise _refuse("decimal", "numbers", value)


def _double(value: object, clause: str) -> float:
    if value.__class__ is str and value in _SPECIAL:
        return _SPECIAL[value]
    if value.__class__ in (int, UInt, float):
        return float(value)
    if value.__class__ is Score:
        return leave(value)
    raise _refuse(clause, "numbers", value)


def _float(clause: str, letter: str) -> Callable[[object, int | None], str]:
    def written(value: object, precision: int | None) -> str:
        number = _double(value, clause)
        return _special(number) or f"{number:.{6 if precision is None else precision}{letter}}"

    return written


def _whole(clause: str, expected: str, letter: str, *kinds: type) -> Callable[[object, int | None], str]:
    def written(value: Value, _: int | None) -> str:
        if value.__class__ in (int, UInt, *kinds):
            return format(value, letter)
        raise _refuse(clause, expected, value)

    return written


def _hex(value: Value, _: int | None) -> str:
    if value.__class__ is str:
        return value.encode("utf-8", "replace").hex()
    return bytes(value).hex() if value.__class__ is bytes else _HEX(value, _)


_HEX: Final = _whole("hex", "integers, bytes and strings", "x")
_CLAUSES: Final[Mapping[str, Callable[[object, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _float("fixed-point", "f"),
    "e": _float("scientific", "e"),
    "b": _whole("binary", "integers and bools", "b", bool),
    "o": _whole("octal", "integers", "o"),
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}

TABLE: Final[Table] = typed({"format": (format_text, str, LIST)})
