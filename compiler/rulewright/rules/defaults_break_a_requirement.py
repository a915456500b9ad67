"""Rule: a scorecard over cases whose own defaults it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, error
from rulewright.lower.case_scorecard import requirements_of_defaults

if TYPE_CHECKING:
    from rulewright.documents.case_scorecard import CaseScorecardDocument


def defaults_break_a_requirement(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """The defaults of the parameters do not meet what the scorecard requires of them.

    Why it matters: every batch that sets nothing ends with an error before the first case is scored.
    Instead: choose defaults that meet the requirement, or loosen it.
    """
    for requirement, holds in requirements_of_defaults(scorecard):
        if not holds:
            yield error(requirement, f"the defaults do not meet `{' '.join(str(requirement.value).split())}`")
