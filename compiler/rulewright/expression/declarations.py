"""The functions that an expression may call, with their signatures as data.

`string.(string) -> bool` is a method, `(int, int) -> int` a function.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from rulewright.expression.types import Type, TypeParam, parse_type
from rulewright_runtime.declared_values import split_arguments
from rulewright_runtime.ir import NUMBERS

_SIGNATURE: Final = re.compile(r"(?:(?P<target>.+)\.)?\((?P<arguments>.*)\) -> (?P<result>.+)")


class Overload(Struct, frozen=True):
    """One signature of a function. `arguments` start with the target of a `method`; `generic` names the type
    parameters, which are inferred for every call."""

    arguments: tuple[Type, ...]
    result: Type
    method: bool = False
    generic: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The signature as in a table of signatures."""
        written = [str(a) for a in self.arguments]
        target = f"{written.pop(0)}." if self.method else ""
        return f"{target}({', '.join(written)}) -> {self.result}"

    def written(self, name: str) -> str:
        """`size(string) -> int`, or `string.contains(string) -> bool` for a method."""
        target, arguments = (f"{self.arguments[0]}.", self.arguments[1:]) if self.method else ("", self.arguments)
        return f"{target}{name}({', '.join(map(str, arguments))}) -> {self.result}"


Functions: TypeAlias = Mapping[str, tuple[Overload, ...]]


def overload(arguments: tuple[Type, ...], result: Type, method: bool = False) -> Overload:
    """The overload with these types and the type parameters in them."""
    generic = dict.fromkeys(name for t in (*arguments, result) for name in parameters(t))
    return Overload(arguments, result, method, tuple(generic))


def parameters(t: Type) -> list[str]:
    """The names of the type parameters in `t`, in order."""
    return [t.name] if isinstance(t, TypeParam) else [name for inner in t.params for name in parameters(inner)]


def parse_signature(text: str) -> Overload:
    """The overload with the signature `text`. Raises ValueError if `text` is not a signature."""
    match = _SIGNATURE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"`{text}` is not a signature")
    target, arguments = match["target"], match["arguments"]
    types = [parse_type(each) for each in split_arguments(arguments)] if arguments.strip() else []
    if target:
        types.insert(0, parse_type(target))
    return overload(tuple(types), parse_type(match["result"]), bool(target))


def table(rows: Mapping[str, str]) -> dict[str, tuple[Overload, ...]]:
    """The functions of a table that maps a name to signatures separated by `|`."""
    return {name: tuple(parse_signature(s) for s in text.split("|")) for name, text in rows.items()}


# The functions of plain CEL. Source: CEL language definition, "List of Standard Definitions"; the optional syntax is
# cel-go's.
def _each(pattern: str, names: str) -> str:
    """`pattern` once for every name, with `@` replaced by it."""
    return " | ".join(pattern.replace("@", name) for name in names.split())


_ORDERED = "bool int uint double string bytes timestamp duration"
_ORDER = _each("(@, @) -> bool", _ORDERED) + (
    " | (int, uint) -> bool | (int, double) -> bool | (uint, int) -> bool | (uint, double) -> bool"
    " | (double, int) -> bool | (double, uint) -> bool"
)
_CALENDAR = "timestamp.() -> int | timestamp.(string) -> int"
_CLOCK = _CALENDAR + " | duration.() -> int"
_TEXT_METHOD = "string.(string) -> bool"

STANDARD_OPERATORS: Final[Functions] = table(
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

_TO_INT = "int uint double string timestamp"

STANDARD: Final[Functions] = table(
    {
        "size": _each("(@) -> int", "string bytes list(T) map(K,V)")
        + " | "
        + _each("@.() -> int", "string bytes list(T) map(K,V)"),
        "matches": "(string, string) -> bool | string.(string) -> bool",
        "contains": _TEXT_METHOD,
        "startsWith": _TEXT_METHOD,
        "endsWith": _TEXT_METHOD,
        "type": "(T) -> type(T)",
        "dyn": "(T) -> dyn",
        "bool": _each("(@) -> bool", "bool string"),
        "bytes": _each("(@) -> bytes", "bytes string"),
        "double": _each("(@) -> double", "double int uint string"),
        "duration": _each("(@) -> duration", "duration int string"),
        "int": _each("(@) -> int", f"{_TO_INT} duration"),
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

# The extension libraries of cel-go (`ext`): strings, regex, math, lists, sets and encoders. `math.greatest` and
# `math.least` take any number of arguments; the checker reads three or more as one list.
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

# The additions of the profile: mixed arithmetic, exact scores, and statistics that are absent without a value.


def _joined(left: str, right: str) -> str:
    """The common type of two number types."""
    return "score" if "score" in (left, right) else "double" if "double" in (left, right) else "int"


def _mixed(result: str = "") -> str:
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS if a != b or a == "score"]
    return " | ".join(f"({a}, {b}) -> {result or _joined(a, b)}" for a, b in pairs)


_ARITHMETIC = _mixed()
_TEXT_TEST = "(string, string) -> bool | string.(string) -> bool"
_STATISTIC = (
    "(list(score)) -> optional_type(score) | (list(double)) -> optional_type(double)"
    " | (list(int)) -> optional_type(double) | (list(uint)) -> optional_type(double)"
)
_SAME = (
    "(list(score)) -> optional_type(score) | (list(double)) -> optional_type(double)"
    " | (list(int)) -> optional_type(int) | (list(uint)) -> optional_type(uint)"
)

PROFILE_OPERATORS: Final[Functions] = table(
    {
        "-_": "(score) -> score",
        "_<_": _mixed("bool"),
        "_<=_": _mixed("bool"),
        "_>_": _mixed("bool"),
        "_>=_": _mixed("bool"),
        "_==_": _mixed("bool"),
        "_!=_": _mixed("bool"),
        "_+_": _ARITHMETIC,
        "_-_": _ARITHMETIC,
        "_*_": _ARITHMETIC,
        "_/_": _ARITHMETIC,
        "_%_": "(int, uint) -> int | (uint, int) -> int",
        "@in": " | ".join(f"({a}, list({b})) -> bool" for a in NUMBERS for b in NUMBERS if a != b),
    }
)

PROFILE: Final[Functions] = table(
    {
        "score": "(score) -> score | (double) -> score | (int) -> score | (uint) -> score",
        "double": "(score) -> double",
        "sum": _SAME.replace("optional_type(uint)", "optional_type(int)"),
        "min": _SAME,
        "max": _SAME,
        "mean": _STATISTIC,
        "quantile": " | ".join(s.strip().replace(") ->", ", double) ->", 1) for s in _STATISTIC.split("|")),
        "wmean": " | ".join(
            f"(list({value}), list({weight})) -> optional_type({'score' if value == 'score' else 'double'})"
            for value in NUMBERS
            for weight in ("double", "int", "uint", "score")
        ),
        "wmean_present": "(map(string, dyn), map(string, dyn)) -> optional_type(score)",
        "share": "(list(bool)) -> optional_type(score)",
        "rate": "(list(bool)) -> optional_type(score) | (int, int) -> optional_type(score)",
        "contains_ci": _TEXT_TEST,
        "substring_ci": _TEXT_TEST,
    }
)

# Functions about replies: phrases, lengths, similarity, personal data, JSON, and the tools that were called.
_PHRASES: Final = "(string, list(string)) -> bool"
_FOUND: Final = "(string) -> list(string)"
_LIKE: Final = "(string, string) -> double"

REPLIES: Final[Functions] = table(
    {
        "contains_any": _PHRASES,
        "contains_all": _PHRASES,
        "contains_none": _PHRASES,
        "has_any_word": _PHRASES,
        "same_text": "(string, string) -> bool",
        "word_count": "(string) -> int",
        "sentence_count": "(string) -> int",
        "scripts": _FOUND,
        "urls": _FOUND,
        "citations": "(string) -> list(int)",
        "numbers": _FOUND,
        "code_blocks": _FOUND,
        "is_refusal": "(string) -> bool",
        "edit_distance": "(string, string) -> int",
        "edit_similarity": _LIKE,
        "rouge_l": _LIKE,
        "bleu": _LIKE,
        "word_overlap": _LIKE,
        "emails": _FOUND,
        "phone_numbers": _FOUND,
        "ibans": _FOUND,
        "card_numbers": _FOUND,
        "personal_data": _FOUND,
        "json": "(string) -> dyn",
        "is_json": "(string) -> bool",
        "valid_against": "(dyn, map(string, dyn)) -> bool",
        "called": "(list(dyn), string) -> bool | (list(dyn), string, map(string, dyn)) -> bool",
        "call_count": "(list(dyn), string) -> int",
        "called_in_order": "(list(dyn), list(string)) -> bool",
    }
)


@cache
def strict_functions() -> Functions:
    """The functions of plain CEL with its extension libraries."""
    libraries = (STANDARD_OPERATORS, STANDARD, STRINGS, MATH, LISTS)
    return _merged(*libraries)


@cache
def profile_functions() -> Functions:
    """The functions of rule files: plain CEL and the additions of the profile, without what CEL declares only."""
    durations = {"duration": _each("(@) -> duration", "duration string"), "int": _each("(@) -> int", _TO_INT)}
    return {**_merged(strict_functions(), PROFILE_OPERATORS, PROFILE, REPLIES), **table(durations)}


def _merged(*tables: Functions) -> Functions:
    merged: dict[str, tuple[Overload, ...]] = {}
    for rows in tables:
        for name, overloads in rows.items():
            merged[name] = tuple(dict.fromkeys(merged.get(name, ()) + overloads))
    return merged
