from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text_scalars, texts
from rulewright.documents.scenario import ScenarioDocument
from rulewright.spelling import did_you_mean


def update_of_unstated_fact(scenario: ScenarioDocument) -> Findings:
    """A turn's `updates` change a fact that no `facts` up to that turn state, but one with a similar name.

    Why it matters: an update says that something has ceased to be true. Without the earlier fact, an answer that
    repeats the old state can't be recognised as wrong.
    Instead: correct the name.
    """
    stated: set[str] = set()
    for turn in scenario.turns:
        stated.update(map(_name, texts(turn.node, "facts")))
        for update in text_scalars(turn.node, "updates"):
            name = _name(update.text)
            if name not in stated and (meant := did_you_mean(name, stated)):
                yield advice(update, f"no turn so far states the fact `{name}` that this one changes", help=meant)
            stated.add(name)


def _name(fact: str) -> str:
    """The fact's name: facts are written `name=value`."""
    return fact.partition("=")[0].strip()
