"""What of a policy is no condition: numbers, words and lists, each by the keys that lead to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from rulewright.proving.atoms import unabridged
from rulewright_runtime.ir import Program


def flat(place: str, value: Any, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Every leaf below a value by its place, but not what stands below one of the keys that are left out: dotted paths
    that start at the value."""
    return dict(_leaves(place, value, {f"{place}.{key}" for key in leave_out}))


def _leaves(place: str, value: Any, leave_out: Collection[str]) -> Iterator[tuple[str, Any]]:
    if place in leave_out:
        return
    if isinstance(value, Program):
        yield place, unabridged(value)
    elif isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        if tag is not None:
            yield f"{place}.{value.__struct_config__.tag_field}", tag
        for field in value.__struct_fields__:
            yield from _leaves(f"{place}.{field}", getattr(value, field), leave_out)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{place}.{key}", item, leave_out)
    elif isinstance(value, list | tuple) and any(isinstance(each, msgspec.Struct | Program) for each in value):
        for at, item in enumerate(value):
            yield from _leaves(f"{place}[{at}]", item, leave_out)
    else:
        yield place, list(value) if isinstance(value, tuple) else value
