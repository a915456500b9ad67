"""Rule: a metric over cases that is flagged at its best."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.lower.case_scorecard import lower_case_scorecard, values_of_defaults
from rulewright.proving.case_values import value_where


def full_score_is_flagged(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """A metric is flagged where it is 1, or the composite is more than 1 where every metric is 1.

    Why it matters: the report points at the cases that are right, or shows scores off the scale.
    Instead: turn the comparison around, or divide the sum by the number of metrics: `mean` and `wmean` do so.
    """
    plan, _ = lower_case_scorecard(scorecard)
    if plan is None:
        return
    parameters, best = values_of_defaults(scorecard), {metric.name: 1 for metric in plan.metrics}
    for metric, lowered in zip(scorecard.metrics, plan.metrics, strict=True):
        if metric.flagged is not None and lowered.flagged and value_where(lowered.flagged, parameters, best) is True:
            yield warning(metric.flagged, f"`{metric.name}` is flagged where it is 1, the best score")
    total = None if scorecard.composite is None else value_where(plan.composite, parameters, best)
    if scorecard.composite is not None and total is not None and total > 1:
        yield warning(scorecard.composite, f"`composite` is {float(total):g} where every metric is 1")
