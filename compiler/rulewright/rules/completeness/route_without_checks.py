from typing import Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import text_scalars
from rulewright.project import Project

OTHERS: Final = 2  # routes of a list that checks have


def route_without_checks(project: Project) -> Findings:
    """A profile lists a route that no check has.

    Why it matters: readers believe that the profile executes such checks. A list of which at most one route has checks
    is left alone: the checks are still to be written.
    Instead: remove the route, or correct the route of a check.
    """
    routes = {check.routing.route for check in project.checks}
    for profile in project.profiles.values():
        listed = text_scalars(profile.node, "include_routes")
        if len(routes & {str(each.value) for each in listed}) < OTHERS:
            continue
        for route in listed:
            if route.value not in routes:
                yield advice(route, f"no check has the route `{route.value}`")
