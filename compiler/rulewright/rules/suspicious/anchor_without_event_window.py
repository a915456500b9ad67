from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import known_routes
from rulewright.documents.keys import keys_of
from rulewright.lower.applicability import anchored_checks, applies
from rulewright.lower.semantics import unit_of
from rulewright.project import Project

UNIT: Final = keys_of("check")["routing", "unit_of_analysis"]


def anchor_without_event_window(project: Project) -> Findings:
    """A cue anchor names a check whose unit of analysis is not `event_window`, or whose route has no window.

    Why it matters: only `event_window` uses anchors; for this check the anchor has no effect.
    Instead: set `unit_of_analysis: event_window` in the check, or remove the check from the anchor.
    """
    for scenario, check, place in anchored_checks(project):
        unit, route = unit_of(check, project), check.routing.route
        has_window = route in UNIT.routes or route not in known_routes()
        if (unit != "event_window" or not has_window) and applies(check, scenario, project.semantics) is not False:
            shown = f"`{unit}`" if unit else "the whole transcript"
            why = f"its unit is {shown}" if has_window else f"its route `{route}` has no window"
            message = f"the anchor is never used for `{check.id}`: {why}"
            yield warning(place, message, notes=[(check.key_place("routing"), "the check's routing")])
