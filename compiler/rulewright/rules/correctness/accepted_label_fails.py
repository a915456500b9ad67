from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.lower.case_scorecard import lower_case_scorecard, values_of_defaults
from rulewright.proving.case_values import value_of, value_where
from rulewright_runtime.cases.case_plan import CaseMetric
from rulewright_runtime.interpreter import Evaluator, prepare
from rulewright_runtime.score import Score

BELOW: Final = tuple(Score(hundredths, 100) for hundredths in (99, 90, 75, 50))


def accepted_label_fails(scorecard: CaseScorecardDocument) -> Findings:
    """The accepted label has an exit code other than 0, another one has 0, or a row gives it to a failing case.

    Why it matters: a build that reads the exit code passes where the scorecard does not accept, or fails where it does.
    Instead: give 0 to the accepted label only, and the label only to cases that fail no metric.
    """
    exits, accepted = dict(scorecard.exits), scorecard.accepted
    passing = [label for label, status in exits.items() if status == 0]
    place = scorecard.place("accepted")
    if accepted in exits and len(passing) == 1 and passing != [accepted]:
        zero, own = scorecard.place("exit", passing[0]), scorecard.place("exit", accepted)
        is_best = _of_full_scores(scorecard) == accepted  # so that the codes are wrong
        notes = [(zero, f"`{passing[0]}` exits with 0"), *([(place, "the accepted label")] if is_best else [])]
        message = f"`{accepted}` is accepted, but exits with {exits[accepted]}"
        yield warning(own if is_best else place, message, notes=notes)
        return
    yield from _given_to_failures(scorecard)
    for label, status in scorecard.exits:
        if (status == 0) != (label == accepted) and accepted:
            other = "is not accepted, but exits with 0" if status == 0 else f"is accepted, but exits with {status}"
            yield warning(scorecard.place("exit", label), f"`{label}` {other}", notes=[(place, "the accepted label")])
            return
    if len(exits) > 1 and accepted == next(iter(exits)):
        message = f"`exit` begins with the accepted label `{accepted}`, but its order is from the worst label on"
        yield warning(scorecard.key_place("exit"), message)


def _of_full_scores(scorecard: CaseScorecardDocument) -> str:
    """The label of a case in which every metric is 1; empty where no row gives one."""
    plan, _ = lower_case_scorecard(scorecard)
    if plan is None:
        return ""
    parameters, scores = values_of_defaults(scorecard), {each.name: 1 for each in plan.metrics}
    rows = zip(scorecard.labels, plan.labels, strict=True)
    return next((row.label for row, each in rows if value_where(each.when, parameters, scores) is True), "")


def _given_to_failures(scorecard: CaseScorecardDocument) -> Findings:
    """The first row that accepts a case because of a metric that it fails, where all other metrics are 1."""
    plan, _ = lower_case_scorecard(scorecard)
    if plan is None:
        return
    parameters, conditions = values_of_defaults(scorecard), [prepare(each.when) for each in plan.labels]
    for metric in plan.metrics:
        scores = {each.name: int(each.name != metric.name) for each in plan.metrics}
        fails = metric.fails is not None and value_where(metric.fails, parameters, scores)
        if fails is not True:
            continue
        rows = zip(scorecard.labels, conditions, strict=True)
        row = next((row for row, when in rows if value_of(when, parameters, scores) is True), None)
        if row is not None and row.label == scorecard.accepted and metric.name in row.when.text:
            yield warning(row.when, f"this row gives `{row.label}` to a case that fails `{metric.name}`")
            return
    yield from _given_to_lower_scores(scorecard, conditions, plan.metrics)


def _given_to_lower_scores(
    scorecard: CaseScorecardDocument, rows: list[Evaluator], metrics: Iterable[CaseMetric]
) -> Findings:
    """The first accepting row that holds only below the full score of a metric, where it does not pass, and whatever
    the others are, beside one that holds for full scores: it would give another label."""
    parameters, passing = values_of_defaults(scorecard), {each.name: prepare(each.passes) for each in metrics}
    full, none = dict.fromkeys(passing, Score(1)), dict.fromkeys(passing, Score(0))
    lower = [(passes, {**none, name: score}) for name, passes in passing.items() for score in BELOW]
    failing = [scores for passes, scores in lower if value_of(passes, parameters, scores) is False]
    accepting = [pair for pair in zip(scorecard.labels, rows, strict=True) if pair[0].label == scorecard.accepted]
    holding = [value_of(when, parameters, full) for _, when in accepting]
    for (row, when), holds in zip(accepting, holding, strict=True):
        below = failing if True in holding and holds is False else ()
        if any(value_of(when, parameters, scores) is True for scores in below):
            yield warning(row.when, f"this row gives `{row.label}` only to cases with a lower score")
            return
