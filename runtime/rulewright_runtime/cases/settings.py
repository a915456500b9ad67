"""Settings of a run: one value for every parameter, and other values for some archetypes or clinical metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.scoring import Scorer
from rulewright_runtime.errors import PlanError
from rulewright_runtime.parameters import parameter_values

Given = Mapping[str, Any]


def settings_hash(plan: CaseScorecardPlan, values: Given, *groups: Mapping[str, Given]) -> str:
    """The sha256 (hex) of the scorecard and every value in force, scores as numbers; `groups` are those of archetypes
    and clinical metrics. Equal hashes score alike."""
    everything = (replace(plan, hash=""), values, *groups)
    return hashlib.sha256(msgspec.json.encode(everything, order="deterministic")).hexdigest()


@dataclass(slots=True)
class Settings:
    """The scorers of a run. `given` replaces defaults; `metric_ids` and `archetypes` replace those for some cases: the
    archetype's value wins over the metric's, and that over the general one. PlanError for a bad name or value.
    """

    plan: CaseScorecardPlan
    given: Given = field(default_factory=dict)
    metric_ids: Mapping[str, Given] = field(default_factory=dict)
    archetypes: Mapping[str, Given] = field(default_factory=dict)
    _scorers: dict[tuple[str | None, str | None], Scorer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare every combination that has values of its own, so that a bad one is found before anything runs."""
        for archetype in (None, *self.archetypes):
            for metric_id in (None, *self.metric_ids):
                self.scorer(archetype, metric_id)

    def scorer(self, archetype: str | None, metric_id: str | None) -> Scorer:
        """The scorer of a case."""
        key = (
            archetype if archetype in self.archetypes else None,
            metric_id if metric_id in self.metric_ids else None,
        )
        found = self._scorers.get(key)
        if found is None:
            found = self._scorers[key] = Scorer(self.plan, self.values(*key))
        return found

    def values(self, archetype: str | None = None, metric_id: str | None = None) -> dict[str, Any]:
        """The value of every parameter for such a case."""
        given = {
            **self.given,
            **(self.metric_ids.get(metric_id, {}) if metric_id is not None else {}),
            **(self.archetypes.get(archetype, {}) if archetype is not None else {}),
        }
        try:
            return parameter_values([setting.parameter for setting in self.plan.settings], given)
        except PlanError as error:
            where = [f"archetype `{archetype}`"] * (archetype is not None)
            where += [f"metric `{metric_id}`"] * (metric_id is not None)
            raise PlanError(f"{', '.join(where)}: {error}" if where else str(error)) from None
