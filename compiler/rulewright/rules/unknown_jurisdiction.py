"""Rule: a scenario of a jurisdiction whose rules are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import error
from rulewright.documents.structure import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.project import Project


def unknown_jurisdiction(project: Project) -> Iterator[Diagnostic]:
    """A scenario names a jurisdiction for which there is no rule set.

    Why it matters: the scenario is judged without the rules it was written for.
    Instead: correct the name, or add the rule set's file.
    """
    if not project.rule_sets:
        return
    for scenario in project.scenarios.values():
        name = scenario.jurisdiction
        if name is not None and name not in project.rule_sets:
            near = suggest(name, project.rule_sets)
            help = f"did you mean `{near}`?" if near else None
            yield error(scenario.place("jurisdiction"), f"there is no rule set `{name}`", help=help)
