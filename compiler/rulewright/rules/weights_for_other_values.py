"""Rule: a weighted mean with more values than weights, or fewer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, error
from rulewright.expression.nodes import Call, ListLiteral
from rulewright.lower.expressions_of import expressions_of

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument


def weights_for_other_values(
    document: CaseScorecardDocument | CheckDocument | Profile | ScenarioDocument | ScorecardDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """The two lists of a `wmean` have different lengths.

    Why it matters: there is no such mean, so the expression fails every time.
    Instead: give every value a weight.
    """
    for written in expressions_of(document):
        for part in written.parts():
            if not isinstance(part, Call) or part.function != "wmean" or len(part.args) != 2:
                continue
            values, weights = part.args
            if not isinstance(values, ListLiteral) or not isinstance(weights, ListLiteral):
                continue
            counts = len(values.items), len(weights.items)
            if counts[0] != counts[1] and not values.optional and not weights.optional:
                yield error(written.span(weights), f"`wmean` has {counts[0]} values and {counts[1]} weights")
