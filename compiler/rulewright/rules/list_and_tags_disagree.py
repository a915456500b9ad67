"""Rule: a scenario's list of checks that its own tags contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.applicability import by_tags
from rulewright.diagnostics import advice
from rulewright.documents.base import text_scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic, Span
    from rulewright.documents.check import Check
    from rulewright.project import Project


def list_and_tags_disagree(project: Project) -> Iterator[Diagnostic]:
    """A scenario's `eligible_modes` lists other checks than its tags select.

    Why it matters: where there is a list, it alone decides and the tags are not read; whoever adds a tag or a check
    by tag believes it applies here.
    Instead: list the check, remove it, or give the scenario the tag that the check waits for.
    """
    for scenario in project.scenarios.values():
        listed = text_scalars(scenario.node, "eligible_modes")
        if not listed:
            continue
        entries = {str(entry.value): entry for entry in listed}
        missing, extra = [], []
        for check in project.checks:
            selected = by_tags(check, scenario)
            if check.scope != "trigger" or check.tags is None or selected is None:
                continue
            if selected and check.id not in entries:
                missing.append(check)
            if not selected and check.id in entries:
                extra.append(check)
        place = scenario.key_place("eligible_modes")
        if missing:
            yield advice(
                place,
                f"the list leaves out {_names(missing)}, which a tag selects",
                notes=[(_tags(check), f"what `{check.id}` looks for") for check in missing],
            )
        if extra:
            yield advice(
                place,
                f"the list holds {_names(extra)}, which no tag selects",
                notes=[(entries[check.id], "listed here") for check in extra],
            )


def _tags(check: Check) -> Span:
    return check.place("eligibility", "scenario_tags_any")


def _names(checks: list[Check]) -> str:
    return ", ".join(f"`{check.id}`" for check in checks)
