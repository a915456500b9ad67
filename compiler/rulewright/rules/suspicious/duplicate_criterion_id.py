from collections.abc import Iterator

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import items, scalar
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Scalar


def duplicate_criterion_id(scenario: ScenarioDocument) -> Findings:
    """Two criteria in the rubrics of a scenario have the same id.

    Why it matters: results are reported under the criterion's id, so one criterion is taken for the other. Within one
    rubric this is an error, because its criteria can't be distinguished at all.
    Instead: rename one of them.
    """
    first: dict[str, Scalar] = {}
    for rubric in _rubrics(scenario):
        here = {id(name) for name in rubric}
        for name in rubric:
            earlier = first.setdefault(name.text, name)
            if earlier is not name:
                notes = [(earlier, "first used here")]
                report = error if id(earlier) in here else warning
                yield report(name, f"duplicate criterion id `{name.value}`", notes=notes)


def _rubrics(scenario: ScenarioDocument) -> Iterator[list[Scalar]]:
    """The ids of each rubric: those of a turn, or of one of its branches."""
    for turn in scenario.turns:
        for node in turn.nodes:
            criteria = [item for key in ("rubric", "autofail_rubric") for item in items(node, key)]
            yield [name for each in criteria if (name := scalar(each, "id") or scalar(each, "criterion_id"))]
