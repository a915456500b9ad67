"""Adding up a batch: means, pass rates, labels, archetypes, worst performers and frequent misses, case by case."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.confidence_intervals import Sample, wilson
from rulewright_runtime.cases.scoring import CaseOutcome, Scored
from rulewright_runtime.scratch_database import TopPhrases
from rulewright_runtime.strict_json import JsonObject

UNKNOWN: Final = "Unknown"
WORST: Final = 5
COMMON: Final = 5
_SETTLE_EVERY: Final = 16_384  # cases: so many different outcomes are kept at most


@dataclass(slots=True)
class CaseGroup:
    """Some cases, by what they came to. Means are over the scored ones, rates over all, errored ones included.

    Cases wait in `_waiting` by their outcome, which most of them share, until `settle` adds them up.
    """

    plan: CaseScorecardPlan
    errors: int = 0
    samples: dict[str, Sample] = field(init=False)  # by metric, then `composite`
    _labels: dict[str, int] = field(init=False)
    _passed: dict[str, int] = field(init=False)
    _waiting: dict[CaseOutcome, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start from nothing."""
        metrics = [metric.name for metric in self.plan.metrics]
        self.samples = {name: Sample() for name in (*metrics, "composite")}
        self._labels = dict.fromkeys((label for label, _ in reversed(self.plan.exits)), 0)
        self._passed = dict.fromkeys(metrics, 0)

    def add(self, outcome: CaseOutcome) -> None:
        """Take in a scored case."""
        self._waiting[outcome] = self._waiting.get(outcome, 0) + 1

    def settle(self) -> None:
        """Add up the cases that wait."""
        waiting, self._waiting = self._waiting, {}
        for name, sample in self.samples.items():
            sample.add([(outcome.scores[name], count) for outcome, count in waiting.items()])
        for outcome, count in waiting.items():
            self._labels[outcome.label] += count
            for name, passes in zip(self._passed, outcome.passes, strict=True):
                self._passed[name] += passes * count

    def merge(self, other: CaseGroup) -> None:
        """Take in the cases of another group."""
        other.settle()
        self.errors += other.errors
        for name, sample in self.samples.items():
            sample.merge(other.samples[name])
        for mine, theirs in ((self._labels, other._labels), (self._passed, other._passed)):
            for name, count in theirs.items():
                mine[name] += count

    @property
    def scored(self) -> int:
        """How many cases have scores."""
        return sum(self.labels.values())

    @property
    def total(self) -> int:
        """How many cases there are."""
        return self.scored + self.errors

    @property
    def labels(self) -> dict[str, int]:
        """How many cases bear each label, the best label first."""
        self.settle()
        return dict(self._labels)

    @property
    def passed(self) -> dict[str, int]:
        """How many cases pass each metric, and (`overall`) bear the accepted label."""
        self.settle()
        return {**self._passed, "overall": self._labels[self.plan.accepted]}

    def means(self) -> dict[str, float]:
        """The mean of every metric and of the composite over the scored cases; 0 for no case."""
        self.settle()
        return {name: sample.mean for name, sample in self.samples.items()}

    def pass_rates(self) -> dict[str, float]:
        """The share of all cases that pass each metric, and `overall` of those with the accepted label; 0 for none."""
        total = self.total
        return {name: count / total if total else 0.0 for name, count in self.passed.items()}

    def intervals(self, level: float, up_to: int) -> JsonObject:
        """The confidence intervals of the means (`up_to`: see `Sample.interval`) and of the pass rates."""
        self.settle()
        total = self.total
        return {
            "mean_scores": {name: sample.interval(level, up_to) for name, sample in self.samples.items()},
            "pass_rates": {name: wilson(count, total, level) for name, count in self.passed.items()},
        }


@dataclass(slots=True)
class Tally:
    """The cases of a run: give it every one, then ask for the parts of the report."""

    plan: CaseScorecardPlan
    batches: dict[str, CaseGroup] = field(default_factory=dict)
    archetypes: dict[str, CaseGroup] = field(default_factory=dict)
    _frequent: list[tuple[bool, TopPhrases]] = field(init=False)
    _counted: list[int] = field(init=False)
    _worst: list[tuple[float, int, JsonObject]] = field(default_factory=list)
    _limit: float = float("inf")
    _seen: int = 0

    def __post_init__(self) -> None:
        """Start from nothing."""
        self._frequent = [(metric.common.of == "found", TopPhrases(COMMON)) for metric in self.plan.metrics]
        self._counted = [0] * len(self.plan.metrics)

    def batch(self, name: str) -> CaseGroup:
        """The group of a batch, which exists from now on."""
        return self.batches.setdefault(name, CaseGroup(self.plan))

    def whole(self) -> CaseGroup:
        """All cases together."""
        whole = CaseGroup(self.plan)
        for group in self.batches.values():
            whole.merge(group)
        return whole

    def add(self, batch: CaseGroup, archetype: str | None, scored: Scored, result: JsonObject) -> None:
        """Take in a scored case; `result` is its entry in the report."""
        outcome = scored.outcome
        self._seen += 1
        batch.add(outcome)
        self._archetype(archetype).add(outcome)
        for at, (of_found, frequent) in enumerate(self._frequent):
            phrases = scored.found[at] if of_found else scored.missing[at]
            if phrases:
                self._counted[at] += len(phrases)
                frequent.add(phrases)
        composite = outcome.scores["composite"]
        if composite < self._limit:
            self._add_worst(composite, result)
        if self._seen % _SETTLE_EVERY == 0:
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
        heapq.heappush(self._worst, (-round(composite, 12), -self._seen, result))
        if len(self._worst) > WORST:
            heapq.heappop(self._worst)
            self._limit = -self._worst[0][0] - 5e-13

    def add_error(self, batch: CaseGroup, archetype: str | None) -> None:
        """Take in a case that could not be scored."""
        batch.errors += 1
        self._archetype(archetype).errors += 1

    def worst(self) -> list[JsonObject]:
        """The cases with the lowest composite, ascending, ties in input order."""
        return [result for _, _, result in sorted(self._worst, key=lambda entry: (-entry[0], -entry[1]))]

    def common(self) -> dict[str, list[JsonObject]]:
        """The most frequent misses and violations of each metric, ties in order of first sight."""
        return {
            metric.common.name: [
                {metric.common.item: phrase, metric.common.count: count} for phrase, count in frequent.most()
            ]
            for metric, (_, frequent) in zip(self.plan.metrics, self._frequent, strict=True)
        }

    def counted(self) -> dict[str, int]:
        """How many phrases of the batch count against each metric: misses or violations."""
        return {metric.name: count for metric, count in zip(self.plan.metrics, self._counted, strict=True)}

    def by_archetype(self) -> dict[str, JsonObject]:
        """The groups in order of first sight."""
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
    """The exit status of the gravest label that occurs."""
    return next((status for label, status in plan.exits if labels[label]), 0)
