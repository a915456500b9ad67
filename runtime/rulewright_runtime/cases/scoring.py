"""Scoring one case: phrases are searched, and the counts decide scores, label and flags.

After the search everything depends only on the counts of phrases, so the outcome is computed once for each combination
of counts and settings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

import msgspec

from rulewright_runtime.aggregate.scorecard_values import export
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, boolean, condition
from rulewright_runtime.score import Score, parse_score, score_of
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.values import Optional, Value

_MEMO_LIMIT: Final = 16_384
PASS: Final = "PASS"
FAIL: Final = "FAIL"
Values = JsonMapping
Counts = tuple[tuple[int, int], ...]
Verdicts = tuple[str, ...]


class CaseOutcome(msgspec.Struct, frozen=True, eq=False):
    """The outcome of a case. Cases with equal counts and settings share one object; it is hashed by identity."""

    scores: dict[str, float]  # by metric, then `composite`
    label: str
    passes: tuple[bool, ...]  # by metric
    flagged: dict[str, bool]


class Scored(msgspec.Struct, frozen=True, eq=False):
    """One scored case: its outcome, and by metric the phrases found and missing, in order."""

    outcome: CaseOutcome
    found: tuple[list[str], ...]
    missing: tuple[list[str], ...]


class CaseScorer:
    """A prepared scorecard under one set of parameter values."""

    def __init__(self, plan: CaseScorecardPlan, parameters: Values) -> None:
        """Prepare every program. Raises PlanError when the values violate a requirement of the scorecard."""
        self.plan = plan
        self.parameters = dict(parameters)
        for requirement in plan.requires:
            if not boolean(requirement.that, Polarity.PERMITTING)(self.parameters):
                raise PlanError(requirement.otherwise)
        self._texts = [(text.name, prepare(text.value)) for text in plan.texts]
        self._metrics = [_PreparedMetric(metric, self.parameters) for metric in plan.metrics]
        self._composite = prepare(plan.composite)
        self._labels = [(row.label, condition(row.when, Polarity.TABLE)) for row in plan.labels]
        self._gravity = {label: at for at, (label, _) in enumerate(plan.exits)}  # 0 is the worst
        self._memo: dict[tuple[Counts, Verdicts], CaseOutcome] = {}

    def score(self, inputs: Values) -> Scored:
        """Score a case; `inputs` are strings and lists of strings. Raises EvaluationError when no label applies."""
        bindings = {**self.parameters, **inputs}
        for name, value in self._texts:
            bindings[name] = value(bindings)
        found_by, missing_by, counts = [], [], []
        lowered: dict[str, str] = {}
        for metric in self._metrics:
            found, missing, total = metric.search(bindings, lowered)
            found_by.append(found)
            missing_by.append(missing)
            counts.append((len(found), total))
        return Scored(self._outcome(tuple(counts), ()), tuple(found_by), tuple(missing_by))

    def revise(
        self, scored: Scored, inputs: Values, semantic_matches: Values | None = None, judged: Values | None = None
    ) -> Scored:
        """Score a case again with the `counted` entries of semantic matches (lists by metric) and of a judge's verdicts
        (by metric)."""
        matches, judged = semantic_matches or {}, judged or {}
        found_by, missing_by, counts, verdicts = [], [], [], []
        for metric, found, missing in zip(self._metrics, scored.found, scored.missing, strict=True):
            matched = {match["phrase"] for match in matches.get(metric.name, ()) if "counted" in match}
            if matched:
                found = [phrase for phrase in inputs[metric.of] if phrase in matched or phrase in found]
                missing = [phrase for phrase in missing if phrase not in matched]
            found_by.append(found)
            missing_by.append(missing)
            counts.append((len(found), len(found) + len(missing)))
            judgement = judged.get(metric.name, {})
            verdicts.append(str(judgement["verdict"]) if "counted" in judgement else PASS)
        return Scored(self._outcome(tuple(counts), tuple(verdicts)), tuple(found_by), tuple(missing_by))

    def _outcome(self, counts: Counts, verdicts: Verdicts) -> CaseOutcome:
        outcome = self._memo.get((counts, verdicts))
        if outcome is None:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            outcome = self._memo[counts, verdicts] = self.decide(counts, verdicts)
        return outcome

    def decide(self, counts: Counts, verdicts: Verdicts = ()) -> CaseOutcome:
        """Return the outcome for the counts `(found, total)` of each metric; `(0, 0)` is an empty share. `verdicts`
        holds a judge's verdict on each metric: FAIL makes its score 0, anything but PASS leaves the metric undecided.
        Raises EvaluationError.
        """
        verdicts = verdicts or (PASS,) * len(counts)
        bindings: JsonObject = dict(self.parameters)
        scores: dict[str, float] = {}
        for metric, (found, total), verdict in zip(self._metrics, counts, verdicts, strict=True):
            share = Score(found, total) if total else metric.empty
            value = Score(0, 1) if verdict == FAIL else metric.score({**self.parameters, "share": share})
            bindings[metric.name] = value
            scores[metric.name] = export(value)
        bindings["composite"] = composite = self.composite(bindings)
        scores["composite"] = export(composite)
        undecided = [verdict not in (PASS, FAIL) for verdict in verdicts]
        passes = tuple(
            not open_ and bool(metric.passes(bindings)) for metric, open_ in zip(self._metrics, undecided, strict=True)
        )
        flagged = {
            metric.name: bool(metric.flagged(bindings)) for metric in self._metrics if metric.flagged is not None
        }
        labels = [self.label(bindings)]
        labels += [m.unclear for m, open_ in zip(self._metrics, undecided, strict=True) if open_ and m.unclear]
        return CaseOutcome(scores, min(labels, key=lambda label: self._gravity.get(label, 0)), passes, flagged)

    def grade(self, at: int, means: Mapping[str, float]) -> tuple[bool, bool]:
        """Whether the mean of the metric at index `at` passes, and whether it fails."""
        bindings = {**self.parameters, **{name: score_of(min(max(mean, 0.0), 1.0)) for name, mean in means.items()}}
        metric = self._metrics[at]
        return bool(metric.passes(bindings)), metric.fails is not None and bool(metric.fails(bindings))

    def composite(self, bindings: Values) -> Value:
        """Return the composite of scores and parameters. Raises EvaluationError if it has no value."""
        composite = self._composite(bindings)
        if not isinstance(composite, Optional):
            return composite
        if not composite.present:
            raise EvaluationError("the composite has no value", "absent")
        return composite.value

    def label(self, bindings: Values) -> str:
        """Return the label of the first row that holds. Raises EvaluationError at an undecidable row, and when no row
        holds."""
        for label, when in self._labels:
            row = when(bindings)
            if row.holds:
                return label
            if row.undecided is not None:
                raise EvaluationError(f"the row `{label}` can't be decided: {row.undecided}", "undecided")
        scores = ", ".join(f"{metric.name} {float(bindings[metric.name]):.4g}" for metric in self._metrics)
        raise EvaluationError(f"no row of the label table holds for {scores}", "no_row")


class _PreparedMetric:
    def __init__(self, metric: CaseMetric, parameters: Values) -> None:
        self.name = metric.name
        self.empty = _number(metric.share.empty)
        self.score = prepare(metric.score)
        self.passes = prepare(metric.passes)
        self.fails = None if metric.fails is None else prepare(metric.fails)
        self.flagged = None if metric.flagged is None else prepare(metric.flagged)
        self.of = metric.share.of
        self.unclear = None if metric.judge is None else metric.judge.unclear
        self._when = None if metric.share.when is None else prepare(metric.share.when)
        self._folds = bool(metric.share.fold and parameters.get(metric.share.fold))
        self._text = _searched_text(metric.share.found)
        self._found = prepare(metric.share.found)

    def search(self, bindings: Values, lowered: dict[str, str]) -> tuple[list[str], list[str], int]:
        """Return the phrases found, those missing, and the total, which is 0 when `when` does not hold."""
        phrases = bindings[self.of]
        if not phrases or (self._when is not None and not self._when(bindings)):
            return [], [], 0
        if self._text is None or self._folds:
            return self._search_slowly(phrases, bindings)
        text = lowered.get(self._text)
        if text is None:
            text = lowered[self._text] = bindings[self._text].lower()
        found = [phrase for phrase in phrases if phrase.lower().strip() in text]
        if len(found) == len(phrases):
            return found, [], len(found)
        missing = [phrase for phrase in phrases if phrase not in found] if found else phrases
        return found, missing, len(phrases)

    def _search_slowly(self, phrases: list[str], bindings: Values) -> tuple[list[str], list[str], int]:
        names = dict(bindings)
        if self._folds:
            names = {name: fold(value) if isinstance(value, str) else value for name, value in bindings.items()}
        found: list[str] = []
        missing: list[str] = []
        for phrase in phrases:
            names["it"] = (fold(phrase) if self._folds else phrase).strip()
            (found if self._found(names) is True else missing).append(phrase)
        return found, missing, len(phrases)


def _searched_text(found: Program) -> str | None:
    """Return the name of the text in a condition `contains_ci(text, it)`, which has a faster form; else None."""
    nodes = found.nodes
    shape = [node.op for node in nodes] == ["name", "name", "call"]
    if not shape or nodes[2].value != "contains_ci" or nodes[2].args != (0, 1):
        return None
    names = [node.value for node in nodes[:2]]
    if any(len(value) != 1 or value[0][1] for value in names) or names[1][0][0] != "it":
        return None
    return str(names[0][0][0])


def _number(text: str) -> Score:
    try:
        return parse_score(text)
    except EvaluationError:
        raise PlanError(f"expected a number in the scorecard, found `{text}`") from None


_PLAIN: Final = str.maketrans(
    {
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "ʼ": "'", "＇": "'",
        "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"', "«": '"', "»": '"',
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
        "…": "...", "\u00ad": None, "\u200b": None, "\u200c": None, "\u200d": None, "\ufeff": None,
    }
)  # fmt: skip


def fold(text: str) -> str:
    """Fold typography: NFKC, plain quotes, apostrophes and dashes, no invisible characters, case folded, and every run
    of whitespace as one space."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_PLAIN)).casefold().split())
