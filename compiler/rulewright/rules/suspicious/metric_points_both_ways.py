from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.base import scalar
from rulewright.documents.scorecard import CaseScorecardDocument, MetricDocument
from rulewright.lower.case_scorecard import lower_case_scorecard, values_of_defaults
from rulewright.proving.case_values import value_where
from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan


def metric_points_both_ways(scorecard: CaseScorecardDocument) -> Findings:
    """The score, the share of an empty list, or the listed part of a metric contradicts the other two.

    Why it matters: what is found either raises the score, so that an empty list has the share 1 and the report lists
    what is `missing`, or it lowers the score, with the share 0 and what was `found`. If one of the three disagrees, a
    case that demands nothing fails, the report lists what was right, or the metric rewards violations.
    Instead: correct the one that differs.
    """
    plan, _ = lower_case_scorecard(scorecard)
    values = values_of_defaults(scorecard)
    for metric, lowered in zip(scorecard.metrics, () if plan is None else plan.metrics, strict=False):
        if _found_in_nothing(lowered, plan, values):
            yield warning(metric.found, "this also holds where the output is empty")
            continue
        if (reversed_ := _reversed(metric, lowered, values)) is not None:
            yield reversed_
            continue
        is_rising = _is_rising(lowered, values)
        if is_rising is not None:
            yield from _odd(metric, lowered, is_rising)


def _found_in_nothing(metric: CaseMetric, plan: CaseScorecardPlan | None, values: dict[str, object]) -> bool:
    """Whether a text is found where every input and text is empty."""
    if plan is None:
        return False
    empty: dict[str, object] = {each.name: "" if each.type == "string" else [] for each in plan.inputs}
    empty |= {each.name: "" for each in plan.texts}
    return value_where(metric.share.found, {**values, **empty, "it": "word"}, {}) is True


def _reversed(metric: MetricDocument, lowered: CaseMetric, values: dict[str, object]) -> Diagnostic | None:
    """The condition that a score of 0 passes and not one of 1, or that 1 fails and not 0."""
    conditions = ((lowered.passes, metric.passes, "passes", 1), (lowered.fails, metric.fails, "fails", 0))
    for program, written, key, best in conditions:
        if program is None or written is None:
            continue
        truths = [value_where(program, values, {metric.name: score}) for score in (best, 1 - best)]
        if truths == [False, True]:
            message = f"a score of {1 - best} {key}, and one of {best} does not"
            return warning(written, message, help="reverse the comparison")
    return None


def _is_rising(metric: CaseMetric, values: dict[str, object]) -> bool | None:
    """Whether the score is higher where all is found than where nothing is; None where it is the same."""
    none, full = (value_where(metric.score, values, {"share": share}) for share in (0, 1))
    return None if none is None or full is None or none == full else full > none


def _odd(metric: MetricDocument, lowered: CaseMetric, is_rising: bool) -> Findings:
    effect = f"what is found {'raises' if is_rising else 'lowers'} `{metric.name}`"
    is_full = {"0": False, "1": True}.get(lowered.share.empty, is_rising)
    listed = scalar(metric.node, "common", "of")
    lists_missing = lowered.common.of == "missing"
    if is_rising not in (is_full, lists_missing):
        yield warning(metric.score, f"{effect}, but `empty` and `common` treat it as {'bad' if is_rising else 'good'}")
    elif is_full != is_rising:
        help = f"write `empty: {int(is_rising)}`"
        yield warning(metric.empty, f"an empty list gives its worst score: {effect}", help=help)
    elif lists_missing != is_rising and listed is not None:
        help = f"write `of: {'missing' if is_rising else 'found'}`"
        yield warning(listed, f"{effect}, but `common` lists what is {listed.value}", help=help)
