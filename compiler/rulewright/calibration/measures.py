"""Agreement measures and corrected rates; each formula names its source.

Every figure agrees with scikit-learn, statsmodels and the package krippendorff to 1e-9;
`tests/compiler/calibration/measures.json` holds their values. An undefined figure is None, never 0 or 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from rulewright_runtime.aggregate.inference import wilson

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its interval; None without observations."""

    value: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | None]:
        """`{value, low, high}`."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix of verdicts against labels; FAIL is the positive class.

    Items are drawn separately for each verdict, so each counts for as many verdicts as the weight of its verdict.
    """

    hits: int  # FAIL, and labelled so
    false_alarms: int  # FAIL, labelled PASS
    misses: int  # PASS, labelled FAIL
    clear: int  # PASS, and labelled so
    fail_weight: float = 1.0
    pass_weight: float = 1.0

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Confusion:
        """Count `(verdict, label)` pairs; pairs with any other word than PASS and FAIL are skipped."""
        counted = Counter(pairs)
        cells = (("FAIL", "FAIL"), ("FAIL", "PASS"), ("PASS", "FAIL"), ("PASS", "PASS"))
        return cls(*(counted[cell] for cell in cells))

    @property
    def count(self) -> int:
        """The number of compared items."""
        return self.hits + self.false_alarms + self.misses + self.clear

    @property
    def precision(self) -> Estimate:
        """The share of correct FAIL verdicts."""
        return rate(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> Estimate:
        """The share of detected failures (sensitivity)."""
        return _shares((self.hits, self.false_alarms), (self.misses, self.clear), self.fail_weight, self.pass_weight)

    @property
    def specificity(self) -> Estimate:
        """The share of non-failures that pass."""
        return _shares((self.clear, self.misses), (self.false_alarms, self.hits), self.pass_weight, self.fail_weight)

    @property
    def balanced_accuracy(self) -> Estimate:
        """The mean of recall and specificity. The interval joins Wilson's of both (Newcombe's MOVER, 1998)."""
        return weighted([(0.5, self.recall), (0.5, self.specificity)])

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


def _shares(first: tuple[int, int], second: tuple[int, int], weight: float, other_weight: float) -> Estimate:
    """The weighted share of `first[0]` in `first[0] + second[0]`, where each verdict has its own weight.

    For equal weights the interval is Wilson's. Otherwise it is that of the log ratio of both parts, whose variance is
    that of two independent binomial shares (Agresti 2013, 3.1), each with half an item added to both sides, plus that
    of the number of each verdict.
    """
    (k, rest), (m, other_rest) = first, second
    if not k + m:
        return rate(0, 0)
    if weight == other_weight:
        return rate(k, k + m)
    value = k * weight / (k * weight + m * other_weight)
    ratio, variance = 0.0, 0.0
    for sign, count, wrong, each in ((1, k, rest, weight), (-1, m, other_rest, other_weight)):
        size = count + wrong + 1
        share = (count + 0.5) / size
        ratio += sign * math.log(share * each * (count + wrong or 1))
        variance += (1 - share) / (share * size) + 1 / (each * (count + wrong) or 1)
    half_width = NormalDist().inv_cdf(0.5 + LEVEL / 2) * math.sqrt(variance)
    low, high = (1 / (1 + math.exp(-(ratio + side * half_width))) for side in (-1, 1))
    return Estimate(value, min(value, low), max(value, high))


def rate(count: int, total: int) -> Estimate:
    """Return `count / total` with Wilson's interval (1927)."""
    interval = wilson(count, total, LEVEL)
    return Estimate(count / total if total else None, interval["low"], interval["high"])


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
    accounts for the few items behind sensitivity and specificity. None where the judge is no better than chance.
    """
    measured = _as_sample(confusion.recall, confusion.hits + confusion.misses)
    passing = _as_sample(confusion.specificity, confusion.clear + confusion.false_alarms)
    if not judged or measured is None or passing is None:
        return Estimate(None, None, None)
    (sensitivity, sick), (specificity, well) = measured, passing
    if sensitivity + specificity <= 1:
        return Estimate(None, 0.0, 1.0)
    value = (failed / judged + specificity - 1) / (sensitivity + specificity - 1)
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    n = judged + z * z
    apparent = (failed + z * z / 2) / n
    sensitivity, specificity = (sensitivity * sick + 1) / (sick + 2), (specificity * well + 1) / (well + 2)
    power = sensitivity + specificity - 1
    if power <= 0:
        return Estimate(_unit(value), 0.0, 1.0)
    middle = (apparent + specificity - 1) / power
    errors = sensitivity * (1 - sensitivity) / (sick + 2), specificity * (1 - specificity) / (well + 2)
    shift = 2 * z * z * (middle * errors[0] - (1 - middle) * errors[1])
    spread = apparent * (1 - apparent) / n + middle**2 * errors[0] + (1 - middle) ** 2 * errors[1]
    reach = z * math.sqrt(spread) / power
    return Estimate(_unit(value), _unit(middle + shift - reach), _unit(middle + shift + reach))


def _as_sample(estimate: Estimate, count: int) -> tuple[float, float] | None:
    """A share, and the size of a simple random sample that would be as precise."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    spread = estimate.value * (1 - estimate.value)
    if not spread:
        return estimate.value, count
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    return estimate.value, min(float(count), spread * (2 * z / (estimate.high - estimate.low)) ** 2)


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
