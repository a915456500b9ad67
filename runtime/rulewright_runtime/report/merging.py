"""Merging: combines the accumulators of two parts of a run into those of the whole."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


def merge(into: Struct, more: Struct) -> None:
    """Merge each field of `more` into `into`: numbers are added, lists concatenated, mappings merged by key, structs
    merged by their own `merge` if they have one; the later of two texts replaces the earlier.

    Raises TypeError for any other value, such as a bool.
    """
    for name in into.__struct_fields__:
        setattr(into, name, merged(getattr(into, name), getattr(more, name)))


def merged(value: Any, more: Any) -> Any:
    """The merged value. Raises TypeError as `merge` does."""
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
