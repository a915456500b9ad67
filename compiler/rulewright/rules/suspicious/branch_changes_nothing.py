from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def branch_changes_nothing(scenario: ScenarioDocument) -> Findings:
    """A branch sends the same message as its turn, and no later branch of the turn sends another one.

    Why it matters: the conversation is the same whether or not the branch is taken.
    Instead: write another message, or remove the branch.
    """
    for turn in scenario.turns:
        for at, branch in enumerate(turn.branches):
            own = [each.user_message == turn.user_message for each in turn.branches[at:]]
            if branch.user_message and all(own):
                yield warning(
                    branch.place("user_message"),
                    f"`{branch.branch_id}` sends the turn's own message",
                    notes=[(turn.place("user_message"), "the same message")],
                )
