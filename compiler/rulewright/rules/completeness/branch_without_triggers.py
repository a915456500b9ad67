from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def branch_without_triggers(scenario: ScenarioDocument) -> Findings:
    """A branch has `expected_behaviors` but no `autofail_triggers`, although its turn has some.

    Why it matters: when the branch is taken, nothing says what fails the answer.
    Instead: add `autofail_triggers` to the branch.
    """
    for turn in scenario.turns:
        for branch in turn.branches if "autofail_triggers" in turn.node else ():
            if "expected_behaviors" in branch.node and "autofail_triggers" not in branch.node:
                yield warning(
                    branch.key_place("expected_behaviors"),
                    f"the branch `{branch.branch_id}` has no `autofail_triggers`",
                    notes=[(turn.key_place("autofail_triggers"), "the turn has them")],
                )
