"""Rule: a gate that passes when the profile leaves out all of its checks."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scorecard import ScorecardDocument


def gate_ignores_unrun_checks(scorecard: ScorecardDocument) -> Iterator[Diagnostic]:
    """A gate combines `left_out: ignore` with `not_run: passed`.

    Why it matters: a profile that leaves out every check of the gate makes it pass unchecked.
    Instead: remove `left_out: ignore`, so that checks which apply but were left out keep the gate undecided, or write
    `not_run: undecided`.
    """
    for gate in scorecard.gates:
        if gate.left_out == "ignore" and gate.not_run == "passed":
            place = scorecard.place("gates", gate.name, "empty", "not_run")
            yield warning(
                place,
                f"the gate `{gate.name}` passes when the profile leaves out all of its checks",
                help="remove `left_out: ignore`, or write `not_run: undecided`",
            )
