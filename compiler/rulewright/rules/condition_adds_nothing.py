"""Rule: a part of a condition that the rest makes idle."""

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


def condition_adds_nothing(
    document: CaseScorecardDocument | CheckDocument | Profile | ScorecardDocument | StateMachineDocument | TaskDocument,
) -> Iterator[Diagnostic]:
    """A part of a condition without which it means the same: a duplicate, or one that another part implies.

    Why it matters: two limits where one counts; whoever changes the idle one wonders why nothing happens.
    Instead: remove the part, or correct it if another value or variable was meant.
    """
    for placed in placed_conditions(document):
        for part, joined in placed.study.idle:
            message = f"`{written(part)}` adds nothing: what it is joined to by `{_WORDS[joined]}` says it already"
            yield warning(span_of(placed, part), message)


_WORDS = {"and": "&&", "or": "||"}
