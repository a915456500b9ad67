from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import value
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def detector_without_definition(project: Project) -> Findings:
    """An entry of `scorer.detectors` names no lexicon, state machine or marker set of the project.

    Why it matters: the check refers to patterns that nobody can look up; if its routing names them too, they are never
    found.
    Instead: add the missing file, correct the name, or remove it here and from the routing.
    """
    known = {*project.lexicons, *project.state_machines, *(markers.name for markers in project.markers)}
    for check in project.checks if project.lexicons else ():
        marker = check.routing.scenario_marker  # one set of markers may serve every name
        served = {marker} if marker and project.marker_set(marker) is not None else set()
        for i, name in enumerate(check.scorer.detectors or ()):
            if name not in known | served:
                yield advice(
                    check.place("scorer", "detectors", i),
                    f"no lexicon, state machine or marker set is called `{name}`",
                    notes=[
                        (check.place("routing", key), "the routing names it, too")
                        for key in ("deterministic_precheck", "state_machine")
                        if value(check.node, "routing", key) == name
                    ],
                    help=did_you_mean(name, project.lexicons),
                )
