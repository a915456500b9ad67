from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import CaseScorecardDocument


def accepted_label_fails(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """The accepted label has an exit code other than 0, or another label has the exit code 0.

    Why it matters: a build that reads the exit code passes where the scorecard does not accept, or fails where it does.
    Instead: give 0 to the accepted label only.
    """
    for label, status in scorecard.exits:
        if (status == 0) != (label == scorecard.accepted) and scorecard.accepted:
            other = "is not accepted, but exits with 0" if status == 0 else f"is accepted, but exits with {status}"
            notes = [(scorecard.place("accepted"), "the accepted label")]
            yield warning(scorecard.place("exit", label), f"`{label}` {other}", notes=notes)
            return
