from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar
from rulewright.project import Project
from rulewright.project.weights import weights_of

FAR: Final = 20  # times as large as the smallest, which a scale from 1 to 20 has
FAR_FROM_A_SHARE: Final = 5  # the same where the smallest is below 1 and the largest above


def weights_far_apart(document: CaseScorecardDocument | ScorecardDocument | TaskDocument | Project) -> Findings:
    """One weight is many times as large as another, for instance 5 next to 0.5.

    Why it matters: a misplaced decimal point, or a percentage among shares, makes one part decide alone.
    Instead: write all weights on the same scale.
    """
    yield from far_apart([(number, scalar) for _, number, scalar in weights_of(document)])


def far_apart(weights: Iterable[tuple[float, Scalar]]) -> Findings:
    """The finding for the largest of some weights, if it is on another scale than the smallest."""
    positive = sorted((each for each in weights if each[0] > 0), key=lambda each: each[0])
    if len(positive) < 2:
        return
    (least, small), (most, large) = positive[0], positive[-1]
    is_slip = len(positive) > 2 and least == positive[-2][0] and most / least in (10, 100)  # all others are equal
    if is_slip or (most / least >= FAR_FROM_A_SHARE if least < 1 < most else most / least > FAR):
        meant = next((most / by for by in (10, 100) if most / by <= positive[-2][0]), None)
        help = Guess(f"{meant:g}") if meant is not None else None
        message = f"the weight {large.raw} is {most / least:g} times as large as {small.raw}"
        yield warning(large, message, code="weights-far-apart", help=help, notes=[(small, "the smallest weight")])
