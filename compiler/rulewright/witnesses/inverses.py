"""What functions of the language have to be given to give a value, as far as that is known."""

import base64
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rulewright.proving.re2_syntax import samples
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.functions.conversions import to_string
from rulewright_runtime.functions.times import parse_timestamp
from rulewright_runtime.score import Score
from rulewright_runtime.values import Duration, Timestamp, Value

UNKNOWN: Final = object()  # an argument that reads variables
LONGEST: Final = 5_000  # characters of a text, and items of a list
_MOST_BEGINNINGS: Final = 30
# From the wanted result and the arguments that are constant: the number of an argument, and what it may be.
Inverse: TypeAlias = "Callable[[Any, Sequence[Any]], Iterator[tuple[int, Any]]]"


def _first(*makers: Callable[[Any], Value]) -> Inverse:
    """The inverse of a function of one argument; a maker may fail for a result that the function never gives."""

    def inverse(value: Any, _: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for maker in makers:
            try:
                found = maker(value)
            except (LookupError, ValueError, TypeError, AttributeError, OverflowError, RuntimeFailure):
                continue
            yield 0, found

    return inverse


def _same(value: Any) -> Value:
    return value


def _text_of(value: Any) -> str:
    """How a number, a bool or a time is written."""
    if isinstance(value, str) or not isinstance(value, bool | int | float | Score | Timestamp | Duration):
        raise TypeError
    return to_string(value)


def _sized(kind: Callable[[int], Value]) -> Callable[[Any], Value]:
    def made(value: Any) -> Value:
        if type(value) is not int or not 0 <= value <= LONGEST:
            raise ValueError
        return kind(value)

    return made


def _texts(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """A text that holds a part, at each of its ends and inside; where both are open, the same text twice."""
    part = others[-1]
    if part is UNKNOWN:
        yield from ((number, "so") for number in range(len(others)))
    for each in part if isinstance(part, list | tuple) else (part,):
        if isinstance(each, str):
            yield from ((0, text) for text in (each, f"{each} so", f"so {each}", f"so {each} so", f"o{each}o"))
    if isinstance(part, list | tuple) and all(isinstance(each, str) for each in part):
        yield 0, " ".join(part)


def _matching(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if isinstance(others[-1], str):
        yield from ((0, text) for text in samples(others[-1]))


def _similar(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Texts that are more and more like the known one: its beginnings."""
    for at, other in enumerate(others):
        if isinstance(other, str):
            yield from ((1 - at, other[:length]) for length in range(1, min(len(other), _MOST_BEGINNINGS) + 1))


def _added(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    one, two = others
    if isinstance(value, str | bytes | list):
        if one is UNKNOWN and two is UNKNOWN:
            half = len(value) // 2
            yield from ((0, value[:half]), (1, value[half:]), (0, value), (1, value[:0]))
        elif one is UNKNOWN and type(two) is type(value) and value[len(value) - len(two) :] == two:
            yield 0, value[: len(value) - len(two)]
        elif two is UNKNOWN and type(one) is type(value) and value[: len(one)] == one:
            yield 1, value[len(one) :]
    elif one is UNKNOWN and two is UNKNOWN:
        yield from _halves(value)
    else:
        yield from _number(value, lambda known: value - known, others)


def _halves(value: Any) -> Iterator[tuple[int, Any]]:
    if type(value) in (int, float):
        half = value // 2 if type(value) is int else value / 2
        yield from ((0, half), (1, value - half))
    elif isinstance(value, Timestamp | Duration):
        yield from ((0, value), (1, value))


def _number(value: Any, solved: Callable[[Any], Any], others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """The argument that is open, from the one that is known."""
    known = next((each for each in others if each is not UNKNOWN), None)
    if not all(isinstance(each, int | float | Score | Timestamp | Duration) for each in (value, known)):
        return
    try:
        found = solved(known)
    except (TypeError, ValueError, ArithmeticError, RuntimeFailure):
        return
    yield next(at for at, each in enumerate(others) if each is UNKNOWN), found


def _subtracted(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    one, two = others
    if one is UNKNOWN and two is UNKNOWN:
        yield from ((0, value), (1, value - value if type(value) in (int, float) else value))
    else:
        yield from _number(value, lambda known: value + known if one is UNKNOWN else known - value, others)


def _multiplied(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if others[0] is UNKNOWN and others[1] is UNKNOWN:
        if type(value) in (int, float) and 0 <= value < 1e15:
            root = math.isqrt(value) if type(value) is int else math.sqrt(value)
            yield from ((number, root + step) for number in (0, 1) for step in (0, 1))
        return
    for at, found in _number(value, lambda known: value / known, others):
        yield at, found
        if isinstance(found, float) and math.isfinite(found):
            yield at, math.floor(found)


def _divided(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if not (others[0] is UNKNOWN and others[1] is UNKNOWN):
        yield from _number(value, lambda known: value * known if others[0] is UNKNOWN else known / value, others)


def _modulo(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    yield 0, value
    if type(value) is int and type(others[1]) is int:
        yield 0, value + others[1]


def _split(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if isinstance(value, list | tuple) and isinstance(others[1], str):
        yield 0, others[1].join(map(str, value))


def _joined(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    separator = others[1] if len(others) > 1 else ""
    if isinstance(value, str) and isinstance(separator, str):
        yield 0, value.split(separator) if separator else [value]


def _replaced(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if isinstance(value, str):
        old, new = others[1], others[2]
        if isinstance(old, str):
            yield 0, value.replace(new, old) if isinstance(new, str) and new else value + old
        yield 0, value


def _placed(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """A text that has another one at an index."""
    start = others[1]
    if isinstance(value, str) and type(start) is int and 0 <= start <= LONGEST:
        yield 0, "o" * start + value
        yield 0, "o" * start + value + " so"


def _found_at(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if type(value) is int and 0 <= value <= LONGEST and isinstance(others[1], str):
        yield 0, "-" * value + others[1]


def _valid(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Records for a schema: one with all of its fields, then those without one, and with other values of one."""
    schema = others[1] if len(others) > 1 and isinstance(others[1], dict) else {}
    try:
        fields = {**{name: {} for name in schema.get("required", ())}, **schema.get("properties", {})}
        among = {name: list(_instances(each)) for name, each in fields.items()}
    except (TypeError, ValueError, AttributeError):  # no schema of a record
        return
    whole = {name: several[0] for name, several in among.items()}
    yield 0, whole
    yield from ((0, {key: each for key, each in whole.items() if key != name}) for name in whole)
    yield from ((0, {**whole, name: each}) for name, several in among.items() for each in several[1:])
    yield 0, {**whole, "so": True}


def _instances(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Values of one field of a schema, the first of which mostly is one that it takes."""
    yield from schema.get("enum", [schema["const"]] if "const" in schema else [])
    bounds = [schema[key] for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if key in schema]
    is_number = schema.get("type") in ("number", "integer") or bounds
    if is_number:
        low = max(schema.get(key, 0) for key in ("minimum", "exclusiveMinimum"))
        yield from (low + 1, low, low + 0.25, *(near for each in bounds for near in (each, each - 1, each + 1)))
    size = max(int(schema.get("minLength", 2)), 0)
    yield from samples(schema["pattern"]) if "pattern" in schema else ()
    usual: dict[str, Any] = {"boolean": True, "array": [], "object": {}, "string": "so".ljust(size, "o")}
    yield from (usual[schema["type"]],) if schema.get("type") in usual else ()
    yield from ("o" * int(schema[key]) for key in ("maxLength",) if key in schema)
    yield from ("so", 1, True)


def _any_argument(value: Any, others: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    yield from ((number, value) for number in range(len(others)))


_IDENTITY: Final = _first(_same)
INVERSES: Final[dict[str, Inverse]] = {
    **dict.fromkeys(("value", "orValue", "or", "optional.of", "score", "dyn", "distinct", "sort", "math.ceil",
                     "math.floor", "math.round", "math.trunc", "math.abs"), _IDENTITY),
    **dict.fromkeys(("first", "last"), _first(lambda value: [value])),
    **dict.fromkeys(("math.greatest", "math.least", "min", "max"), _any_argument),
    **dict.fromkeys(("contains", "startsWith", "endsWith", "contains_ci", "substring_ci", "same_text", "contains_any",
                     "contains_all", "contains_none", "has_any_word"), _texts),
    **dict.fromkeys(("indexOf", "lastIndexOf"), _found_at),
    **dict.fromkeys(("substring", "charAt"), _placed),
    **dict.fromkeys(("int", "uint", "double", "bool", "timestamp", "duration"), _first(_text_of, _same)),
    "base64.encode": _first(lambda text: base64.b64decode(text, validate=True)),
    "base64.decode": _first(lambda data: base64.b64encode(data).decode()),
    "bytes": _first(lambda data: data.decode()),
    "string": _first(str.encode, int, float, {"true": True, "false": False}.__getitem__, _same),
    "lowerAscii": _first(str.upper, str.title, _same),
    "upperAscii": _first(str.lower, str.title, _same),
    "trim": _first(lambda text: f" {text} ", _same),
    "reverse": _first(lambda value: value[::-1]),
    "size": _first(_sized(lambda count: "o" * count), _sized(lambda count: ["o"] * count), _sized(bytes)),
    "json": _first(json.dumps),
    "getFullYear": _first(lambda year: parse_timestamp(f"{year:04}-01-01T00:00:00Z")),
    "valid_against": _valid,
    "is_json": _first(lambda value: '{"a": 1}'),
    "hasValue": _first(lambda value: "so"),
    "-_": _first(lambda value: -value),
    **dict.fromkeys(("edit_distance", "edit_similarity", "rouge_l", "bleu", "word_overlap"), _similar),
    "matches": _matching,
    "_+_": _added,
    "_-_": _subtracted,
    "_*_": _multiplied,
    "_/_": _divided,
    "_%_": _modulo,
    "split": _split,
    "join": _joined,
    "replace": _replaced,
}  # fmt: skip
