"""Values of a type, where what a condition compares with may be of another one or only a part of a record."""

from __future__ import annotations

from typing import Final

from rulewright.expression.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    SCORE,
    STRING,
    TIMESTAMP,
    UINT,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    WrapperType,
)  # fmt: skip
from rulewright_runtime.score import Score
from rulewright_runtime.values import NANOS, NONE, Duration, Optional, Timestamp, UInt, Value

_START_OF_2026: Final = 1_767_225_600
_USUAL: Final[dict[Type, Value]] = {
    BOOL: True, INT: 1, UINT: UInt(1), DOUBLE: 1.0, STRING: "so", BYTES: b"so", SCORE: Score(1, 2), DYN: "so",
    TIMESTAMP: Timestamp(_START_OF_2026 * NANOS), DURATION: Duration(NANOS),
}  # fmt: skip


class MisfitError(ValueError):
    """A value is of another type, or no value of a type is known."""


def usual_value(type_: Type) -> Value:
    """A value of the type. Raises MisfitError."""
    match type_:
        case EnumType(members=members):
            return members[0]
        case ListType():
            return []
        case MapType() | RecordType():
            return completed({}, type_)
        case OptionalType():
            return NONE
        case WrapperType():
            return None
    if type_ not in _USUAL:
        raise MisfitError
    return _USUAL[type_]


def completed(value: Value, type_: Type) -> Value:
    """The value, with usual values for the fields that its records lack. Raises MisfitError."""
    match type_:
        case RecordType(fields=fields, optional=optional) if isinstance(value, dict) and value.keys() <= fields.keys():
            lacking = {name: usual_value(t) for name, t in fields.items() if name not in optional | value.keys()}
            return {**lacking, **{name: completed(each, fields[name]) for name, each in value.items()}}
        case MapType(value=of) if isinstance(value, dict):
            return {key: completed(each, of) for key, each in value.items()}
        case ListType(element=of) if isinstance(value, list | tuple):
            return [completed(each, of) for each in value]
        case OptionalType(value=of) if isinstance(value, Optional):
            return Optional(completed(value.value, of)) if value.present else value
        case WrapperType(of=of):
            return None if value is None else completed(value, of)
        case EnumType(members=members) if value in members:
            return value
    if type_ != DYN and type(value) is not type(_USUAL.get(type_)):
        raise MisfitError
    return value
