"""Rule: an anchor for a check that does not use event windows."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.lower.applicability import anchored_checks, applies
from rulewright.lower.semantics import unit_of
from rulewright.project import Project


def anchor_without_event_window(project: Project) -> Iterator[Diagnostic]:
    """A cue anchor names a check whose unit of analysis is not `event_window`.

    Why it matters: only `event_window` uses anchors; for this check the anchor has no effect.
    Instead: set `unit_of_analysis: event_window` in the check, or remove the check from the anchor.
    """
    for scenario, check, place in anchored_checks(project):
        unit = unit_of(check, project)
        if unit != "event_window" and applies(check, scenario) is not False:
            shown = f"`{unit}`" if unit else "the whole transcript"
            message = f"the anchor is never used for `{check.id}`: its unit is {shown}"
            yield warning(place, message, notes=[(check.key_place("routing"), "the check's routing")])
