from rulewright.diagnostics import Findings, warning
from rulewright.documents.scenario import ScenarioDocument


def probes_contradict_each_other(scenario: ScenarioDocument) -> Findings:
    """An abstention probe forbids words that a recall probe of the same turn expects.

    Why it matters: an answer that passes one of the two probes fails the other.
    Instead: correct one of the words, or the number of the turn.
    """
    recalls = [each for each in scenario.probes if each.kind == "recall"]
    for probe in (each for each in scenario.probes if each.kind == "abstention"):
        expected = [word for other in recalls if other.turn == probe.turn for word in other.written]
        for forbidden in probe.written:
            text = forbidden.text.lower()
            wanted = next((each for each in expected if text and text in each.text.lower()), None)
            if wanted is not None:
                message = f"`{forbidden.value}` must not be said, but a recall probe expects `{wanted.value}`"
                yield warning(forbidden, message, notes=[(wanted, "expected here")])
