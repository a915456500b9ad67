"""Rule: a turn's probe that points at another turn."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import items, number, place_of
from rulewright.documents.scenario import ScenarioDocument


def probe_names_another_turn(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A probe stands in one turn and names another one in `t`.

    Why it matters: the answer to the named turn is probed, not to the one where every reader looks.
    Instead: move the probe to its turn or to the scenario's own `probes`, or correct `t`.
    """
    numbers = {turn.number for turn in scenario.turns}
    for turn in scenario.turns:
        for probe in items(turn.node, "probes"):
            named = number(probe, "t")
            if named is not None and turn.number is not None and named != turn.number and named in numbers:
                yield advice(place_of(probe, "t"), f"this probe stands in turn {turn.number}, but names turn {named}")
