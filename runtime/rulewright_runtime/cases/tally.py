"""Aggregates of a batch, case by case: means, pass rates, labels, archetypes, worst performers and frequent misses."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from rulewright_runtime.aggregate.inference import Sample, wilson
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import CaseOutcome, Scored
from rulewright_runtime.files.scratch_database import TopPhrases
from rulewright_runtime.strict_json import JsonObject

UNKNOWN: Final = "Unknown"
WORST: Final = 5  # cases listed
COMMON: Final = 5  # phrases listed per metric
_SETTLE_EVERY: Final = 16_384  # cases; the maximum number of distinct pending outcomes


class CaseGroup(Struct):
    """Aggregates of a group of cases. Means are over the scored ones, rates over all, errored ones included.

    Cases are counted by outcome in `_pending`, since most share one, until `settle` adds them up.
    """

    plan: CaseScorecardPlan
    errors: int = 0
    samples: dict[str, Sample] = field(default_factory=dict)  # by metric, then `composite`
    _labels: dict[str, int] = field(default_factory=dict)
    _passed: dict[str, int] = field(default_factory=dict)
    _pending: dict[CaseOutcome, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        metrics = [metric.name for metric in self.plan.metrics]
        self.samples = {name: Sample() for name in (*metrics, "composite")}
        self._labels = dict.fromkeys((label for label, _ in reversed(self.plan.exits)), 0)
        self._passed = dict.fromkeys(metrics, 0)

    def add(self, outcome: CaseOutcome) -> None:
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


class Tally(Struct):
    """Aggregates of a run: add every case, then read the parts of the report."""

    plan: CaseScorecardPlan
    batches: dict[str, CaseGroup] = field(default_factory=dict)
    archetypes: dict[str, CaseGroup] = field(default_factory=dict)
    _top_phrases: list[tuple[bool, TopPhrases]] = field(default_factory=list)
    _phrase_counts: list[int] = field(default_factory=list)
    _worst: list[tuple[float, int, JsonObject]] = field(default_factory=list)
    _limit: float = float("inf")
    _scored: int = 0

    def __post_init__(self) -> None:
        self._top_phrases = [(metric.common.of == "found", TopPhrases(COMMON)) for metric in self.plan.metrics]
        self._phrase_counts = [0] * len(self.plan.metrics)

    def batch(self, name: str) -> CaseGroup:
        """Return the group of a batch, created on first use."""
        return self.batches.setdefault(name, CaseGroup(self.plan))

    def all_cases(self) -> CaseGroup:
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
    """Return the exit status of the worst label that occurs."""
    return next((status for label, status in plan.exits if labels[label]), 0)
