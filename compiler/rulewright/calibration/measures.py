"""Agreement and corrected rates: small formulas, each with its source.

Every figure agrees with scikit-learn, statsmodels and the package krippendorff to 1e-9;
`tests/compiler/calibration/measures.json` holds their values. A figure that can't be worked out is None, never 0 or 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from rulewright_runtime.cases.confidence_intervals import wilson

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its interval; None where nothing was seen."""

    value: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | None]:
        """`{value, low, high}`."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Confusion:
    """Verdicts against labels; FAIL is what a check looks for.

    Items are drawn verdict by verdict, so each stands for as many verdicts as the weight of its own says.
    """

    hits: int  # FAIL, and labelled so
    false_alarms: int  # FAIL, labelled PASS
    misses: int  # PASS, labelled FAIL
    clear: int  # PASS, and labelled so
    fail_weight: float = 1.0
    pass_weight: float = 1.0

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Confusion:
        """Of `(verdict, label)` pairs; what is neither PASS nor FAIL on both sides is left out."""
        counted = Counter(pairs)
        cells = (("FAIL", "FAIL"), ("FAIL", "PASS"), ("PASS", "FAIL"), ("PASS", "PASS"))
        return cls(*(counted[cell] for cell in cells))

    @property
    def count(self) -> int:
        """How many items were compared."""
        return self.hits + self.false_alarms + self.misses + self.clear

    @property
    def precision(self) -> Estimate:
        """The share of FAIL verdicts that are right."""
        return rate(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> Estimate:
        """The share of failures that are found (sensitivity)."""
        return _shares((self.hits, self.false_alarms), (self.misses, self.clear), self.fail_weight, self.pass_weight)

    @property
    def specificity(self) -> Estimate:
        """The share of what is no failure that passes."""
        return _shares((self.clear, self.misses), (self.false_alarms, self.hits), self.pass_weight, self.fail_weight)

    @property
    def balanced_accuracy(self) -> Estimate:
        """The mean of recall and specificity. The interval joins Wilson's of both (Newcombe's MOVER, 1998)."""
        return weighted([(0.5, self.recall), (0.5, self.specificity)])

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of verdicts and labels; None where either side says one thing only."""
        cells: dict[tuple[Hashable, Hashable], float] = {
            ("F", "F"): self.hits * self.fail_weight,
            ("F", "P"): self.false_alarms * self.fail_weight,
            ("P", "F"): self.misses * self.pass_weight,
            ("P", "P"): self.clear * self.pass_weight,
        }
        return cohens_kappa(cells)


def _shares(one: tuple[int, int], other: tuple[int, int], weight: float, other_weight: float) -> Estimate:
    """What is first of `one` among what is first of either, where each kind has a weight of its own.

    Of equal weights the interval is Wilson's. Else it is that of the logarithm of both parts' ratio, whose variance is
    that of two independent binomial shares (Agresti 2013, 3.1), each with half an item added to both sides, and of how
    often each kind was given.
    """
    (k, rest), (m, other_rest) = one, other
    if not k + m:
        return rate(0, 0)
    if weight == other_weight:
        return rate(k, k + m)
    value = k * weight / (k * weight + m * other_weight)
    ratio, variance = 0.0, 0.0
    for sign, count, left, each in ((1, k, rest, weight), (-1, m, other_rest, other_weight)):
        size = count + left + 1
        share = (count + 0.5) / size
        ratio += sign * math.log(share * each * (count + left or 1))
        variance += (1 - share) / (share * size) + 1 / (each * (count + left) or 1)
    reach = NormalDist().inv_cdf(0.5 + LEVEL / 2) * math.sqrt(variance)
    low, high = (1 / (1 + math.exp(-(ratio + side * reach))) for side in (-1, 1))
    return Estimate(value, min(value, low), max(value, high))


def rate(count: int, of: int) -> Estimate:
    """A share with Wilson's interval (1927)."""
    found = wilson(count, of, LEVEL)
    return Estimate(count / of if of else None, found["low"], found["high"])


def weighted(parts: Sequence[tuple[float, Estimate]], variance: float = 0.0) -> Estimate:
    """A weighted sum of independent shares. The interval is that of MOVER (Zou and Donner 2008): each side joins the
    distances of the parts' own ends, and a further `variance`. None where a part with a weight is not known."""
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
    """Cohen's kappa (1960) of a table of two annotators' answers; None where one of them says one thing only: then
    chance explains all."""
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
    """Krippendorff's alpha for names (2011), of several annotators of whom some may be silent. Units with one label say
    nothing; None where only one label was ever given."""
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
    """The ordered pairs of different labels."""
    size = sum(labels.values())
    return size * size - sum(count * count for count in labels.values())


def rogan_gladen(failed: int, judged: int, found: Confusion) -> Estimate:
    """The true share of failures where a judge found `failed` of `judged`, and was measured elsewhere.

    The estimate is Rogan and Gladen's (1978), held within 0 to 1; the interval Lang and Reiczigel's (2014), which knows
    that sensitivity and specificity were measured on few items. None where the judge is no better than chance.
    """
    measured = _as_sample(found.recall, found.hits + found.misses)
    passing = _as_sample(found.specificity, found.clear + found.false_alarms)
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


def _as_sample(found: Estimate, count: int) -> tuple[float, float] | None:
    """A share, and of how many items drawn alike it would be as certain."""
    if found.value is None or found.low is None or found.high is None:
        return None
    spread = found.value * (1 - found.value)
    if not spread:
        return found.value, count
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    return found.value, min(float(count), spread * (2 * z / (found.high - found.low)) ** 2)


def prediction_powered(failed: int, judged: int, found: Confusion) -> Estimate:
    """The true share of failures among what was judged, of which a random part of each verdict was labelled.

    For verdicts of two kinds prediction-powered inference with the best tuning (Angelopoulos, Duchi and Zrnic 2023) is
    post-stratification: what labels say of each verdict, weighted by how often it was given. The interval joins
    Wilson's of both (MOVER), and the chance that gave the verdicts. None where a verdict that was given was never
    labelled.
    """
    if not judged:
        return Estimate(None, None, None)
    share = failed / judged
    right, missed = found.precision, rate(found.misses, found.misses + found.clear)
    between = ((right.value or 0.0) - (missed.value or 0.0)) ** 2 * share * (1 - share) / judged
    return weighted([(share, right), (1 - share, missed)], between)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
