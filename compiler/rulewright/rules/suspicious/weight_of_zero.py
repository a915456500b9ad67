import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import scalars_below
from rulewright.project import Project
from rulewright.project.weights import Weighing, weights_of

READ: Final = re.compile(r"\bdimensions\.(\w+)")


def weight_of_zero(document: Project | ScenarioDocument | ScorecardDocument | TaskDocument) -> Findings:
    """A metric of a confidence loop, a dimension of a scorecard or a criterion never counts, because its weight is 0.

    Why it matters: it is measured, but never changes the confidence or the score.
    Instead: give it a weight above 0, or remove it.
    """
    weights, read = weights_of(document), _read_by_name(document)
    # Where all are 0, other findings say so.
    if isinstance(document, ScenarioDocument) or any(number > 0 for _, number, _ in weights):
        for name, number, scalar in weights:
            if number == 0 and name not in read:
                yield warning(scalar, f"`{name}` has the weight 0, so it never counts")


def _weighs(card: ScorecardDocument) -> bool:
    """Whether a scorecard takes the weights of its dimensions from the scoring file."""
    return any(each.weight is not None and "scoring." in each.weight.text for each in card.dimensions)


def _read_by_name(document: Weighing) -> set[str]:
    """The dimensions that a scorecard reads by name; of a project, those that every scorecard with weights does."""
    if not isinstance(document, ScorecardDocument):
        cards = getattr(document, "scorecards", {}).values()
        named = [_read_by_name(card) for card in cards if _weighs(card)]
        return named[0].intersection(*named[1:]) if named else set()
    return {name for each in scalars_below(document.node) for name in READ.findall(each.text)}
