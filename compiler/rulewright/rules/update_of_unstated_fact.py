"""Rule: a turn that changes a fact which no turn before it states."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import text_scalars, texts
from rulewright.documents.scenario import ScenarioDocument
from rulewright.spelling import did_you_mean


def update_of_unstated_fact(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """A turn's `updates` change a fact that neither it nor a turn before it states in `facts`.

    Why it matters: an update says that what was true before no longer is; where nothing was true before, nobody can
    tell whether an answer that repeats the old state is wrong.
    Instead: state the fact where it is first said, correct its name, or move the entry to `facts`.
    """
    stated: set[str] = set()
    for turn in scenario.turns:
        stated.update(map(_name, texts(turn.node, "facts")))
        for update in text_scalars(turn.node, "updates"):
            name = _name(str(update.value))
            if name not in stated:
                yield advice(
                    update,
                    f"no turn up to here states the fact `{name}` that this one changes",
                    help=did_you_mean(name, stated) or "state it in the `facts` of an earlier turn, or here",
                )
            stated.add(name)


def _name(fact: str) -> str:
    """The fact's name: facts are written `name=value`."""
    return fact.partition("=")[0].strip()
