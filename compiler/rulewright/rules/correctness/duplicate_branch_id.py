from rulewright.diagnostics import Findings, error
from rulewright.documents.base import repeated
from rulewright.documents.scenario import ScenarioDocument


def duplicate_branch_id(scenario: ScenarioDocument) -> Findings:
    """Two branches of a turn have the same id.

    Why it matters: a transcript refers to the branch that was taken by its id, which is then ambiguous.
    Instead: give each branch of a turn its own id.
    """
    for turn in scenario.turns:
        named = [branch for branch in turn.branches if branch.branch_id]
        for branch, first in repeated(named, lambda each: each.branch_id):
            notes = [(first.place("branch_id"), "first used here")]
            yield error(branch.place("branch_id"), f"duplicate branch id `{branch.branch_id}`", notes=notes)
