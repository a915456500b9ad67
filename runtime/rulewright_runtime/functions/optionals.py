"""CEL's optional values. `or` and `orValue` are not functions: they evaluate their argument lazily."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.table import LIST, Table, typed
from rulewright_runtime.values import NONE, Duration, Optional, Timestamp, Value, no_overload


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


def value_of(value: Optional) -> Value:
    """Return the value of the optional. Raises EvaluationError when it is empty."""
    if not value.present:
        raise EvaluationError("optional.none() has no value", "no_value")
    return value.value


def unwrap(values: list[Value]) -> list[Value]:
    """Return the values of a list of optionals, without the empty ones."""
    if not all(isinstance(item, Optional) for item in values):
        raise no_overload("optional.unwrap", values)
    return [item.value for item in values if item.present]


TABLE: Final[Table] = typed(
    {
        "optional.of": (Optional, object),
        "optional.none": (lambda: NONE,),
        "optional.ofNonZeroValue": (lambda value: NONE if is_zero(value) else Optional(value), object),
        "hasValue": (lambda optional: optional.present, Optional),
        "value": (value_of, Optional),
        "optional.unwrap": (unwrap, LIST),
        "unwrapOpt": (unwrap, LIST),
    }
)
