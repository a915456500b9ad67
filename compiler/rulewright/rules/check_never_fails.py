"""Rule: a check whose conditions never give FAIL."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright.proving.results import Proved
from rulewright.proving.verdicts import never_given


def check_never_fails(check: CheckDocument) -> Iterator[Diagnostic]:
    """The conditions of a check can never give FAIL.

    Why it matters: the check can't find a failure, so its score and its gate mean nothing.
    Instead: look for parts of `fail` that contradict each other, or for a comparison that can never hold.
    """
    if not check.verdict_conditions:
        return
    if isinstance(never_given(check, "FAIL"), Proved):
        yield warning(check.fails or check.verdict_conditions[0], "this check can never fail")
