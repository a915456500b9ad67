from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def branch_always_taken(scenario: ScenarioDocument) -> Findings:
    """A branch is taken whatever the assistant says.

    Why it matters: the turn's own message is never sent, and later branches are never tried.
    Instead: give the condition values, or make the branch's message the turn's own.
    """
    for turn in scenario.turns[1:]:
        for branch in turn.branches:
            empty = not branch.values and branch.type in ("contains_all", "not_contains")
            empty_text = bool(branch.values) and (
                (branch.type == "contains_any" and "" in branch.values)
                or (branch.type == "contains_all" and not any(branch.values))
            )
            if (empty or empty_text) and "condition" in branch.node:
                yield warning(
                    branch.key_place("condition"),
                    f"`{branch.branch_id}` is always taken: "
                    + ("every reply contains the empty text" if empty_text else f"`{branch.type}` has no values"),
                )
