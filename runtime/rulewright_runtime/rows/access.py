"""Fields and elements: selection, indexing and presence, also through optionals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions import operators
from rulewright_runtime.functions.operators import list_place, no_such_key
from rulewright_runtime.values import NONE, Optional, find, no_overload


def no_such_name(name: str) -> EvaluationError:
    """The error of a name that the bindings lack."""
    return EvaluationError(f"no such name: `{name}`", "no_such_name")


def select(value: Any, field: str) -> Any:
    """`value.field`; of an optional, the optional field of what it holds. EvaluationError for an absent key."""
    if isinstance(value, Mapping):
        found = find(value, field)
        if not found.present:
            raise no_such_key(field)
        return found.value
    if isinstance(value, Optional):
        return optional_select(value, field)
    raise no_overload(f"selection of `{field}`", value)


def optional_select(value: Any, field: str) -> Optional:
    """`value.?field`: an optional, empty for an absent key."""
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    if isinstance(value, Mapping):
        return find(value, field)
    raise no_overload(f"selection of `{field}`", value)


def has(value: Any, field: str) -> bool:
    """Whether `value` has the field."""
    return optional_select(value, field).present


def index(value: Any, key: Any) -> Any:
    """`value[key]`; of an optional, the optional element of what it holds."""
    return optional_index(value, key) if isinstance(value, Optional) else operators.index(value, key)


def optional_index(value: Any, key: Any) -> Optional:
    """`value[?key]`: an optional, empty for an absent key and an index out of bounds."""
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value
    if isinstance(value, Mapping):
        return find(value, key)
    if isinstance(value, (list, tuple)):
        place = list_place(value, key)
        return NONE if place is None else Optional(value[place])
    raise no_overload("_[?_]", value, key)
