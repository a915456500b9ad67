from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import items, number, place_of
from rulewright.documents.scenario import ScenarioDocument


def probe_names_another_turn(scenario: ScenarioDocument) -> Findings:
    """A probe is written in one turn, but its `t` names an earlier one.

    Why it matters: the answer in the named turn is probed, not the one where readers expect it. A probe of a later turn
    is left alone: it stands where the user says what is to be remembered.
    Instead: move the probe to its turn or to the scenario's own `probes`, or correct `t`.
    """
    numbers = {turn.number for turn in scenario.turns}
    for turn in scenario.turns:
        for probe in items(turn.node, "probes"):
            named = number(probe, "t")
            if named is not None and turn.number is not None and named < turn.number and named in numbers:
                yield advice(place_of(probe, "t"), f"this probe of turn {turn.number} names turn {named}")
