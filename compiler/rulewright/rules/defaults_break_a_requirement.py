"""Rule: default parameters that break a requirement of their own scorecard."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.lower.case_scorecard import requirements_of_defaults


def defaults_break_a_requirement(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """The default parameters of a scorecard break one of its own requirements.

    Why it matters: every batch that keeps the defaults ends with an error before the first case is scored.
    Instead: choose defaults that meet the requirement, or relax it.
    """
    for requirement, holds in requirements_of_defaults(scorecard):
        if not holds:
            yield error(requirement, f"the defaults do not meet `{' '.join(str(requirement.value).split())}`")
