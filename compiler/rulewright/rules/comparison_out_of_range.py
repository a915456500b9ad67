"""Rule: a comparison that the range of its variable has decided already."""

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


def comparison_out_of_range(
    document: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """A comparison with a value that its variable can't reach, or can't pass.

    Why it matters: a score lies between 0 and 1 and a counter starts at 1, so the comparison says the same every time.
    Instead: compare with a value inside the range; `>= 0.8` where `> 80` was meant.
    """
    # Imported here: most documents hold no condition, and expressions are slow to import.
    from rulewright.load import place
    from rulewright.prove.atoms import FALSE, TRUE, written
    from rulewright.prove.conditions import comparisons, never
    from rulewright.prove.placed import placed_conditions
    from rulewright.prove.results import Proved

    for placed in placed_conditions(document):
        for part in comparisons(placed.program):
            if part is placed.program and not placed.in_table:
                continue  # `condition-never-holds` and `condition-always-holds` speak of the whole
            for bits, said in ((TRUE, "can never hold"), (FALSE, "can never fail")):
                if isinstance(never(part, placed.domains, bits, solver=False), Proved):
                    start, end = part.nodes[-1].at or (0, len(part.source))
                    yield warning(place(placed.scalar, start, end), f"`{written(part)}` {said}")
                    break
