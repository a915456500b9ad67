"""Rule: an exit status that contradicts the accepted label."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.case_scorecard import CaseScorecardDocument


def exit_contradicts_accepted(scorecard: CaseScorecardDocument) -> Iterator[Diagnostic]:
    """The accepted label does not exit with 0, or another label does.

    Why it matters: continuous integration goes by the exit status, so it lets through what was not accepted, or stops
    what was.
    Instead: give the accepted label the status 0, and every other label another one.
    """
    exits = dict(scorecard.exits)
    passing = [label for label, status in scorecard.exits if status == 0 and label != scorecard.accepted]
    if exits.get(scorecard.accepted, 0) != 0:
        message = f"the accepted label `{scorecard.accepted}` exits with {exits[scorecard.accepted]}"
        notes = [(scorecard.key_place("exit", label), "exits with 0") for label in passing]
        yield warning(scorecard.place("accepted"), message, notes=notes)
    else:
        for label in passing:
            message = f"`{label}` exits with 0, but only `{scorecard.accepted}` is accepted"
            yield warning(scorecard.place("exit", label), message)
