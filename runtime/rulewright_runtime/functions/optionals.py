"""CEL's optional values. `or` and `orValue` are not functions: they evaluate their argument lazily."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import Table
from rulewright_runtime.values import NONE, Duration, Optional, Timestamp, Value, no_overload


def of(value: Value) -> Optional:
    """Return an optional with the value."""
    return Optional(value)


def none() -> Optional:
    """Return the empty optional."""
    return NONE


def is_zero(value: object) -> bool:
    """Whether a value is the zero of its type: null, false, 0, empty."""
    if value is None:
        return True
    if isinstance(value, (Timestamp, Duration)):
        return value.nanos == 0
    if isinstance(value, Optional):
        return not value.present
    if isinstance(value, (bool, int, float)):
        return value == 0
    return isinstance(value, (str, bytes, list, tuple, Mapping)) and len(value) == 0


def of_non_zero(value: object) -> Optional:
    """Return an optional with the value, or the empty one for the zero of its type."""
    return NONE if is_zero(value) else Optional(value)


def has_value(value: object) -> bool:
    """Whether the optional has a value."""
    if not isinstance(value, Optional):
        raise no_overload("hasValue", value)
    return value.present


def value_of(value: object) -> object:
    """Return the value of the optional. Raises EvaluationError when it is empty."""
    if not isinstance(value, Optional):
        raise no_overload("value", value)
    if not value.present:
        raise EvaluationError("optional.none() has no value", "no_value")
    return value.value


def unwrap(values: object) -> list[object]:
    """Return the values of a list of optionals, without the empty ones."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(item, Optional) for item in values):
        raise no_overload("optional.unwrap", values)
    return [item.value for item in values if item.present]


TABLE: Final[Table] = {
    "optional.of": (of, 1, 1),
    "optional.none": (none, 0, 0),
    "optional.ofNonZeroValue": (of_non_zero, 1, 1),
    "hasValue": (has_value, 1, 1),
    "value": (value_of, 1, 1),
    "optional.unwrap": (unwrap, 1, 1),
    "unwrapOpt": (unwrap, 1, 1),
}
