"""Rule: an anchor for a check that does not apply in its scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.lower.applicability import applies

if TYPE_CHECKING:
    from rulewright.project import Project


def anchor_names_ineligible_check(project: Project) -> Iterator[Diagnostic]:
    """A cue anchor names a check that is not eligible in the scenario.

    Why it matters: the anchor marks a cue for the check, but the check never runs in this scenario.
    Instead: list the check in `eligible_modes`, give the scenario one of its tags, or remove it from the anchor.
    """
    checks = {check.id: check for check in project.checks}
    for scenario in project.scenarios.values():
        for anchor in scenario.cue_anchors:
            for i, name in enumerate(anchor.modes):
                if name in checks and applies(checks[name], scenario) is False:
                    listed = bool(scenario.eligible_modes)
                    place = scenario.key_place("eligible_modes") if listed else checks[name].key_place("eligibility")
                    why = "not listed here" if listed else "the scenario has none of these tags"
                    yield warning(
                        anchor.place("modes", i),
                        f"the anchor is never used for `{name}`: the check is not eligible in this scenario",
                        notes=[(place, why)],
                    )
