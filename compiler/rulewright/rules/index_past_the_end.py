"""Rule: an index equal to the size of its list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.expression.nodes import Call, Index
from rulewright.lower.expressions_of import expressions_of

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument


def index_past_the_end(
    document: CaseScorecardDocument | CheckDocument | Profile | ScenarioDocument | ScorecardDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """An index is the size of its own list.

    Why it matters: the last item has the index `size(xs) - 1`, so there is never an item at this one, and the condition
    can't be decided.
    Instead: write `xs[size(xs) - 1]` for the last item.
    """
    for written in expressions_of(document):
        for part in written.parts():
            if not isinstance(part, Index) or not isinstance(part.index, Call) or part.index.function != "size":
                continue
            if part.operand in (part.index.target, *part.index.args):
                name, index = written.text(part.operand), written.text(part.index)
                message = f"`{name}` never has an item at `{index}`"
                yield warning(written.span(part.index), message, help=f"write `{index} - 1`")
