"""Rule: an event window whose events nothing marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import first_place
from rulewright.lower.semantics import unit_of

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.project import Project


def event_window_unbounded(project: Project) -> Iterator[Diagnostic]:
    """A check that applies everywhere has the unit `event_window`, and in most scenarios nothing marks the event.

    Why it matters: without an anchor and without a lexicon that finds the cue the judge gets the whole transcript, and
    may fail an answer for what was said far from the cue, or pass it for what was made good later.
    Instead: name a lexicon of cues in `routing.deterministic_precheck`, add anchors to the scenarios, or choose
    `local_exchange`, whose windows are bounded.
    """
    units = project.scoring.unit_by_bucket if project.scoring else {}
    for check in project.checks:
        unit = unit_of(check, units, default_units=project.semantics == "seed")
        if not check.is_judged or not check.is_universal or unit != "event_window" or _finds_cues(check, project):
            continue
        scenarios = project.scenarios.values()
        open_ = [scenario for scenario in scenarios if not _is_anchored(check, scenario)]
        if len(scenarios) and 2 * len(open_) > len(scenarios):
            path = ("routing", "unit_of_analysis") if check.routing.unit_of_analysis else ("routing", "route")
            share = f"{len(open_)} of {len(scenarios)} scenarios"
            yield warning(
                check.place(*path),
                f"nothing marks the event in {share}: the judge gets the whole transcript",
                notes=[(first_place(open_[0].node), f"no anchor for `{check.id}`")],
            )


def _finds_cues(check: CheckDocument, project: Project) -> bool:
    return project.semantics == "seed" and check.routing.deterministic_precheck in project.lexicons


def _is_anchored(check: CheckDocument, scenario: ScenarioDocument) -> bool:
    return any(not anchor.modes or check.id in anchor.modes for anchor in scenario.cue_anchors)
