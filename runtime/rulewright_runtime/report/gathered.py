"""What a summary gathers of any number of transcripts in bounded memory: exact sums, shares of flags, first entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from rulewright_runtime.strict_json import JsonObject

MOST: Final = 1000  # entries of a list in summary.json; all are counted, and the run's rows hold all


class RunningSum(Struct):
    """A sum without rounding, as floats that share no digits (Shewchuk's), of which there are few."""

    parts: list[float] = field(default_factory=list)
    count: int = 0

    def add(self, value: float) -> None:
        """Take in one number."""
        self.count += 1
        self._add(value)

    def _add(self, value: float) -> None:
        kept = 0
        for part in self.parts:
            if abs(value) < abs(part):
                value, part = part, value
            total = value + part
            rest = part - (total - value)
            if rest:
                self.parts[kept] = rest
                kept += 1
            value = total
        self.parts[kept:] = [value]

    def merge(self, more: RunningSum) -> None:
        """Take in what another one gathered."""
        self.count += more.count
        for part in more.parts:
            self._add(part)

    @property
    def mean(self) -> float | None:
        """The sum, rounded once, by the count; None of nothing."""
        return math.fsum(self.parts) / self.count if self.count else None


class Means(Struct):
    """Numbers on their way to a mean; absent ones are left out and counted."""

    values: RunningSum = field(default_factory=RunningSum)
    absent: int = 0

    def add(self, value: float | None) -> None:
        """Take in one number, or its absence."""
        if value is None:
            self.absent += 1
        else:
            self.values.add(value)

    def result(self) -> JsonObject:
        """`{mean, counted, absent}`; the mean of nothing is null."""
        return {"mean": self.values.mean, "counted": self.values.count, "absent": self.absent}


class Flags(Struct):
    """How often each label was raised where it was known."""

    known: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)

    def add(self, profile: Mapping[str, bool | None]) -> None:
        """Take in the labels of one transcript; None is not known."""
        for label, flag in profile.items():
            self.known[label] = self.known.get(label, 0) + (flag is not None)
            self.raised[label] = self.raised.get(label, 0) + (flag is True)

    def rates(self) -> dict[str, float | None]:
        """For each label the share of failures among the transcripts that have a value; None where none has one."""
        return {label: self.raised[label] / total if total else None for label, total in self.known.items()}


def blindspot_rates(profiles: Iterable[Mapping[str, bool | None]]) -> dict[str, float | None]:
    """The rates of the labels over several transcripts."""
    flags = Flags()
    for profile in profiles:
        flags.add(profile)
    return flags.rates()


class Listed(Struct):
    """The first entries of a list, and how many there are."""

    count: int = 0
    items: list[JsonObject] = field(default_factory=list)

    def add(self, item: JsonObject) -> None:
        """Take in one entry."""
        self.count += 1
        if len(self.items) < MOST:
            self.items.append(item)

    def merge(self, more: Listed) -> None:
        """Take in what another one gathered after this one."""
        self.count += more.count
        self.items += more.items[: MOST - len(self.items)]
