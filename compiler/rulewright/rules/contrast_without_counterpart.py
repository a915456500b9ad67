"""Rule: a scenario of a contrast set that stands alone or says the same as a sibling."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.scenario import ScenarioDocument
from rulewright.project import Project


def contrast_without_counterpart(project: Project) -> Iterator[Diagnostic]:
    """A scenario of a contrast set has no sibling, or one with the same `contrast_variable`.

    Why it matters: a contrast is read off siblings that differ in one thing; without one there is nothing to compare.
    Instead: write the sibling, correct the name of the `contrast_group`, or name what differs in `contrast_variable`.
    """
    groups: dict[str, list[ScenarioDocument]] = {}
    for scenario in project.scenarios.values():
        if scenario.contrast_group is not None:
            groups.setdefault(scenario.contrast_group, []).append(scenario)
    for name, siblings in groups.items():
        if len(siblings) == 1:
            yield warning(siblings[0].place("contrast_group"), f"no other scenario is in the contrast set `{name}`")
        seen: dict[str | None, ScenarioDocument] = {}
        for scenario in siblings:
            first = seen.setdefault(scenario.contrast_variable, scenario)
            if first is not scenario:
                differs = scenario.contrast_variable or "nothing"
                yield warning(
                    scenario.place("contrast_variable"),
                    f"`{scenario.id}` and `{first.id}` both say that `{differs}` differs",
                    notes=[(first.place("contrast_variable"), "the sibling says it here")],
                )
