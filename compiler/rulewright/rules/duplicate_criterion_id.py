"""Rule: two criteria of one scenario that cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.base import items, scalar
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar


def duplicate_criterion_id(scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    """Two criteria in the rubrics of a scenario have the same id.

    Why it matters: their results bear one name, so one is taken for the other; those of one turn can't be told apart
    at all, which is an error.
    Instead: rename one of them.
    """
    first: dict[str, Scalar] = {}
    for rubric in _rubrics(scenario):
        here = {id(name) for name in rubric}
        for name in rubric:
            earlier = first.setdefault(str(name.value), name)
            if earlier is not name:
                notes = [(earlier, "the first criterion of that name")]
                say = error if id(earlier) in here else warning
                yield say(name, f"another criterion is called `{name.value}` as well", notes=notes)


def _rubrics(scenario: ScenarioDocument) -> Iterator[list[Scalar]]:
    """The ids of each rubric: those of a turn, or of one of its branches."""
    for turn in scenario.turns:
        for node in (turn.node, *(branch.node for branch in turn.branches)):
            criteria = [item for key in ("rubric", "autofail_rubric") for item in items(node, key)]
            yield [name for each in criteria if (name := scalar(each, "id") or scalar(each, "criterion_id"))]
