"""Rule: a detector that no lexicon of the project is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, advice
from rulewright.spelling import did_you_mean

if TYPE_CHECKING:
    from rulewright.project import Project


def detector_without_definition(project: Project) -> Iterator[Diagnostic]:
    """`scorer.detectors` names a lexicon that the project does not have.

    Why it matters: the check says that it was made with these patterns in mind, and nobody can look them up; where the
    routing names them too, they are never found.
    Instead: add the lexicon's file, mend the name, or remove it here and in the routing.
    """
    if not project.lexicons:
        return
    for check in project.checks:
        elsewhere = (check.routing.state_machine, check.routing.scenario_marker)
        for i, name in enumerate(check.scorer.detectors or ()):
            if name not in project.lexicons and name not in elsewhere:
                help = did_you_mean(name, project.lexicons)
                yield advice(check.place("scorer", "detectors", i), f"no lexicon is called `{name}`", help=help)
