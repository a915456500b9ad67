import re
from typing import Final

from rulewright.diagnostics import Findings, error
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.load import place

WEIGHTS: Final = re.compile(r"\bwmean\s*\(\s*\[[^][]*\]\s*,\s*\[([^][]*)\]\s*\)")


def all_weights_zero(scorecard: CaseScorecardDocument) -> Findings:
    """All weights of the composite's weighted mean are 0 by default.

    Why it matters: a weighted mean needs a positive weight, so every case is an error unless the batch sets one.
    Instead: give at least one weight a default above 0.
    """
    written = scorecard.composite
    defaults = {each.name: each.default.value for each in scorecard.settings}
    for mean in WEIGHTS.finditer(written.text) if written is not None else ():
        weights = [weight.strip() for weight in mean[1].split(",") if weight.strip()]
        if written is not None and weights and all(_is_zero(defaults.get(weight, weight)) for weight in weights):
            yield error(place(written, mean.start(1) - 1, mean.end(1) + 1), "all these weights are 0 by default")


def _is_zero(value: object) -> bool:
    try:
        return not isinstance(value, bool) and float(str(value)) == 0
    except ValueError:
        return False
