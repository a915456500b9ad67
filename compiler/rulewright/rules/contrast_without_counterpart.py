from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import repeated
from rulewright.documents.scenario import ScenarioDocument
from rulewright.project import Project
from rulewright.spelling import Guess, suggest


def contrast_without_counterpart(project: Project) -> Iterator[Diagnostic]:
    """A scenario is alone in its contrast set, or another one in the set has the same `contrast_variable`.

    Why it matters: a contrast compares scenarios that differ in one thing; without a counterpart there is nothing to
    compare.
    Instead: add the counterpart, correct the name of the `contrast_group`, or name the difference in
    `contrast_variable`.
    """
    groups: dict[str, list[ScenarioDocument]] = {}
    for scenario in project.scenarios.values():
        if scenario.contrast_group is not None:
            groups.setdefault(scenario.contrast_group, []).append(scenario)
    alone = {name for name, siblings in groups.items() if len(siblings) == 1}
    for name, siblings in groups.items():
        meant = suggest(name, groups.keys() - {name})
        is_told = meant in alone and suggest(meant or "", groups.keys() - {meant}) == name and meant < name
        if name in alone and not is_told:
            place, message = siblings[0].place("contrast_group"), f"no other scenario is in the contrast set `{name}`"
            notes = [(groups[meant][0].place("contrast_group"), "a set with a similar name")] if meant else []
            yield warning(place, message, notes=notes, help=Guess(meant) if meant else None)
        for scenario, first in repeated(siblings, lambda each: each.contrast_variable):
            shared = f"`{scenario.contrast_variable}`" if scenario.contrast_variable else "none"
            yield warning(
                scenario.place("contrast_variable"),
                f"`{scenario.id}` and `{first.id}` have the same `contrast_variable`: {shared}",
                notes=[(first.place("contrast_variable"), "the other scenario")],
            )
