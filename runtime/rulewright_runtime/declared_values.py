"""Values of a declared type: the type as a signature names it, and the conversion of a result, part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rulewright_runtime.functions.table import check_list, check_text
from rulewright_runtime.values import INT_MAX, INT_MIN, Value, cel_type_name, make_map


class DeclaredType(NamedTuple):
    """A type by its name, such as `list`, and the types inside it."""

    name: str
    parts: tuple[DeclaredType, ...] = ()


class ResultTypeError(ValueError):
    """A value is not of its declared type."""


def split_arguments(text: str) -> list[str]:
    """The parts of `text` between commas outside parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def declared_type(text: str) -> DeclaredType:
    """The type that `text` names; the compiler has checked that it is one."""
    name, opened, rest = text.strip().partition("(")
    parts = map(declared_type, split_arguments(rest[:-1])) if opened else ()
    return DeclaredType(name.strip(), tuple(parts))


def fitting(declared: DeclaredType, value: Value) -> Value:
    """The value, after `from_host`, with every double as a float even if it is whole. A type that is not in `_PARTS`,
    such as `dyn`, allows any value of the language.

    Raises ResultTypeError if a part has another type, and EvaluationError if one is too large.
    """
    kind = declared if declared.name in _PARTS else DeclaredType(cel_type_name(value))
    convert = _PARTS.get(kind.name)
    if convert is not None:
        return convert(value, kind.parts)
    _require(kind.name != "unknown")
    return value


def _require(fits: bool) -> None:
    if not fits:
        raise ResultTypeError


def _list(value: Value, parts: tuple[DeclaredType, ...]) -> Value:
    _require(isinstance(value, list))
    check_list(len(value))
    (part,) = parts or (_DYN,)
    return [fitting(part, each) for each in value]


def _map(value: Value, parts: tuple[DeclaredType, ...]) -> Value:
    _require(isinstance(value, Mapping))
    check_list(len(value))
    key, part = parts or (_DYN, _DYN)
    return make_map([(fitting(key, name), fitting(part, each)) for name, each in value.items()])


def _bool(value: Value, _: object) -> Value:
    _require(isinstance(value, bool))
    return value


def _int(value: Value, _: object) -> Value:
    _require(isinstance(value, int) and not isinstance(value, bool) and INT_MIN <= value <= INT_MAX)
    return int(value)


def _double(value: Value, _: object) -> Value:
    _require(isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))
    return float(value)


def _string(value: Value, _: object) -> Value:
    _require(isinstance(value, str))
    check_text(len(value))
    return str.encode(value).decode()  # raises UnicodeEncodeError, a ValueError, for an unpaired surrogate


_DYN: Final = DeclaredType("dyn")
_PARTS: Final[Mapping[str, Callable[[Value, tuple[DeclaredType, ...]], Value]]] = {
    "list": _list, "map": _map, "bool": _bool, "int": _int, "double": _double, "string": _string,
}  # fmt: skip
