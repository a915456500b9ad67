from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.rules.suspicious.review_above_pass import THRESHOLD


def one_threshold_for_both(scorecard: CaseScorecardDocument) -> Findings:
    """A metric passes and fails by the same parameter, although it has another one.

    Why it matters: the other threshold decides nothing in the report of the metric: no score is between the two.
    Instead: compare with the threshold that is named after the key.
    """
    names = {each.name for each in scorecard.settings}
    for metric in scorecard.metrics:
        limits = [
            found[3]
            if each is not None and (found := THRESHOLD.fullmatch(each.text)) and found[1] == metric.name
            else ""
            for each in (metric.passes, metric.fails)
        ]
        group, _, purpose = limits[0].rpartition("_")
        others = sorted(each for each in names if group and each.rpartition("_")[0] == group and "weight" not in each)
        if limits[0] == limits[1] in others and len(others) == 2 and metric.fails is not None:
            wrong, right = (
                (metric.fails, metric.passes) if "passes".startswith(purpose) else (metric.passes, metric.fails)
            )
            meant = next(each for each in others if each != limits[0])
            message = f"`passes` and `fails` both compare `{metric.name}` with `{limits[0]}`, neither with `{meant}`"
            yield warning(wrong, message, notes=[(right, "the same threshold")])
