"""The functions every CEL expression has: operators, conversions, sizes, text tests, timestamps, optionals.

Source: CEL language definition, "List of Standard Definitions"; the optional syntax is cel-go's.
"""

from __future__ import annotations

from typing import Final

from rulewright.expression.declarations.signature import Functions, table


def _each(pattern: str, names: str) -> str:
    """`pattern` once for every name, in place of `@`."""
    return " | ".join(pattern.replace("@", name) for name in names.split())


_ORDERED = "bool int uint double string bytes timestamp duration"
_ORDER = _each("(@, @) -> bool", _ORDERED) + (
    " | (int, uint) -> bool | (int, double) -> bool | (uint, int) -> bool | (uint, double) -> bool"
    " | (double, int) -> bool | (double, uint) -> bool"
)
_CALENDAR = "timestamp.() -> int | timestamp.(string) -> int"
_CLOCK = _CALENDAR + " | duration.() -> int"
_TEXT_TEST = "string.(string) -> bool"

OPERATORS: Final[Functions] = table(
    {
        "_?_:_": "(bool, T, T) -> T",
        "!_": "(bool) -> bool",
        "-_": "(int) -> int | (double) -> double",
        "_==_": "(T, T) -> bool",
        "_!=_": "(T, T) -> bool",
        "_<_": _ORDER,
        "_<=_": _ORDER,
        "_>_": _ORDER,
        "_>=_": _ORDER,
        "_+_": _each("(@, @) -> @", "int uint double string bytes duration")
        + " | (list(T), list(T)) -> list(T)"
        + " | (duration, timestamp) -> timestamp | (timestamp, duration) -> timestamp",
        "_-_": _each("(@, @) -> @", "int uint double duration")
        + " | (timestamp, timestamp) -> duration | (timestamp, duration) -> timestamp",
        "_*_": _each("(@, @) -> @", "int uint double"),
        "_/_": _each("(@, @) -> @", "int uint double"),
        "_%_": _each("(@, @) -> @", "int uint"),
        "@in": "(T, list(T)) -> bool | (T, map(T, V)) -> bool",
        "_[_]": "(list(T), int) -> T | (map(K, V), K) -> V"
        " | (optional_type(list(T)), int) -> optional_type(T) | (optional_type(map(K, V)), K) -> optional_type(V)",
        "_[?_]": "(list(T), int) -> optional_type(T) | (map(K, V), K) -> optional_type(V)"
        " | (optional_type(list(T)), int) -> optional_type(T) | (optional_type(map(K, V)), K) -> optional_type(V)",
    }
)

FUNCTIONS: Final[Functions] = table(
    {
        "size": _each("(@) -> int", "string bytes list(T) map(K,V)")
        + " | "
        + _each("@.() -> int", "string bytes list(T) map(K,V)"),
        "matches": "(string, string) -> bool | string.(string) -> bool",
        "contains": _TEXT_TEST,
        "startsWith": _TEXT_TEST,
        "endsWith": _TEXT_TEST,
        "type": "(T) -> type(T)",
        "dyn": "(T) -> dyn",
        "bool": _each("(@) -> bool", "bool string"),
        "bytes": _each("(@) -> bytes", "bytes string"),
        "double": _each("(@) -> double", "double int uint string"),
        "duration": _each("(@) -> duration", "duration int string"),
        "int": _each("(@) -> int", "int uint double string timestamp duration"),
        "string": _each("(@) -> string", "string bool bytes double duration int timestamp uint"),
        "timestamp": _each("(@) -> timestamp", "timestamp int string"),
        "uint": _each("(@) -> uint", "uint int double string"),
        "getFullYear": _CALENDAR,
        "getMonth": _CALENDAR,
        "getDayOfYear": _CALENDAR,
        "getDayOfMonth": _CALENDAR,
        "getDate": _CALENDAR,
        "getDayOfWeek": _CALENDAR,
        "getHours": _CLOCK,
        "getMinutes": _CLOCK,
        "getSeconds": _CLOCK,
        "getMilliseconds": _CLOCK,
        "optional.of": "(T) -> optional_type(T)",
        "optional.ofNonZeroValue": "(T) -> optional_type(T)",
        "optional.none": "() -> optional_type(T)",
        "optional.unwrap": "(list(optional_type(T))) -> list(T)",
        "unwrapOpt": "list(optional_type(T)).() -> list(T)",
        "hasValue": "optional_type(T).() -> bool",
        "value": "optional_type(T).() -> T",
        "or": "optional_type(T).(optional_type(T)) -> optional_type(T)",
        "orValue": "optional_type(T).(T) -> T",
    }
)
