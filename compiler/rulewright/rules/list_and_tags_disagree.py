"""Rule: a scenario's list of checks that its own tags contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.applicability import by_tags
from rulewright.diagnostics import advice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.project import Project


def list_and_tags_disagree(project: Project) -> Iterator[Diagnostic]:
    """A scenario's `eligible_modes` lists other checks than its tags select.

    Why it matters: where there is a list, it alone decides and the tags are not read; whoever adds a tag or a check
    by tag believes it applies here.
    Instead: list the check, remove it, or give the scenario the tag that the check waits for.
    """
    for scenario in project.scenarios.values():
        if not scenario.eligible_modes:
            continue
        listed = set(scenario.eligible_modes)
        missing, extra = [], []
        for check in project.checks:
            selected = by_tags(check, scenario)
            if check.scope == "universal" or selected is None:
                continue
            if selected and check.id not in listed:
                missing.append(check.id)
            if not selected and check.id in listed:
                extra.append(check.id)
        place = scenario.key_place("eligible_modes")
        if missing:
            yield advice(place, f"the tags select {_names(missing)}, but the list leaves them out")
        if extra:
            yield advice(place, f"the list holds {_names(extra)}, which no tag selects")


def _names(ids: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in ids)
