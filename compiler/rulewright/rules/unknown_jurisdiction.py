"""Rule: a jurisdiction without a rule set."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error
from rulewright.lower.applicability import texts_of_scenarios
from rulewright.lower.jurisdictions import unknown_jurisdictions
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def unknown_jurisdiction(project: Project) -> Iterator[Diagnostic]:
    """A scenario names a jurisdiction without a rule set, or a check's `when` names one that no scenario has.

    Why it matters: the scenario is judged without the rules it was written for; the check never applies.
    Instead: correct the name, or add the file of the rule set.
    """
    yield from unknown_jurisdictions(project)
    known = {*project.rule_sets, *(each.jurisdiction or "" for each in project.scenarios.values())}
    for name, place in texts_of_scenarios(project, "jurisdiction") if project.scenarios else ():
        if name not in known:
            yield error(place, f"no scenario has the jurisdiction `{name}`", help=did_you_mean(name, known))
