import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument, MetricDocument
from rulewright.load import Scalar
from rulewright.proving.scorecard_conditions import both_hold

THRESHOLD: Final = re.compile(r"\s*(\w+)\s*(<=?|>=?)\s*([\w.]+)\s*")


def review_above_pass(scorecard: CaseScorecardDocument) -> Findings:
    """A metric both passes and fails for some scores, or never passes.

    Why it matters: usually the threshold of `fails` is above that of `passes`. The first matching row of the label
    table wins, and no score is left for a review. The scorecard still runs.
    Instead: set the threshold of `fails` at most as high as that of `passes`; write `>=` if only a full score passes.
    """
    for metric in scorecard.metrics:
        limit = None if metric.passes is None else _threshold(scorecard, metric.name, metric.passes)
        if metric.passes is not None and limit is not None and limit[0] == ">" and limit[1] >= 1:
            help = f"write `{metric.passes.text.replace('>', '>=')}`"
            yield warning(metric.passes, f"`{metric.name}` never passes: it is at most 1", help=help)
        passes, fails = (_threshold(scorecard, metric.name, written) for written in (metric.passes, metric.fails))
        if passes is None or fails is None or passes[0] not in {">=", ">"} or fails[0] not in {"<", "<="}:
            yield from _overlap(scorecard, metric)
            continue
        (_, least, low), (_, most, high) = passes, fails
        if most > least:
            message = f"`{metric.name}` fails below {high.raw} and passes from {low.raw}: scores between them do both"
            yield warning(high, message, notes=[(low, "the threshold of `passes`")] if low is not high else ())


def _overlap(scorecard: CaseScorecardDocument, metric: MetricDocument) -> Findings:
    """A finding for a value of the metric for which both of its conditions hold."""
    if metric.fails is None:
        return

    shown = both_hold(scorecard, metric.passes, metric.fails)
    if shown is not None:
        message = f"`{metric.name}` both passes and fails where {shown}"
        yield warning(metric.fails, message, notes=[(metric.passes, "the condition under which it passes")])


def _threshold(
    scorecard: CaseScorecardDocument, metric: str, written: Scalar | None
) -> tuple[str, float, Scalar] | None:
    """The operator, number and place of the number in a comparison of the metric with one threshold."""
    found = None if written is None else THRESHOLD.fullmatch(written.text)
    if written is None or found is None or found[1] != metric:
        return None
    default = next((each.default for each in scorecard.settings if each.name == found[3]), None)
    try:
        if default is None:
            return found[2], float(found[3]), written
        return found[2], default.as_float, default
    except ValueError:
        return None
