"""Rule: a condition that is true for no input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import Check
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.workflow import TaskDocument


def condition_never_holds(
    document: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """A condition that no input can meet.

    Why it matters: what it guards never happens, though the document reads as if it could.
    Instead: look for parts that exclude each other, or for a number on the wrong side of a comparison.
    """
    # Imported here: most documents hold no condition, and expressions are slow to import.
    from rulewright.prove.atoms import TRUE
    from rulewright.prove.conditions import never
    from rulewright.prove.placed import placed_conditions
    from rulewright.prove.results import Proved

    for placed in placed_conditions(document):
        if not placed.in_table and isinstance(never(placed.program, placed.domains, TRUE, solver=False), Proved):
            yield warning(placed.scalar, "this condition can never hold")
