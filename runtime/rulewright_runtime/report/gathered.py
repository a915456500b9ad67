"""Accumulators of a summary, in bounded memory for any number of transcripts: exact sums, rates of flags, lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from rulewright_runtime.strict_json import JsonObject

MAX_ENTRIES: Final = 1000  # of a list in summary.json; all are counted, and the run's rows contain all


class RunningSum(Struct):
    """An exact sum, as a short list of non-overlapping floats (Shewchuk's algorithm)."""

    parts: list[float] = field(default_factory=list)
    count: int = 0

    def add(self, value: float) -> None:
        """Add one number."""
        self.count += 1
        self._add(value)

    def _add(self, value: float) -> None:
        used = 0
        for part in self.parts:
            if abs(value) < abs(part):
                value, part = part, value
            total = value + part
            rest = part - (total - value)
            if rest:
                self.parts[used] = rest
                used += 1
            value = total
        self.parts[used:] = [value]

    def merge(self, more: RunningSum) -> None:
        """Add another sum."""
        self.count += more.count
        for part in more.parts:
            self._add(part)

    @property
    def mean(self) -> float | None:
        """The sum, rounded once, divided by the count; None if the count is 0."""
        return math.fsum(self.parts) / self.count if self.count else None


class Means(Struct):
    """A mean of numbers; absent ones are counted apart."""

    values: RunningSum = field(default_factory=RunningSum)
    absent: int = 0

    def add(self, value: float | None) -> None:
        """Add one number, or count an absent one (None)."""
        if value is None:
            self.absent += 1
        else:
            self.values.add(value)

    def result(self) -> JsonObject:
        """`{mean, counted, absent}`; `mean` is null if nothing was counted."""
        return {"mean": self.values.mean, "counted": self.values.count, "absent": self.absent}


class Flags(Struct):
    """For each label, how often it was known and how often it was raised."""

    known: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)

    def add(self, profile: Mapping[str, bool | None]) -> None:
        """Add the labels of one transcript; None means unknown."""
        for label, flag in profile.items():
            self.known[label] = self.known.get(label, 0) + (flag is not None)
            self.raised[label] = self.raised.get(label, 0) + (flag is True)

    def rates(self) -> dict[str, float | None]:
        """For each label the share of raised flags among the transcripts with a value; None if none has one."""
        return {label: self.raised[label] / total if total else None for label, total in self.known.items()}


class FirstEntries(Struct):
    """The first entries of a list, and the count of all."""

    count: int = 0
    items: list[JsonObject] = field(default_factory=list)

    def add(self, item: JsonObject) -> None:
        """Add one entry."""
        self.count += 1
        if len(self.items) < MAX_ENTRIES:
            self.items.append(item)

    def merge(self, more: FirstEntries) -> None:
        """Add the entries of a later list."""
        self.count += more.count
        self.items += more.items[: MAX_ENTRIES - len(self.items)]


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
