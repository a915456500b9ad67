"""Confidence intervals: Wilson's for a rate; for a mean a seeded bootstrap, or for many values its limit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

from rulewright_runtime.strict_json import JsonObject

SEED: Final = 20250115
RESAMPLES: Final = 1000
BOOTSTRAP_UP_TO: Final = 200


def wilson(count: int, total: int, level: float = 0.95) -> JsonObject:
    """Return Wilson's score interval of the share `count / total`; the ends are None for a total of 0."""
    if not total:
        return {"low": None, "high": None, "method": "wilson"}
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = count / total
    scale = 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == total else min(1.0, middle + half)
    return {"low": low, "high": high, "method": "wilson"}


@dataclass(slots=True)
class Sample:
    """Statistics of values for a mean and its interval: the values themselves while they are few enough for the
    bootstrap, and always their range and power sums."""

    count: int = 0
    each: dict[float, int] | None = field(default_factory=dict)  # value -> count; None beyond the bootstrap
    powers: tuple[float, float, float] = (0.0, 0.0, 0.0)
    low: float = math.inf
    high: float = -math.inf

    def add(self, values: Iterable[tuple[float, int]]) -> None:
        """Add values, each with its count."""
        values = list(values)
        if not values:
            return
        self.count += sum(count for _, count in values)
        first, second, third = (math.fsum(count * value**power for value, count in values) for power in (1, 2, 3))
        self.powers = (self.powers[0] + first, self.powers[1] + second, self.powers[2] + third)
        self.low = min(self.low, min(values)[0])
        self.high = max(self.high, max(values)[0])
        self._add_each(values if self.count <= BOOTSTRAP_UP_TO else None)

    def merge(self, other: Sample) -> None:
        """Add the values of another sample."""
        self.count += other.count
        self.powers = (
            self.powers[0] + other.powers[0],
            self.powers[1] + other.powers[1],
            self.powers[2] + other.powers[2],
        )
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self._add_each(None if other.each is None or self.count > BOOTSTRAP_UP_TO else other.each.items())

    def _add_each(self, values: Iterable[tuple[float, int]] | None) -> None:
        if self.each is None or values is None:
            self.each = None
            return
        for value, count in values:
            self.each[value] = self.each.get(value, 0) + count

    @property
    def mean(self) -> float:
        """The mean; 0 without values."""
        return self.powers[0] / self.count if self.count else 0.0

    def interval(self, level: float = 0.95, up_to: int = BOOTSTRAP_UP_TO) -> JsonObject:
        """Return the interval of the mean; its ends are None without values.

        Up to `up_to` values (at most `BOOTSTRAP_UP_TO`) it is a percentile bootstrap with a fixed seed, for more the
        normal interval corrected for skewness, the limit of the bootstrap.
        """
        if not self.count:
            return {"low": None, "high": None, "method": "bootstrap"}
        if self.low == self.high:
            return {"low": self.mean, "high": self.mean, "method": "bootstrap"}
        if self.each is not None and self.count <= up_to:
            low, high = _bootstrap([value for value in sorted(self.each) for _ in range(self.each[value])], level)
            return {"low": low, "high": high, "method": "bootstrap"}
        low, high = self._normal(level)
        return {"low": max(self.low, low), "high": min(self.high, high), "method": "normal"}

    def _normal(self, level: float) -> tuple[float, float]:
        """Return the bootstrap's percentiles by Cornish-Fisher expansion."""
        number, mean = self.count, self.mean
        _, second, third = self.powers
        variance = max(second / number - mean * mean, 0.0)
        if not variance:
            return mean, mean
        skewness = (third / number - 3 * mean * second / number + 2 * mean**3) / variance**1.5
        z = NormalDist().inv_cdf(0.5 + level / 2)
        middle = mean + math.sqrt(variance / number) * skewness * (z * z - 1) / (6 * math.sqrt(number))
        half = z * math.sqrt(variance / (number - 1))
        return middle - half, middle + half


def _bootstrap(values: list[float], level: float) -> tuple[float, float]:
    """Return the percentiles of the means of resamples of `values`, which are sorted."""
    generator = random.Random(SEED)
    number = len(values)
    means = sorted(math.fsum(generator.choices(values, k=number)) / number for _ in range(RESAMPLES))
    cut = round((1 - level) / 2 * RESAMPLES)
    return means[cut], means[RESAMPLES - 1 - cut]
