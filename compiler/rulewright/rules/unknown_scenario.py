"""Rule: a reference to a scenario that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import scalar
from rulewright.lower.applicability import texts_of_scenarios
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def unknown_scenario(project: Project) -> Iterator[Diagnostic]:
    """A scenario is declared a variant of one that does not exist, or a check's `when` names one.

    Why it matters: comparisons leave the pair out, and the check misses the scenario it was made for.
    Instead: correct the id, or remove it.
    """
    for scenario in project.scenarios.values():
        named = scalar(scenario.node, "sms_variant_of")
        if named is not None and named.value not in project.scenarios:
            help = did_you_mean(str(named.value), project.scenarios)
            yield error(named, f"unknown scenario `{named.value}`", help=help)
    for name, place in texts_of_scenarios(project, "id") if project.scenarios else ():
        if name not in project.scenarios:
            yield error(place, f"unknown scenario `{name}`", help=did_you_mean(name, project.scenarios))
