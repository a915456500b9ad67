"""Aggregates of a batch, case by case: means, pass rates, labels, archetypes, worst performers and frequent misses, and
confidence intervals.

A rate has Wilson's interval, a mean a seeded bootstrap or for many values its limit, both widened for few values. Equal
values leave a bootstrap nothing to draw: their interval follows from the share of other values that Wilson's allows.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

from rulewright_runtime.aggregate.inference import of_equal_values, student_quantile, wilson
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import CaseOutcome, Scored
from rulewright_runtime.scratch_database import TopPhrases
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


UNKNOWN: Final = "Unknown"
WORST: Final = 5  # cases listed
COMMON: Final = 5  # phrases listed per metric
_SETTLE_EVERY: Final = 16_384  # cases; the maximum number of distinct pending outcomes


@dataclass(slots=True)
class CaseGroup:
    """Aggregates of a group of cases. Means are over the scored ones, rates over all, errored ones included.

    Cases are counted by outcome in `_pending`, since most share one, until `settle` adds them up.
    """

    plan: CaseScorecardPlan
    errors: int = 0
    samples: dict[str, Sample] = field(init=False)  # by metric, then `composite`
    _labels: dict[str, int] = field(init=False)
    _passed: dict[str, int] = field(init=False)
    _pending: dict[CaseOutcome, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Set all counts to 0."""
        metrics = [metric.name for metric in self.plan.metrics]
        self.samples = {name: Sample() for name in (*metrics, "composite")}
        self._labels = dict.fromkeys((label for label, _ in reversed(self.plan.exits)), 0)
        self._passed = dict.fromkeys(metrics, 0)

    def add(self, outcome: CaseOutcome) -> None:
        """Add a scored case."""
        self._pending[outcome] = self._pending.get(outcome, 0) + 1

    def settle(self) -> None:
        """Add up the pending cases."""
        pending, self._pending = self._pending, {}
        for name, sample in self.samples.items():
            sample.add([(outcome.scores[name], count) for outcome, count in pending.items()])
        for outcome, count in pending.items():
            self._labels[outcome.label] += count
            for name, passes in zip(self._passed, outcome.passes, strict=True):
                self._passed[name] += passes * count

    def merge(self, other: CaseGroup) -> None:
        """Add the cases of another group."""
        other.settle()
        self.errors += other.errors
        for name, sample in self.samples.items():
            sample.merge(other.samples[name])
        for mine, theirs in ((self._labels, other._labels), (self._passed, other._passed)):
            for name, count in theirs.items():
                mine[name] += count

    @property
    def scored(self) -> int:
        """The number of scored cases."""
        return sum(self.labels.values())

    @property
    def total(self) -> int:
        """The number of cases, errored ones included."""
        return self.scored + self.errors

    @property
    def labels(self) -> dict[str, int]:
        """The number of cases with each label, best label first."""
        self.settle()
        return dict(self._labels)

    @property
    def passed(self) -> dict[str, int]:
        """The number of cases that pass each metric, and (`overall`) have the accepted label."""
        self.settle()
        return {**self._passed, "overall": self._labels[self.plan.accepted]}

    def means(self) -> dict[str, float]:
        """Return the mean of every metric and of the composite over the scored cases; 0 without cases."""
        self.settle()
        return {name: sample.mean for name, sample in self.samples.items()}

    def pass_rates(self) -> dict[str, float]:
        """Return the share of all cases that pass each metric, and `overall` with the accepted label; 0 without
        cases."""
        total = self.total
        return {name: count / total if total else 0.0 for name, count in self.passed.items()}

    def intervals(self, level: float, up_to: int) -> JsonObject:
        """Return confidence intervals of the means (`up_to`: see `Sample.interval`) and of the pass rates."""
        self.settle()
        total = self.total
        return {
            "mean_scores": {name: sample.interval(level, up_to) for name, sample in self.samples.items()},
            "pass_rates": {name: wilson(count, total, level) for name, count in self.passed.items()},
        }


@dataclass(slots=True)
class Tally:
    """Aggregates of a run: add every case, then read the parts of the report."""

    plan: CaseScorecardPlan
    batches: dict[str, CaseGroup] = field(default_factory=dict)
    archetypes: dict[str, CaseGroup] = field(default_factory=dict)
    _top_phrases: list[tuple[bool, TopPhrases]] = field(init=False)
    _phrase_counts: list[int] = field(init=False)
    _worst: list[tuple[float, int, JsonObject]] = field(default_factory=list)
    _limit: float = float("inf")
    _scored: int = 0

    def __post_init__(self) -> None:
        """Set all counts to 0."""
        self._top_phrases = [(metric.common.of == "found", TopPhrases(COMMON)) for metric in self.plan.metrics]
        self._phrase_counts = [0] * len(self.plan.metrics)

    def batch(self, name: str) -> CaseGroup:
        """Return the group of a batch, created on first use."""
        return self.batches.setdefault(name, CaseGroup(self.plan))

    def all_cases(self) -> CaseGroup:
        """Return a group of all cases."""
        group = CaseGroup(self.plan)
        for batch in self.batches.values():
            group.merge(batch)
        return group

    def add(self, batch: CaseGroup, archetype: str | None, scored: Scored, result: JsonObject) -> None:
        """Add a scored case; `result` is its entry in the report."""
        outcome = scored.outcome
        self._scored += 1
        batch.add(outcome)
        self._archetype(archetype).add(outcome)
        for at, (of_found, top_phrases) in enumerate(self._top_phrases):
            phrases = scored.found[at] if of_found else scored.missing[at]
            if phrases:
                self._phrase_counts[at] += len(phrases)
                top_phrases.add(phrases)
        composite = outcome.scores["composite"]
        if composite < self._limit:
            self._add_worst(composite, result)
        if self._scored % _SETTLE_EVERY == 0:
            for group in (*self.batches.values(), *self.archetypes.values()):
                group.settle()

    def _archetype(self, archetype: str | None) -> CaseGroup:
        name = archetype or UNKNOWN
        group = self.archetypes.get(name)
        if group is None:
            group = self.archetypes[name] = CaseGroup(self.plan)
        return group

    def _add_worst(self, composite: float, result: JsonObject) -> None:
        """Keep the lowest composites, ties (within 1e-12) in input order."""
        heapq.heappush(self._worst, (-round(composite, 12), -self._scored, result))
        if len(self._worst) > WORST:
            heapq.heappop(self._worst)
            self._limit = -self._worst[0][0] - 5e-13

    def add_error(self, batch: CaseGroup, archetype: str | None) -> None:
        """Add a case that could not be scored."""
        batch.errors += 1
        self._archetype(archetype).errors += 1

    def worst(self) -> list[JsonObject]:
        """Return the cases with the lowest composite, ascending, ties in input order."""
        return [result for _, _, result in sorted(self._worst, key=lambda entry: (-entry[0], -entry[1]))]

    def common(self) -> dict[str, list[JsonObject]]:
        """Return the most frequent misses and violations of each metric, ties in order of first occurrence."""
        return {
            metric.common.name: [
                {metric.common.item: phrase, metric.common.count: count} for phrase, count in top_phrases.most()
            ]
            for metric, (_, top_phrases) in zip(self.plan.metrics, self._top_phrases, strict=True)
        }

    def phrase_counts(self) -> dict[str, int]:
        """Return the number of phrases that count against each metric: misses or violations."""
        return {metric.name: count for metric, count in zip(self.plan.metrics, self._phrase_counts, strict=True)}

    def by_archetype(self) -> dict[str, JsonObject]:
        """Return the report's entry for each archetype, in order of first occurrence."""
        sections = {}
        for archetype, group in self.archetypes.items():
            means = group.means()
            sections[archetype] = {
                "count": group.total,
                "errors": group.errors,
                **{f"mean_{metric.name}": means[metric.name] for metric in self.plan.metrics},
                "pass_rate": group.pass_rates()["overall"],
            }
        return sections


def exit_status(plan: CaseScorecardPlan, labels: Mapping[str, int]) -> int:
    """Return the exit status of the gravest label that occurs."""
    return next((status for label, status in plan.exits if labels[label]), 0)
