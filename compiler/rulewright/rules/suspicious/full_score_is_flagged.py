from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.lower.case_scorecard import lower_case_scorecard, values_of_defaults
from rulewright.proving.case_values import value_where


def full_score_is_flagged(scorecard: CaseScorecardDocument) -> Findings:
    """A metric is flagged where it is 1 and not where it is 0, or the composite is not 1 where every metric is 1.

    Why it matters: the report points at the cases that are right, or shows scores off the scale.
    Instead: reverse the comparison, let the weights add up to 1, or use `mean` or `wmean`.
    """
    plan, _ = lower_case_scorecard(scorecard)
    if plan is None:
        return
    parameters = values_of_defaults(scorecard)
    worst, best = ({metric.name: score for metric in plan.metrics} for score in (0, 1))
    for metric, lowered in zip(scorecard.metrics, plan.metrics, strict=True):
        flagged = (
            []
            if lowered.flagged is None
            else [value_where(lowered.flagged, parameters, each) for each in (worst, best)]
        )
        if metric.flagged is not None and flagged == [False, True]:
            yield warning(metric.flagged, f"`{metric.name}` is flagged where it is 1, but not where it is 0")
    if scorecard.composite is None:
        return
    least, most = (value_where(plan.composite, parameters, each) for each in (worst, best))
    if most is not None and (most > 1 or (least == 0 and 0 < most < 1)):
        yield warning(scorecard.composite, f"`composite` is {float(most):g} where every metric is 1")
