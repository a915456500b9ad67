"""Inference: exact tests, cluster-robust intervals, corrected p-values, Student's t, and intervals of rates and means.

The tests and the intervals of paired and clustered data agree with scipy and statsmodels to 1e-9;
`tests/runtime/aggregate/inference.json` holds their values. A rate has Wilson's interval, the mean of a sample a seeded
bootstrap or for many values its limit, both widened for few values. Equal values leave a bootstrap nothing to draw:
their interval follows from the share of other values that Wilson's allows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from msgspec import Struct, field

from rulewright_runtime.strict_json import JsonObject

_TINY: Final = 1e-300
_STEPS: Final = 500


@lru_cache
def student_quantile(share: float, freedom: int) -> float:
    """The quantile `share` of Student's t distribution with `freedom` degrees of freedom."""
    if share >= 0.5:
        return 0.0 if share == 0.5 else -student_quantile(1 - share, freedom)
    low, high = -1.0, 0.0
    while student_below(low, freedom) > share:
        low, high = low * 2, low
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_below(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def student_below(value: float, freedom: int) -> float:
    """The probability that Student's t with `freedom` degrees of freedom is below `value`."""
    tail = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2
    return 1 - tail if value > 0 else tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    below = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    above, value = 1.0, below
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            below = 1 / _away_from_zero(1 + term * below)
            above = _away_from_zero(1 + term / above)
            value *= below * above
        if abs(below * above - 1) < 1e-16:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


LEVEL: Final = 0.95
POWER: Final = 0.8
UNIT: Final = (0.0, 1.0)  # the span of scores
_ROUNDING: Final = 1e-12  # an error below it is that of floating point


class Mean(Struct, frozen=True):
    """A mean over clusters. `error`, `low`, `high` and `detectable` are None with fewer than two clusters; a true mean
    closer to zero than `detectable` would be missed in more than one of five such samples."""

    mean: float | None
    count: int
    clusters: int
    error: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None


def clustered_mean(values: Iterable[tuple[Hashable, float]], span: tuple[float, float] | None = None) -> Mean:
    """The mean of `(cluster, value)` pairs, with the interval of Student's t for its cluster-robust error.

    The error is that of a regression on a constant with a cluster-robust covariance, corrected for few clusters; if
    every value is its own cluster it is the ordinary standard error. Where nothing varies, an error of 0 says little
    about other clusters: with the `span` of possible values the interval is that of `of_equal_values`. It is in the
    span.
    """
    by_cluster: dict[Hashable, list[float]] = {}
    for cluster, value in values:
        by_cluster.setdefault(cluster, []).append(value)
    count, clusters = sum(map(len, by_cluster.values())), len(by_cluster)
    if not count:
        return Mean(None, 0, 0)
    mean = math.fsum(value for each in by_cluster.values() for value in each) / count
    if clusters < 2:
        return Mean(mean, count, clusters)
    squares = math.fsum(math.fsum(value - mean for value in each) ** 2 for each in by_cluster.values())
    error = math.sqrt(squares * clusters / (clusters - 1)) / count
    quantile = student_quantile(0.5 + LEVEL / 2, clusters - 1)
    low, high = mean - quantile * error, mean + quantile * error
    if span is not None and error < _ROUNDING:
        low, high = of_equal_values(mean, clusters, LEVEL, span)
    reach = max(mean - low, high - mean)
    detectable = reach * (1 + student_quantile(POWER, clusters - 1) / quantile)
    if span is not None:
        low, high = max(span[0], low), min(span[1], high)
    return Mean(mean, count, clusters, error, low, high, detectable)


def two_sided(mean: Mean) -> float:
    """The two-sided p-value of Student's t test that the true mean is zero; 1 if its error is unknown.

    Where nothing varies it is that of the sign test: the probability that fair coins all fall on one side.
    """
    if mean.mean is None or mean.error is None:
        return 1.0
    if mean.error < _ROUNDING:
        return 1.0 if abs(mean.mean) < _ROUNDING else 2.0 ** (1 - mean.clusters)
    return 2 * student_below(-abs(mean.mean) / mean.error, mean.clusters - 1)


def mcnemar(only_before: int, only_after: int) -> float:
    """The exact two-sided p-value of McNemar's test: the probability that a fair coin splits the changed pairs at
    least as unevenly."""
    changed = only_before + only_after
    tail = sum(math.comb(changed, heads) for heads in range(min(only_before, only_after) + 1))
    return min(1.0, float(Fraction(2 * tail, 1 << changed)))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values after Holm's step-down correction, in the order of the input."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def wilson(count: float, total: float, level: float = 0.95, *, most: int | None = None) -> JsonObject:
    """Return Wilson's score interval of the share `count / total`; the ends are None for a total of 0. If missing
    answers may raise the count to `most`, the upper end is that of `most / total`."""
    if not total:
        return {"low": None, "high": None, "method": "wilson"}
    low, high = _wilson(count, total, level)[0], _wilson(count if most is None else most, total, level)[1]
    return {"low": low, "high": high, "method": "wilson"}


def _wilson(count: float, total: float, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = count / total
    scale = 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return 0.0 if count == 0 else max(0.0, middle - half), 1.0 if count == total else min(1.0, middle + half)


def of_equal_values(
    value: float, count: int, level: float, span: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return the interval of a mean whose `count` observations all equal `value`: the share of other values is at most
    Wilson's limit for none of `count`, and they lie anywhere in `span`."""
    others: float = wilson(0, count, level)["high"]
    return value - others * (value - span[0]), value + others * (span[1] - value)


SEED: Final = 20250115
RESAMPLES: Final = 1000
BOOTSTRAP_FROM: Final = 10  # fewer values have too few different resamples
BOOTSTRAP_UP_TO: Final = 200


class Sample(Struct):
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
