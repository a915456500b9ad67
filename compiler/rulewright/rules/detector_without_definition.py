"""Rule: a detector that nothing of the project is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, advice
from rulewright.documents.base import value
from rulewright.spelling import did_you_mean

if TYPE_CHECKING:
    from rulewright.project import Project


def detector_without_definition(project: Project) -> Iterator[Diagnostic]:
    """`scorer.detectors` names neither a lexicon nor a state machine nor a marker set of the project.

    Why it matters: the check says that it was made with these patterns in mind, and nobody can look them up; where the
    routing names them too, they are never found.
    Instead: add the file of that name, correct the name, or remove it here and in the routing.
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
                        (check.place("routing", key), "the routing names it as well")
                        for key in ("deterministic_precheck", "state_machine")
                        if value(check.node, "routing", key) == name
                    ],
                    help=did_you_mean(name, project.lexicons),
                )
