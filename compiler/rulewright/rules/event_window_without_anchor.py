"""Rule: an event window in a scenario that marks no event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.lower.applicability import applies
from rulewright.lower.semantics import unit_of

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.project import Project


def event_window_without_anchor(project: Project) -> Iterator[Diagnostic]:
    """A check of unit `event_window` applies in a scenario that has no anchor for it.

    Why it matters: without an anchor, and without a lexicon that finds the cue, the judge gets the whole transcript
    and may fail it for what was said far from the cue.
    Instead: add a cue anchor for the check to the scenario.
    """
    units = project.scoring.unit_by_bucket if project.scoring else {}
    for scenario in project.scenarios.values():
        for check in project.checks:
            unit = unit_of(check, units, default_units=project.semantics == "seed")
            anchored = any(not anchor.modes or check.id in anchor.modes for anchor in scenario.cue_anchors)
            if check.is_judged and unit == "event_window" and not anchored and _is_chosen(check, scenario):
                precheck = check.routing.deterministic_precheck
                has_cue = precheck in project.lexicons and project.semantics == "seed"
                otherwise = f"cues come from `{precheck}`, else from" if has_cue else "the judge gets"
                place = scenario.place("scenario_id")
                if check.id in scenario.eligible_modes:
                    place = scenario.place("eligible_modes", scenario.eligible_modes.index(check.id))
                yield warning(
                    place,
                    f"no anchor for `{check.id}`: {otherwise} the whole transcript",
                    notes=[(check.key_place("routing"), "its unit is `event_window`")],
                )


def _is_chosen(check: CheckDocument, scenario: ScenarioDocument) -> bool:
    """Whether the scenario asks for this very check: what applies everywhere needs no anchor everywhere."""
    return not check.is_universal and applies(check, scenario) is True
