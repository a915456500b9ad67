from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.direction import COMPARISONS
from rulewright.expression.syntax_tree import Name
from rulewright.lower.expressions_of import operations_in
from rulewright.spelling import Guess


def parameter_of_another_metric(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """A metric with a parameter of its own is compared with a parameter named after another metric.

    Why it matters: changing the metric's own threshold has no effect here.
    Instead: compare the metric with its own parameter.
    """
    metrics = {metric.name for metric in scorecard.metrics}
    settings = {setting.name for setting in scorecard.settings}
    for written, part in operations_in(scorecard, COMPARISONS):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(side, Name) or not isinstance(other, Name) or side.name not in metrics:
                continue
            owner = next((each for each in metrics if other.name.startswith(f"{each}_")), side.name)
            own = f"{side.name}{other.name.removeprefix(owner)}"
            if owner != side.name and other.name in settings and own in settings:
                message = f"`{side.name}` is compared with `{other.name}`, a parameter of `{owner}`"
                yield warning(written.span(other), message, help=Guess(own))
