"""Finds the cases of a stored report of `rulewright score` that two scorecards label differently."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from rulewright.errors import UsageError
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.cases.json_report import CaseResult, results_of
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.values import Optional

_SEARCHED: Final = (
    "inputs.",
    "texts.",
    "metrics.",
    "requires",
    "metadata",
)  # the parts of a scorecard that scores depend on
_LARGEST: Final = 1_000_000  # phrases of one list


def case_flips(report: Path, found: JsonMapping, settings: Sequence[CaseSettings]) -> JsonObject:
    """The `flips` of the report's cases, decided by their recorded scores, and `not_told`, those for which a judge or
    matches by meaning counted. Raises UsageError if `found` shows that the scorecards would score a case differently,
    InputError for an invalid report."""
    changed = [each["place"] for each in found["settings"] if str(each["place"]).startswith(_SEARCHED)]
    changed += [each["place"] for each in (*found["regions"], *found["unknown"]) if ".score" in str(each["place"])]
    if changed:
        message = f"`{changed[0]}` differs, so the scores of a report don't apply to both scorecards"
        raise UsageError(f"{message}; run `rulewright score` with each of the scorecards")
    if any(each.metric_ids for each in settings):
        raise UsageError("a report lacks the clinical metrics of its cases, on which the settings depend")
    labels = [CaseLabels(each) for each in settings]
    flips, open_cases = [], []
    for case in results_of(str(report)):
        if is_counted_otherwise(case):
            open_cases.append(case.test_id)
            continue
        one, two = (each.of(case) for each in labels)
        if one != two:
            flips.append({"test_id": case.test_id, "batch_id": case.batch_id, "before": one, "after": two})
    return {"run": str(report), "flips": flips, **({"not_told": open_cases} if open_cases else {})}


def is_counted_otherwise(case: CaseResult) -> bool:
    """Whether a judge or matches by meaning counted in a case."""
    return any(_counts(each) for each in (*case.judged.values(), *case.semantic_matches.values()))


def _counts(results: object) -> bool:
    """Whether one of these results counted."""
    each = results if isinstance(results, list) else [results]
    return any(isinstance(one, dict) and "counted" in one for one in each)


class CaseLabels:
    """The labels of recorded scores under some settings; cases with the same scores are labelled once."""

    def __init__(self, settings: CaseSettings) -> None:
        """Nothing is labelled yet."""
        self._settings = settings
        self._names = [metric.name for metric in settings.plan.metrics]
        self._composite = prepare(settings.plan.composite)
        self._known: dict[tuple[str, tuple[float, ...]], str] = {}

    def of(self, case: CaseResult) -> str:
        """The label of a case. Raises UsageError if a score is missing."""
        missing = next((name for name in self._names if name not in case.scores), None)
        if missing is not None:
            raise UsageError(f"the report's case `{case.test_id}` has no score of `{missing}`")
        key = case.archetype, tuple([case.scores[name] for name in self._names])
        if key not in self._known:
            self._known[key] = self._label(*key)
        return self._known[key]

    def _label(self, archetype: str, scores: tuple[float, ...]) -> str:
        scorer = self._settings.scorer(archetype, None)
        bindings = {**scorer.parameters, **dict(zip(self._names, map(exact, scores), strict=True))}
        try:
            composite = self._composite(bindings)
            if isinstance(composite, Optional):
                if not composite.present:
                    raise EvaluationError("the composite has no value", "absent")
                composite = composite.value
            return scorer.label({**bindings, "composite": composite})
        except EvaluationError as failure:
            return f"an error: {failure}"


def exact(score: float) -> Score:
    """The share of at most a million phrases with this recorded double, or else the decimal of the double."""
    share = Fraction(score).limit_denominator(_LARGEST)
    found = share if float(share) == score else Fraction(repr(score))
    return Score(found.numerator, found.denominator)
