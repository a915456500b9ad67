"""Merging: what two parts of a run gathered, as if one had gathered it all."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


def merge(into: Struct, more: Struct) -> None:
    """Add to each field of `into` what `more` has there: numbers are added, lists joined, mappings merged key by key,
    structs merged by their own `merge` where they have one; of two texts the later one stays.

    Raises TypeError for a value that can't be merged so, such as a truth value.
    """
    for name in into.__struct_fields__:
        setattr(into, name, merged(getattr(into, name), getattr(more, name)))


def merged(value: Any, more: Any) -> Any:
    """Both values as one. Raises TypeError as `merge` does."""
    if isinstance(value, dict):
        return value | {key: merged(value[key], other) if key in value else other for key, other in more.items()}
    if isinstance(value, Struct):
        own = getattr(value, "merge", None)
        if own is None:
            merge(value, more)
        else:
            own(more)
        return value
    if isinstance(value, list) or type(value) in (int, float):
        return value + more
    if value is None or isinstance(value, str):
        return more
    raise TypeError(f"two values of the type {type(value).__name__} can't be merged")
