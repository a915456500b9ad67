"""The extension libraries: strings, regex, math, lists, sets and encoders (cel-go `ext`).

`math.greatest` and `math.least` take any number of arguments; the checker reads three or more as one list.
"""

from __future__ import annotations

from typing import Final

from rulewright.expression.declarations.signature import Functions, table

_EXTREME = (
    "(int) -> int | (uint) -> uint | (double) -> double"
    " | (int, int) -> int | (uint, uint) -> uint | (double, double) -> double"
    " | (int, uint) -> dyn | (int, double) -> dyn | (uint, int) -> dyn | (uint, double) -> dyn"
    " | (double, int) -> dyn | (double, uint) -> dyn"
    " | (list(int)) -> int | (list(uint)) -> uint | (list(double)) -> double"
)
_ROUNDING = "(double) -> double"
_SAME_NUMBER = "(int) -> int | (uint) -> uint | (double) -> double"
_FLOAT_TEST = "(double) -> bool"
_BITS = "(int, int) -> int | (uint, uint) -> uint"
_SHIFT = "(int, int) -> int | (uint, int) -> uint"
_SEARCH = "string.(string) -> int | string.(string, int) -> int"
_TEXT = "string.() -> string"
_SETS = "(list(T), list(T)) -> bool"
COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

STRINGS: Final[Functions] = table(
    {
        "charAt": "string.(int) -> string",
        "indexOf": _SEARCH,
        "lastIndexOf": _SEARCH,
        "join": "list(string).() -> string | list(string).(string) -> string",
        "lowerAscii": _TEXT,
        "upperAscii": _TEXT,
        "trim": _TEXT,
        "replace": "string.(string, string) -> string | string.(string, string, int) -> string",
        "split": "string.(string) -> list(string) | string.(string, int) -> list(string)",
        "substring": "string.(int) -> string | string.(int, int) -> string",
        "format": "string.(list(dyn)) -> string",
        "reverse": "string.() -> string | list(T).() -> list(T)",
        "strings.quote": "(string) -> string",
        "regex.replace": "(string, string, string) -> string | (string, string, string, int) -> string",
        "regex.extract": "(string, string) -> optional_type(string)",
        "regex.extractAll": "(string, string) -> list(string)",
    }
)

MATH: Final[Functions] = table(
    {
        "math.greatest": _EXTREME,
        "math.least": _EXTREME,
        "math.ceil": _ROUNDING,
        "math.floor": _ROUNDING,
        "math.round": _ROUNDING,
        "math.trunc": _ROUNDING,
        "math.abs": _SAME_NUMBER,
        "math.sign": _SAME_NUMBER,
        "math.sqrt": "(int) -> double | (uint) -> double | (double) -> double",
        "math.isNaN": _FLOAT_TEST,
        "math.isInf": _FLOAT_TEST,
        "math.isFinite": _FLOAT_TEST,
        "math.bitAnd": _BITS,
        "math.bitOr": _BITS,
        "math.bitXor": _BITS,
        "math.bitNot": "(int) -> int | (uint) -> uint",
        "math.bitShiftLeft": _SHIFT,
        "math.bitShiftRight": _SHIFT,
    }
)

LISTS: Final[Functions] = table(
    {
        "slice": "list(T).(int, int) -> list(T)",
        "flatten": "list(dyn).() -> list(dyn) | list(dyn).(int) -> list(dyn)",
        "distinct": "list(T).() -> list(T)",
        "sort": " | ".join(f"list({t}).() -> list({t})" for t in COMPARABLE),
        "first": "list(T).() -> optional_type(T)",
        "last": "list(T).() -> optional_type(T)",
        "lists.range": "(int) -> list(int)",
        "sets.contains": _SETS,
        "sets.equivalent": _SETS,
        "sets.intersects": _SETS,
        "base64.encode": "(bytes) -> string",
        "base64.decode": "(string) -> bytes",
    }
)
