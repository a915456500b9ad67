from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument


def gate_ignores_unrun_checks(scorecard: ScorecardDocument) -> Findings:
    """A gate combines `left_out` with `not_run: passed`.

    Why it matters: with `left_out: ignore`, a profile that leaves out every check of the gate makes it pass unchecked.
    With `left_out: open`, only checks that the profile leaves out keep the gate undecided; it passes if those that it
    runs have no verdict.
    Instead: write `not_run: undecided`.
    """
    for gate in scorecard.gates:
        if gate.not_run == "passed" and scorecard.get("gates", gate.name, "left_out") is not None:
            place = scorecard.place("gates", gate.name, "empty", "not_run")
            when = "the profile leaves out all of its checks" if gate.left_out == "ignore" else "none of its checks ran"
            yield warning(place, f"the gate `{gate.name}` passes when {when}", help="write `not_run: undecided`")
