"""Labels the cases of a report of `rulewright score` again, from their recorded scores, under another policy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Final

import msgspec

from rulewright.errors import UsageError
from rulewright.policies.cases import CaseLabels, exact, is_counted_otherwise
from rulewright.scoring.case_scorecards import load_scorecard
from rulewright.whatif.sweep import Change, breakpoints, changes, is_number, literals_of, range_of, swept
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan, Choices, SettingValue
from rulewright_runtime.cases.case_settings import (
    CaseSettings,
    check_thresholds,
    plain_value,
    prepare_settings,
    settings_hash,
)
from rulewright_runtime.cases.json_report import CaseResult, reading_report, report_outline, results_of
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.scorecard import Parameter, mentioned
from rulewright_runtime.score import exact_pair
from rulewright_runtime.strict_json import JsonObject

_GIVEN: Final = "--set"
_WORDS: Final = {"true": True, "false": False}
_REFUSED: Final = "settings that `rulewright score` refuses"


class _RecordedConfiguration(msgspec.Struct):
    scorecard: str
    hash: str
    parameters: dict[str, SettingValue]
    semantics: SettingValue
    archetypes: dict[str, dict[str, SettingValue]] = {}
    metric_ids: dict[str, dict[str, SettingValue]] = msgspec.field(default_factory=dict, name="metricIds")

    @property
    def choices(self) -> Choices:
        return Choices(self.parameters, self.archetypes, self.metric_ids, self.semantics)


def relabelled(
    report: Path, scorecard: str | None, given: Mapping[str, str], parameter: str | None = None
) -> JsonObject:
    """Return the cases whose label changes as `flips`, the undetermined ones as `undecided`, and with a `parameter` its
    `sweep`. Nothing is scored again: a change that affects the search in texts raises UsageError, as does a report of a
    scorecard that has changed since. Raises InputError for a file that is not a report, PlanError for settings that
    `score` would refuse.
    """
    before = _configuration(report)
    recorded = load_scorecard(before.scorecard).plan
    if settings_hash(recorded, before.choices) != before.hash:
        raise UsageError(f"`{before.scorecard}` is not what `{report}` was scored with; run `rulewright score` again")
    if before.metric_ids:
        raise UsageError("a report lacks the clinical metrics of its cases, on which its settings depend")
    plan = recorded if scorecard is None else load_scorecard(scorecard).plan
    choices = _chosen(plan, before.choices, given)
    _refuse_other_scores(recorded, before.choices, plan, choices, parameter)
    settings, old = prepare_settings(plan, choices), prepare_settings(recorded, before.choices)
    check_thresholds(settings, choices)
    labels, recorded_labels = CaseLabels(settings), CaseLabels(old)
    cases: list[CaseResult] = []
    undecided: list[str] = []
    for case in results_of(str(report)):
        if is_counted_otherwise(case) or recorded_labels.of(case) != case.label:
            undecided.append(case.test_id)
        else:
            cases.append(case)
    flips = [
        {"test_id": case.test_id, "batch_id": case.batch_id, "before": case.label, "after": label}
        for case in cases
        if (label := labels.of(case)) != case.label
    ]
    found: JsonObject = {
        "run": str(report),
        "scorecard": plan.name,
        "parameters": {name: each.value for name, each in choices.parameters.items()},
        "cases": len(cases) + len(undecided),
        "flips": flips,
        "undecided": undecided,
    }
    if parameter is not None:
        default = swept([each.parameter for each in plan.settings], parameter).default
        value = choices.parameters[parameter].value if parameter in choices.parameters else default
        found["sweep"] = {
            "parameter": parameter,
            "value": str(value),
            "breakpoints": _sweep(plan, choices, cases, parameter),
        }
    return found


def _configuration(report: Path) -> _RecordedConfiguration:
    values = report_outline(str(report), "configuration").values
    with reading_report(str(report)):
        return msgspec.json.decode(values.get("configuration", b"null"), type=_RecordedConfiguration)


def _chosen(plan: CaseScorecardPlan, before: Choices, given: Mapping[str, str]) -> Choices:
    """Return the recorded settings that the scorecard declares, overridden by the given ones."""
    declared = {each.parameter.name for each in plan.settings}

    def kept(values: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
        return {name: each for name, each in values.items() if name in declared}

    parameters = kept(before.parameters) | {name: _value(plan, name, value) for name, value in given.items()}
    archetypes = {name: kept(values) for name, values in before.archetypes.items()}
    return Choices(parameters, archetypes, {}, before.semantics)


def _value(plan: CaseScorecardPlan, name: str, written: str) -> SettingValue:
    parameter = next((each.parameter for each in plan.settings if each.parameter.name == name), None)
    if parameter is None:
        raise UsageError(f"`{plan.name}` has no parameter `{name}`; `rulewright score --show-config` lists them")
    value: object = _WORDS.get(written, written) if parameter.type == "bool" else written
    return SettingValue(plain_value(parameter, int(written) if parameter.type == "integer" else value), _GIVEN)


def _refuse_other_scores(
    one: CaseScorecardPlan, before: Choices, two: CaseScorecardPlan, after: Choices, parameter: str | None
) -> None:
    """Raise UsageError if the other scorecard or settings would give other scores than the recorded ones."""
    again = "so recorded scores can't be used; run `rulewright score` again"
    if _finding(one) != _finding(two):
        raise UsageError(f"`{two.name}` does not find and score the same as `{one.name}`, {again}")
    read = _read_by_scores(two.metrics)
    changed = [parameter] if parameter is not None else []
    changed += [name for name, each in after.parameters.items() if before.parameters.get(name, each) != each]
    for name in changed:
        if name in read and (name == parameter or after.parameters[name].value != before.parameters[name].value):
            raise UsageError(f"`{name}` changes what is found in a text, {again}")


def _finding(plan: CaseScorecardPlan) -> object:
    """Return the parts of a plan that determine the scores of a case."""
    metrics = [(each.name, each.share, each.score, each.judge, each.semantic) for each in plan.metrics]
    return plan.inputs, plan.texts, metrics


def _read_by_scores(metrics: Iterable[CaseMetric]) -> set[str]:
    parts = [each.share for each in metrics]
    programs = [each.score for each in metrics] + [each.found for each in parts]
    folds = {each.fold for each in parts if each.fold is not None}
    return mentioned([*programs, *(each.when for each in parts if each.when is not None)]) | folds


def _sweep(
    plan: CaseScorecardPlan, choices: Choices, cases: Sequence[CaseResult], name: str
) -> list[dict[str, object]]:
    """Return the breakpoints of a parameter in ascending order, as `sweep` does, with the cases that change there."""
    parameter = swept([each.parameter for each in plan.settings], name)
    bounds = range_of(parameter)
    label = cache(partial(_label_at, plan, choices, parameter))
    groups: dict[tuple[object, ...], list[CaseResult]] = {}
    for case in cases:
        groups.setdefault((case.archetype, *sorted(case.scores.items())), []).append(case)
    written = literals_of([plan.composite, *(row.when for row in plan.labels)])
    written |= {Fraction(str(each.value)) for each in choices.parameters.values() if is_number(each.value)}
    found: dict[Change, list[str]] = {}
    for alike in groups.values():
        first = alike[0]
        scores = {Fraction(*exact_pair(exact(score))) for score in first.scores.values()}
        for change in changes(bounds, scores | written, partial(_labelled, label, first)):
            found.setdefault(change, []).extend(each.test_id for each in alike)
    return breakpoints(found, "cases")


def _labelled(label: Callable[[Fraction], Callable[[CaseResult], str]], case: CaseResult, value: Fraction) -> str:
    return label(value)(case)


def _label_at(
    plan: CaseScorecardPlan, choices: Choices, parameter: Parameter, value: Fraction
) -> Callable[[CaseResult], str]:
    """Return the function that labels cases for a value of the parameter."""
    given: dict[str, object] = {name: each.value for name, each in choices.parameters.items()}
    given[parameter.name] = value if parameter.type == "score" else float(value)
    groups = {name: {each: chosen.value for each, chosen in of.items()} for name, of in choices.archetypes.items()}
    try:
        return CaseLabels(CaseSettings(plan, given, archetypes=groups)).of
    except PlanError:
        return lambda _: _REFUSED
