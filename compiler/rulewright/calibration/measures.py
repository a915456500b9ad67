"""Agreement measures and corrected rates; each formula names its source.

Every figure agrees with scikit-learn, statsmodels and the package krippendorff to 1e-9;
`tests/compiler/calibration/measures.json` holds their values. An undefined figure is None, never 0 or 1.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright_runtime.aggregate.inference import clustered_mean, student_quantile, wilson

LEVEL: Final = 0.95
SEED: Final = 20250115
DRAWS: Final = 1_000


class Estimate(Struct, frozen=True):
    """A share with its interval; None without observations."""

    value: float | None
    low: float | None
    high: float | None


class Confusion(Struct, frozen=True):
    """The confusion matrix of verdicts against labels; FAIL is the positive class.

    Items are drawn separately for each verdict, so each counts for as many verdicts as the weight of its verdict.
    """

    hits: int  # FAIL, and labelled so
    false_alarms: int  # FAIL, labelled otherwise
    misses: int  # PASS, labelled FAIL
    clear: int  # PASS, labelled PASS or NOT_APPLICABLE
    fail_weight: float = 1.0
    pass_weight: float = 1.0
    one_sided: bool = False  # one of the verdicts occurs and was never labelled: what it says is not known

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Confusion:
        """Count `(verdict, label)` pairs; an item labelled NOT_APPLICABLE does not fail. Pairs with any other
        verdict than PASS and FAIL are skipped."""
        counted = Counter((verdict, "FAIL" if label == "FAIL" else "PASS") for verdict, label in pairs)
        return cls(counted["FAIL", "FAIL"], counted["FAIL", "PASS"], counted["PASS", "FAIL"], counted["PASS", "PASS"])

    @property
    def count(self) -> int:
        return self.hits + self.false_alarms + self.misses + self.clear

    @property
    def precision(self) -> Estimate:
        """The share of correct FAIL verdicts."""
        return rate(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> Estimate:
        """The share of detected failures (sensitivity)."""
        if self.one_sided:
            return Estimate(None, None, None)
        if self.fail_weight == self.pass_weight:
            return rate(self.hits, self.hits + self.misses)
        return _drawn(self)[0]

    @property
    def specificity(self) -> Estimate:
        """The share of non-failures that pass."""
        if self.one_sided:
            return Estimate(None, None, None)
        if self.fail_weight == self.pass_weight:
            return rate(self.clear, self.clear + self.false_alarms)
        return _drawn(self)[1]

    @property
    def balanced_accuracy(self) -> Estimate:
        """The mean of recall and specificity. The interval joins Wilson's of both (Newcombe's MOVER, 1998)."""
        if self.fail_weight == self.pass_weight:
            return weighted([(0.5, self.recall), (0.5, self.specificity)])
        return _drawn(self)[2]

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of verdicts and labels; None where either side has one class only."""
        cells: dict[tuple[Hashable, Hashable], float] = {
            ("F", "F"): self.hits * self.fail_weight,
            ("F", "P"): self.false_alarms * self.fail_weight,
            ("P", "F"): self.misses * self.pass_weight,
            ("P", "P"): self.clear * self.pass_weight,
        }
        return cohens_kappa(cells)


@lru_cache
def _drawn(confusion: Confusion) -> tuple[Estimate, Estimate, Estimate]:
    """The recall, the specificity and the balanced accuracy of a weighted confusion.

    The intervals are percentiles over draws, by a fixed seed, of the share of failures of each verdict and of the share
    of FAIL verdicts, from which all three follow; Jeffreys' prior (Brown, Cai and DasGupta 2001).
    """
    c, chance = confusion, random.Random(SEED)
    fails, passes = c.fail_weight * (c.hits + c.false_alarms), c.pass_weight * (c.misses + c.clear)
    draws = []
    for _ in range(DRAWS):
        share = chance.betavariate(fails + 0.5, passes + 0.5)
        right = chance.betavariate(c.hits + 0.5, c.false_alarms + 0.5)
        missed = chance.betavariate(c.misses + 0.5, c.clear + 0.5)
        recall = _part(right * share, missed * (1 - share))
        specificity = _part((1 - missed) * (1 - share), (1 - right) * share)
        draws.append((recall, specificity, (recall + specificity) / 2))
    values = [
        _part(c.hits * c.fail_weight, c.misses * c.pass_weight) if c.hits + c.misses else None,
        _part(c.clear * c.pass_weight, c.false_alarms * c.fail_weight) if c.clear + c.false_alarms else None,
    ]
    values.append(None if values[0] is None or values[1] is None else (values[0] + values[1]) / 2)
    recall_, specificity_, accuracy = (
        _percentiles(value, each) for value, each in zip(values, zip(*draws, strict=True), strict=True)
    )
    return recall_, specificity_, accuracy


def _part(one: float, other: float) -> float:
    return one / (one + other) if one else 0.0


def _percentiles(value: float | None, draws: Iterable[float]) -> Estimate:
    """The interval of a share by its draws. It reaches 0 and 1 where nothing was observed on the other side."""
    if value is None:
        return Estimate(None, None, None)
    ordered = sorted(draws)
    cut = round((1 - LEVEL) / 2 * DRAWS)
    low, high = min(value, ordered[cut]), max(value, ordered[-1 - cut])
    return Estimate(value, low if value else 0.0, high)


def rate(count: float, total: float) -> Estimate:
    """Return `count / total` with Wilson's interval (1927)."""
    interval = wilson(count, total, LEVEL)
    return Estimate(count / total if total else None, interval["low"], interval["high"])


def clustered_rate(observations: Sequence[tuple[Hashable, bool]]) -> Estimate:
    """Return the share of true observations, each with its cluster. The interval is Wilson's for as many independent
    observations as are as precise (Korn and Graubard 1998): as many as there are clusters if all are equal."""
    mean = clustered_mean((cluster, float(observed)) for cluster, observed in observations)
    if mean.mean is None or mean.count == mean.clusters:
        return rate(sum(observed for _, observed in observations), mean.count)
    size = float(mean.clusters)
    if mean.error and 0 < mean.mean < 1:
        z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
        wider = student_quantile(0.5 + LEVEL / 2, mean.clusters - 1) / z
        size = min(mean.count, mean.mean * (1 - mean.mean) / (mean.error * wider) ** 2)
    return replace(rate(mean.mean * size, size), value=mean.mean)


def weighted(parts: Sequence[tuple[float, Estimate]], variance: float = 0.0) -> Estimate:
    """Return a weighted sum of independent shares. The interval is MOVER's (Zou and Donner 2008): each side combines
    the distances of the parts' limits and a further `variance`. None where a weighted part is undefined."""
    used = [(weight, part) for weight, part in parts if weight]
    value = low = high = 0.0
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    below = above = z * z * variance
    for weight, part in used:
        if part.value is None or part.low is None or part.high is None:
            return Estimate(None, None, None)
        value += weight * part.value
        below += (weight * (part.value - part.low)) ** 2
        above += (weight * (part.high - part.value)) ** 2
    low, high = value - math.sqrt(below), value + math.sqrt(above)
    return Estimate(value, max(0.0, low), min(1.0, high))


def cohens_kappa(table: Mapping[tuple[Hashable, Hashable], float]) -> float | None:
    """Return Cohen's kappa (1960) of a table of two annotators' answers; None where one of them has one class only:
    then chance explains all agreement."""
    left: dict[Hashable, float] = {}
    right: dict[Hashable, float] = {}
    for (one, other), count in table.items():
        if count:
            left[one] = left.get(one, 0.0) + count
            right[other] = right.get(other, 0.0) + count
    if len(left) < 2 or len(right) < 2:
        return None
    size = math.fsum(left.values())
    agreed = math.fsum(count for (one, other), count in table.items() if one == other) / size
    chance = math.fsum(left[label] * right.get(label, 0.0) for label in left) / size**2
    return (agreed - chance) / (1 - chance)


def krippendorffs_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's nominal alpha (2011) of several annotators, with missing labels allowed. Units with one
    label are skipped; None where all labels are the same."""
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    totals: Counter[Hashable] = Counter()
    for unit in pairable:
        totals += unit
    size = sum(totals.values())
    if len(totals) < 2:
        return None
    observed = sum(_disagreements(unit) / (sum(unit.values()) - 1) for unit in pairable)
    expected = _disagreements(totals) / (size - 1)
    return 1 - observed / expected


def _disagreements(labels: Counter[Hashable]) -> int:
    """The number of ordered pairs of different labels."""
    size = sum(labels.values())
    return size * size - sum(count * count for count in labels.values())


def rogan_gladen(failed: int, judged: int, confusion: Confusion) -> Estimate:
    """Return the true share of failures where a judge failed `failed` of `judged` and was measured on other items.

    The estimate is Rogan and Gladen's (1978), clamped to 0 to 1; the interval is Lang and Reiczigel's (2014), which
    accounts for the few items behind sensitivity and specificity, extended to the estimate. None where the judge is not
    better than chance.
    """
    measured = _as_sample(confusion.recall, confusion.hits + confusion.misses)
    passing = _as_sample(confusion.specificity, confusion.clear + confusion.false_alarms)
    if not judged or measured is None or passing is None:
        return Estimate(None, None, None)
    (sensitivity, sick), (specificity, well) = measured, passing
    if sensitivity + specificity <= 1:
        return Estimate(None, 0.0, 1.0)
    value = _unit((failed / judged + specificity - 1) / (sensitivity + specificity - 1))
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    n = judged + z * z
    apparent = (failed + z * z / 2) / n
    sensitivity, specificity = (sensitivity * sick + 1) / (sick + 2), (specificity * well + 1) / (well + 2)
    power = sensitivity + specificity - 1
    if power <= 0:
        return Estimate(value, 0.0, 1.0)
    middle = (apparent + specificity - 1) / power
    errors = sensitivity * (1 - sensitivity) / (sick + 2), specificity * (1 - specificity) / (well + 2)
    shift = 2 * z * z * (middle * errors[0] - (1 - middle) * errors[1])
    spread = apparent * (1 - apparent) / n + middle**2 * errors[0] + (1 - middle) ** 2 * errors[1]
    reach = z * math.sqrt(spread) / power
    low, high = _unit(middle + shift - reach), _unit(middle + shift + reach)
    return Estimate(value, min(low, value), max(value, high))


def _as_sample(estimate: Estimate, count: int) -> tuple[float, float] | None:
    """A share, and the size of a simple random sample that would be as precise."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    spread, width = estimate.value * (1 - estimate.value), estimate.high - estimate.low
    size = spread * (2 * z / width) ** 2 if spread else z * z * (1 - width) / width  # Wilson's of all, or of none
    return estimate.value, min(float(count), size)


def prediction_powered(failed: int, judged: int, confusion: Confusion) -> Estimate:
    """Return the true share of failures among judged items, of which a random part of each verdict was labelled.

    For two verdicts, optimally tuned prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023) is
    post-stratification: the share of failures of each verdict, weighted by the number of that verdict. The interval
    combines Wilson's of both (MOVER) and the sampling variance of the verdicts. None where one of the verdicts was
    never labelled.
    """
    if not judged:
        return Estimate(None, None, None)
    share = failed / judged
    false_alarm_free, missed_failures = confusion.precision, rate(confusion.misses, confusion.misses + confusion.clear)
    between = ((false_alarm_free.value or 0.0) - (missed_failures.value or 0.0)) ** 2 * share * (1 - share) / judged
    return weighted([(share, false_alarm_free), (1 - share, missed_failures)], between)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
