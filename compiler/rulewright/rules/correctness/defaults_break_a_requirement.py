from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.lower.case_scorecard import requirements_of_defaults
from rulewright.proving.case_values import unbreakable


def defaults_break_a_requirement(scorecard: CaseScorecardDocument) -> Findings:
    """The default parameters of a scorecard break one of its own requirements, or no parameters break it.

    Why it matters: every batch that keeps the defaults ends with an error before the first case is scored. A
    sum of parameters with `min: 0` is never below 0, so `a + b >= 0` refuses nothing.
    Instead: choose defaults that meet the requirement, or correct it.
    """
    for requirement, holds in requirements_of_defaults(scorecard):
        if not holds:
            yield error(requirement, f"the defaults do not meet `{' '.join(requirement.text.split())}`")
    for requirement in unbreakable(scorecard):
        yield warning(
            requirement, "no parameters within their bounds break this requirement", help="correct the number"
        )
