"""Adding up a batch: means, pass rates, labels, archetypes, worst performers and frequent misses, case by case."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rulewright_runtime.cases.frequent import Frequent
from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import Outcome, Scored

UNKNOWN: Final = "Unknown"
WORST: Final = 5
COMMON: Final = 5


@dataclass(slots=True)
class Group:
    """Sums over some cases. `total` counts errored cases as well; means are over the scored ones, rates over all."""

    names: tuple[str, ...]  # the metrics, then `composite`
    total: int = 0
    errors: int = 0
    sums: list[float] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Take in a scored case; sums run from left to right."""
        self.total += 1
        sums = self.sums
        for at, value in enumerate(outcome.scores.values()):
            sums[at] += value
        for at, passed in enumerate(outcome.passes):
            if passed:
                self.passes[at] += 1
        self.labels[outcome.label] += 1

    def add_error(self) -> None:
        """Take in a case that could not be scored."""
        self.total += 1
        self.errors += 1

    @property
    def scored(self) -> int:
        """How many cases have scores."""
        return self.total - self.errors

    def means(self) -> dict[str, float]:
        """The mean of every metric and of the composite over the scored cases; 0 for no case."""
        scored = self.scored
        return {name: total / scored if scored else 0.0 for name, total in zip(self.names, self.sums, strict=True)}

    def rate(self, label: str) -> float:
        """The share of all cases that bear `label`; 0 for no case."""
        return self.labels[label] / self.total if self.total else 0.0

    def pass_rates(self, accepted: str) -> dict[str, float]:
        """The share of all cases that pass each metric, and `overall` the share of those labelled `accepted`."""
        rates = [count / self.total if self.total else 0.0 for count in self.passes]
        return {**dict(zip(self.names, rates, strict=False)), "overall": self.rate(accepted)}


@dataclass(slots=True)
class Tally:
    """A batch on its way: give it every case, then ask for the parts of the report."""

    plan: CaseScorecardPlan
    whole: Group = field(init=False)
    archetypes: dict[str, Group] = field(default_factory=dict)
    flagged: dict[str, int] = field(default_factory=dict)
    outcomes: dict[tuple[float, ...], int] = field(default_factory=dict)
    _frequent: list[tuple[bool, Frequent]] = field(init=False)
    _counted: list[int] = field(init=False)
    _worst: list[tuple[float, int, dict[str, Any]]] = field(default_factory=list)
    _limit: float = float("inf")

    def __post_init__(self) -> None:
        """Start from nothing."""
        self.whole = self.group()
        self._frequent = [(metric.common.of == "found", Frequent(COMMON)) for metric in self.plan.metrics]
        self._counted = [0] * len(self.plan.metrics)

    def group(self) -> Group:
        """An empty group for this scorecard."""
        names = (*(metric.name for metric in self.plan.metrics), "composite")
        labels = dict.fromkeys((label for label, _ in reversed(self.plan.exits)), 0)
        return Group(names, sums=[0.0] * len(names), passes=[0] * (len(names) - 1), labels=labels)

    def add(self, archetype: str | None, scored: Scored, result: dict[str, Any]) -> None:
        """Take in a scored case; `result` is its entry in the report."""
        outcome = scored.outcome
        self.whole.add(outcome)
        self._archetype(archetype).add(outcome)
        key = tuple(outcome.scores.values())
        self.outcomes[key] = self.outcomes.get(key, 0) + 1
        for at, (of_found, frequent) in enumerate(self._frequent):
            phrases = scored.found[at] if of_found else scored.missing[at]
            if phrases:
                self._counted[at] += len(phrases)
                for phrase in phrases:
                    frequent.add(phrase)
        composite = outcome.scores["composite"]
        if composite < self._limit:
            self._add_worst(composite, result)

    def _archetype(self, archetype: str | None) -> Group:
        name = archetype or UNKNOWN
        group = self.archetypes.get(name)
        if group is None:
            group = self.archetypes[name] = self.group()
        return group

    def _add_worst(self, composite: float, result: dict[str, Any]) -> None:
        """Keep the lowest composites, ties (within 1e-12) in input order."""
        heapq.heappush(self._worst, (-round(composite, 12), -self.whole.total, result))
        if len(self._worst) > WORST:
            heapq.heappop(self._worst)
            self._limit = -self._worst[0][0] - 5e-13

    def add_error(self, archetype: str | None) -> None:
        """Take in a case that could not be scored."""
        self.whole.add_error()
        self._archetype(archetype).add_error()

    def worst(self) -> list[dict[str, Any]]:
        """The cases with the lowest composite, ascending, ties in input order."""
        return [result for _, _, result in sorted(self._worst, key=lambda entry: (-entry[0], -entry[1]))]

    def common(self) -> dict[str, list[dict[str, Any]]]:
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

    def by_archetype(self) -> dict[str, dict[str, Any]]:
        """The groups in order of first sight."""
        names = [metric.name for metric in self.plan.metrics]
        return {
            archetype: {
                "count": group.total,
                "errors": group.errors,
                **{f"mean_{name}": group.means()[name] for name in names},
                "pass_rate": group.rate(self.plan.accepted),
            }
            for archetype, group in self.archetypes.items()
        }


def exit_status(plan: CaseScorecardPlan, groups: Sequence[Group]) -> int:
    """The exit status of the gravest label that occurs."""
    for label, status in plan.exits:
        if any(group.labels[label] for group in groups):
            return status
    return 0
