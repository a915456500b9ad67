"""Settings of a run: a value for every parameter, and overrides for archetypes and clinical metrics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices, SettingValue
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scorecard import Parameter, mentioned, parameter_value, parameter_values
from rulewright_runtime.strict_json import JsonMapping, JsonObject

Values = JsonMapping


def prepare_settings(plan: CaseScorecardPlan, choices: Choices) -> CaseSettings:
    """Return the scorers of a run under `choices`. Raises PlanError, with the sources of the values, when they violate
    a requirement of the scorecard."""
    metric_ids, archetypes = _by_name(choices.metric_ids), _by_name(choices.archetypes)
    try:
        return CaseSettings(plan, _values(choices.parameters), metric_ids=metric_ids, archetypes=archetypes)
    except PlanError as failure:
        raise PlanError(f"{failure}{_sources(plan, choices, str(failure))}") from None


def check_thresholds(settings: CaseSettings, choices: Choices) -> None:
    """Raise PlanError when a metric's fail threshold is above its pass threshold: a score between the two would pass
    and fail. The reference semantics accept such thresholds."""
    if choices.semantics.value == "seed":
        for group in product((None, *settings.archetypes), (None, *settings.metric_ids)):
            _check_thresholds(settings, choices, *group)


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
    """Return the source of a setting's value for an archetype and a clinical metric."""
    groups = (choices.archetypes.get(archetype or "", {}), choices.metric_ids.get(metric_id or "", {}))
    value = next((group[name] for group in (*groups, choices.parameters) if name in group), None)
    return "default" if value is None else value.source


def configuration(plan: CaseScorecardPlan, choices: Choices) -> JsonObject:
    """Return every effective value with its source, as in `--show-config` and reports."""
    chosen = msgspec.to_builtins(choices)
    groups = {"archetypes": chosen["archetypes"], "metricIds": chosen["metric_ids"]}
    return {
        "scorecard": plan.name,
        "semantics": chosen["semantics"],
        "hash": settings_hash(plan, choices),
        "parameters": chosen["parameters"],
        **{key: group for key, group in groups.items() if group},
    }


def defaults(plan: CaseScorecardPlan) -> dict[str, SettingValue]:
    values = {each.parameter.name: plain_value(each.parameter) for each in plan.settings}
    return {name: SettingValue(value, "default") for name, value in values.items()}


def plain_value(parameter: Parameter, value: Any = None) -> Any:
    """Return the checked `value` (None: the default) as plain data, a score as float. Raises PlanError for a value that
    the parameter does not accept."""
    checked = parameter_value(parameter, value)
    return float(checked) if parameter.type == "score" else checked


def settings_hash(plan: CaseScorecardPlan, choices: Choices) -> str:
    """Return the sha256 (hex) of the scorecard and every effective value: equal hashes score equally."""
    groups = (choices.archetypes, choices.metric_ids)
    bare = replace(plan, hash="", choices=Choices())
    everything = (bare, choices.semantics.value, _values(choices.parameters), *map(_by_name, groups))
    return sha256(msgspec.json.encode(everything, order="deterministic")).hexdigest()


def _values(settings: Mapping[str, SettingValue]) -> JsonObject:
    return {name: each.value for name, each in settings.items()}


def _by_name(groups: Mapping[str, Mapping[str, SettingValue]]) -> dict[str, JsonObject]:
    return {name: _values(settings) for name, settings in groups.items()}


def _sources(plan: CaseScorecardPlan, choices: Choices, failure: str) -> str:
    """Return the sources of the settings that a violated requirement reads, in parentheses; empty without any."""
    groups = [*product((None, *choices.archetypes), (None, *choices.metric_ids))]
    sources = [
        _source(choices, name, *group)
        for each in plan.requires
        for group in groups
        if failure == _of_group(*group, each.otherwise)
        for name in (setting.parameter.name for setting in plan.settings)
        if name in mentioned([each.that])
    ]
    explicit = dict.fromkeys(source for source in sources if source != "default")
    return f" (set by {'; '.join(explicit)})" if explicit else ""


class CaseSettings(Struct):
    """The scorers of a run. `parameters` override defaults, `metric_ids` and `archetypes` override them for some cases;
    an archetype's value wins over a metric's. Raises PlanError for a bad name or value.
    """

    plan: CaseScorecardPlan
    parameters: Values = field(default_factory=dict)
    metric_ids: Mapping[str, Values] = field(default_factory=dict)
    archetypes: Mapping[str, Values] = field(default_factory=dict)
    _scorers: dict[tuple[str | None, str | None], CaseScorer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare every combination with its own values, so that a bad one is reported before anything runs."""
        for group in product((None, *self.archetypes), (None, *self.metric_ids)):
            self.scorer(*group)

    def scorer(self, archetype: str | None, metric_id: str | None) -> CaseScorer:
        """Return the scorer of a case. Raises PlanError."""
        key = (archetype if archetype in self.archetypes else None, metric_id if metric_id in self.metric_ids else None)
        scorer = self._scorers.get(key)
        if scorer is None:
            values = self.values(*key)
            try:
                scorer = self._scorers[key] = CaseScorer(self.plan, values)
            except PlanError as error:
                raise PlanError(_of_group(*key, str(error))) from None
        return scorer

    def values(self, archetype: str | None = None, metric_id: str | None = None) -> JsonObject:
        """Return the value of every parameter for an archetype and a clinical metric. Raises PlanError."""
        values = {
            **self.parameters,
            **(self.metric_ids.get(metric_id, {}) if metric_id is not None else {}),
            **(self.archetypes.get(archetype, {}) if archetype is not None else {}),
        }
        try:
            return parameter_values([setting.parameter for setting in self.plan.settings], values)
        except PlanError as error:
            raise PlanError(_of_group(archetype, metric_id, str(error))) from None


def _of_group(archetype: str | None, metric_id: str | None, message: str) -> str:
    """Prefix a message with the archetype and the clinical metric that it is about."""
    where = [f"archetype `{archetype}`"] * (archetype is not None)
    where += [f"metric `{metric_id}`"] * (metric_id is not None)
    return f"{', '.join(where)}: {message}" if where else message
