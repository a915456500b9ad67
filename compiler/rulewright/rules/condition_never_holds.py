"""Rule: a condition that is true for no input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import holds_conditions

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import Check
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.state_machine import StateMachine
    from rulewright.documents.workflow import TaskDocument


def condition_never_holds(
    document: Check | ScorecardDocument | CaseScorecardDocument | StateMachine | TaskDocument,
) -> Iterator[Diagnostic]:
    """A condition that no input can meet.

    Why it matters: what it guards never happens, though the document reads as if it could.
    Instead: look for parts that exclude each other, or for a number on the wrong side of a comparison.
    """
    if not holds_conditions(document):
        return
    # Imported here: most documents hold no condition, and expressions are slow to import.
    from rulewright.prove.located import placed_conditions, span_of

    for placed in placed_conditions(document):
        if placed.study.never and not placed.in_table:
            after = " after those before it" if placed.study.after else ""
            yield warning(placed.place, f"this condition can never hold{after}")
        for part, holds in placed.study.dead:
            if not holds:
                yield warning(span_of(placed, part), "this part of the condition can never hold")
