"""Settings of a run: one value for every parameter, and other values for some archetypes or clinical metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices, Chosen
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.parameters import Parameter, parameter_value, parameter_values
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.strict_json import JsonMapping, JsonObject

Given = JsonMapping


def prepared(plan: CaseScorecardPlan, choices: Choices) -> CaseSettings:
    """The scorers of a run under `choices`. PlanError, naming their sources, when together they don't fulfil what the
    scorecard requires."""
    given = _values(choices.parameters)
    metric_ids, archetypes = _by_name(choices.metric_ids), _by_name(choices.archetypes)
    try:
        return CaseSettings(plan, given, metric_ids=metric_ids, archetypes=archetypes)
    except PlanError as failure:
        raise PlanError(f"{failure}{_sources(plan, choices, str(failure))}") from None


def check_thresholds(settings: CaseSettings, choices: Choices) -> None:
    """Refuse (PlanError) that a metric fails below a higher threshold than it passes from: a score between the two
    would do both. The reference semantics take such thresholds as they are."""
    for archetype in (None, *settings.archetypes):
        for metric_id in (None, *settings.metric_ids):
            if choices.semantics.value == "seed":
                _check_thresholds(settings, choices, archetype, metric_id)


def _check_thresholds(settings: CaseSettings, choices: Choices, archetype: str | None, metric_id: str | None) -> None:
    values = settings.values(archetype, metric_id)
    scores = {each.parameter.name for each in settings.plan.settings if each.parameter.type == "score"}
    for metric in settings.plan.metrics:
        passes, fails = (mentioned([each]) & scores if each else set() for each in (metric.passes, metric.fails))
        for low in passes:
            for high in fails - passes:
                if values[low] < values[high]:
                    one, two = (
                        f"`{name}` is {float(values[name]):g} ({_source(choices, name, archetype, metric_id)})"
                        for name in (low, high)
                    )
                    message = f"{one} and {two}: a score between the two would pass {metric.name} and fail it"
                    raise PlanError(_of_group(archetype, metric_id, message))


def _source(choices: Choices, name: str, archetype: str | None, metric_id: str | None) -> str:
    """Where the value of a setting comes from, for some cases."""
    groups = (choices.archetypes.get(archetype or "", {}), choices.metric_ids.get(metric_id or "", {}))
    found = next((group[name] for group in (*groups, choices.parameters) if name in group), None)
    return "default" if found is None else found.source


def configuration(plan: CaseScorecardPlan, choices: Choices) -> JsonObject:
    """Every value in force with its source, as `--show-config` and reports say it."""
    groups = {"archetypes": choices.archetypes, "metricIds": choices.metric_ids}
    return {
        "scorecard": plan.name,
        "semantics": {"value": choices.semantics.value, "source": choices.semantics.source},
        "hash": settings_hash(plan, choices),
        "parameters": _shown(choices.parameters),
        **{key: {name: _shown(values) for name, values in group.items()} for key, group in groups.items() if group},
    }


def defaults(plan: CaseScorecardPlan) -> dict[str, Chosen]:
    """Every parameter at its default."""
    return {setting.parameter.name: Chosen(plain_value(setting.parameter), "default") for setting in plan.settings}


def plain_value(parameter: Parameter, given: Any = None) -> Any:
    """`given` (None: the default) as it is written, checked: scores as numbers. PlanError when it does not fit."""
    value = parameter_value(parameter, given)
    return float(value) if parameter.type == "score" else value


def settings_hash(plan: CaseScorecardPlan, choices: Choices) -> str:
    """The sha256 (hex) of the scorecard and every value in force: equal hashes score alike."""
    groups = (choices.archetypes, choices.metric_ids)
    bare = replace(plan, hash="", choices=Choices())
    everything = (bare, choices.semantics.value, _values(choices.parameters), *map(_by_name, groups))
    return hashlib.sha256(msgspec.json.encode(everything, order="deterministic")).hexdigest()


def _values(chosen: Mapping[str, Chosen]) -> JsonObject:
    return {name: each.value for name, each in chosen.items()}


def _by_name(groups: Mapping[str, Mapping[str, Chosen]]) -> dict[str, JsonObject]:
    return {name: _values(chosen) for name, chosen in groups.items()}


def _shown(chosen: Mapping[str, Chosen]) -> JsonObject:
    return {name: {"value": each.value, "source": each.source} for name, each in chosen.items()}


def _sources(plan: CaseScorecardPlan, choices: Choices, failure: str) -> str:
    """Where the settings that a broken requirement speaks of were written."""
    read = set().union(*(mentioned([each.that]) for each in plan.requires if each.otherwise in failure))
    groups = (choices.parameters, *choices.archetypes.values(), *choices.metric_ids.values())
    found = [each.source for group in groups for name, each in group.items() if name in read]
    written = dict.fromkeys(source for source in found if source != "default")
    return f" (set by {'; '.join(written)})" if written else ""


@dataclass(slots=True)
class CaseSettings:
    """The scorers of a run. `given` replaces defaults; `metric_ids` and `archetypes` replace those for some cases: the
    archetype's value wins over the metric's, and that over the general one. PlanError for a bad name or value.
    """

    plan: CaseScorecardPlan
    given: Given = field(default_factory=dict)
    metric_ids: Mapping[str, Given] = field(default_factory=dict)
    archetypes: Mapping[str, Given] = field(default_factory=dict)
    _scorers: dict[tuple[str | None, str | None], CaseScorer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare every combination that has values of its own, so that a bad one is found before anything runs."""
        for archetype in (None, *self.archetypes):
            for metric_id in (None, *self.metric_ids):
                self.scorer(archetype, metric_id)

    def scorer(self, archetype: str | None, metric_id: str | None) -> CaseScorer:
        """The scorer of a case."""
        key = (
            archetype if archetype in self.archetypes else None,
            metric_id if metric_id in self.metric_ids else None,
        )
        found = self._scorers.get(key)
        if found is None:
            values = self.values(*key)
            try:
                found = self._scorers[key] = CaseScorer(self.plan, values)
            except PlanError as error:
                raise PlanError(_of_group(*key, str(error))) from None
        return found

    def values(self, archetype: str | None = None, metric_id: str | None = None) -> JsonObject:
        """The value of every parameter for such a case."""
        given = {
            **self.given,
            **(self.metric_ids.get(metric_id, {}) if metric_id is not None else {}),
            **(self.archetypes.get(archetype, {}) if archetype is not None else {}),
        }
        try:
            return parameter_values([setting.parameter for setting in self.plan.settings], given)
        except PlanError as error:
            raise PlanError(_of_group(archetype, metric_id, str(error))) from None


def _of_group(archetype: str | None, metric_id: str | None, message: str) -> str:
    """A message about the settings of some cases, which says of which."""
    where = [f"archetype `{archetype}`"] * (archetype is not None)
    where += [f"metric `{metric_id}`"] * (metric_id is not None)
    return f"{', '.join(where)}: {message}" if where else message
