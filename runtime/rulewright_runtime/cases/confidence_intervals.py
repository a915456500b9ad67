"""Confidence intervals of rates and of means of scores.

A rate has Wilson's interval, a mean a seeded bootstrap or for many values its limit, both widened for few values. Equal
values leave a bootstrap nothing to draw: their interval follows from the share of other values that Wilson's allows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

from rulewright_runtime.aggregate.inference import of_equal_values, student_quantile
from rulewright_runtime.strict_json import JsonObject

SEED: Final = 20250115
RESAMPLES: Final = 1000
BOOTSTRAP_FROM: Final = 10  # fewer values have too few different resamples
BOOTSTRAP_UP_TO: Final = 200


@dataclass(slots=True)
class Sample:
    """Statistics of scores for a mean and its interval: the values themselves while they are few enough for the
    bootstrap, and always their range and power sums."""

    count: int = 0
    each: dict[float, int] | None = field(default_factory=dict)  # value -> count; None beyond the bootstrap
    powers: tuple[float, float, float] = (0.0, 0.0, 0.0)
    low: float = math.inf
    high: float = -math.inf

    def add(self, values: Iterable[tuple[float, int]]) -> None:
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

        From `BOOTSTRAP_FROM` to `up_to` values (at most `BOOTSTRAP_UP_TO`) it is a percentile bootstrap with a fixed
        seed, otherwise its limit, the normal interval corrected for skewness. Both are widened to Student's
        distribution and the unbiased variance, as few values need (Hesterberg 2015). Equal values have the interval of
        `of_equal_values`.
        """
        if not self.count:
            return {"low": None, "high": None, "method": "bootstrap"}
        if self.low == self.high:
            low, high = of_equal_values(self.low, self.count, level)
            return {"low": low, "high": high, "method": "wilson"}
        if is_drawn := self.each is not None and BOOTSTRAP_FROM <= self.count <= up_to:
            values = [value for value, times in sorted((self.each or {}).items()) for _ in range(times)]
            low, high = _bootstrap(values, level)
        else:
            low, high = self._normal(level)
        wider = _widening(self.count, level)
        low, high = self.mean - wider * (self.mean - low), self.mean + wider * (high - self.mean)
        return {"low": max(0.0, low), "high": min(1.0, high), "method": "bootstrap" if is_drawn else "normal"}

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
        half = z * math.sqrt(variance / number)
        return middle - half, middle + half


def _widening(count: int, level: float) -> float:
    """How much wider than the plain bootstrap's the interval of so many values is."""
    upper = 0.5 + level / 2
    return student_quantile(upper, count - 1) / NormalDist().inv_cdf(upper) * math.sqrt(count / (count - 1))


def _bootstrap(values: list[float], level: float) -> tuple[float, float]:
    """Return the percentiles of the means of resamples of `values`, which are sorted."""
    generator = random.Random(SEED)
    number = len(values)
    means = sorted(math.fsum(generator.choices(values, k=number)) / number for _ in range(RESAMPLES))
    cut = round((1 - level) / 2 * RESAMPLES)
    return means[cut], means[RESAMPLES - 1 - cut]
