"""Rule: a comparison that the range of its variable has decided already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.proving.atoms import written
from rulewright.proving.located import placed_conditions
from rulewright.proving.studies import span_of

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright.documents.state_machine import StateMachineDocument
    from rulewright.documents.workflow import TaskDocument


def comparison_out_of_range(
    document: CaseScorecardDocument | CheckDocument | Profile | ScorecardDocument | StateMachineDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """A comparison with a value that its variable can't reach, or can't pass.

    Why it matters: a score lies between 0 and 1 and a counter starts at 1, so the comparison says the same every time.
    Instead: compare with a value inside the range; `>= 0.8` where `> 80` was meant.
    """
    for placed in placed_conditions(document):
        for part, holds in placed.study.decided:
            said = "can never fail" if holds else "can never hold"
            yield warning(span_of(placed, part), f"`{written(part)}` {said}")
