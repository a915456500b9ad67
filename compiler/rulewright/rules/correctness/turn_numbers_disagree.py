from rulewright.diagnostics import Findings, error
from rulewright.documents.base import number
from rulewright.documents.scenario import NUMBER_KEYS, ScenarioDocument


def turn_numbers_disagree(scenario: ScenarioDocument) -> Findings:
    """A turn has two numbers that differ.

    Why it matters: only one of them is read, so references to the other mean another turn.
    Instead: write the same number, or only one of the keys.
    """
    for turn in scenario.turns:
        given = [(key, number(turn.node, key)) for key in NUMBER_KEYS if key in turn.node]
        for key, value in given[1:]:
            if value != given[0][1]:
                yield error(
                    turn.place(key),
                    f"`{key}` is {value}, but `{given[0][0]}` is {given[0][1]}",
                    notes=[(turn.place(given[0][0]), "this number is used")],
                )
