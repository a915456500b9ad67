"""Rule: a check that applies in no scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.applicability import applies, by_condition, is_silenced
from rulewright.project import Project


def check_no_scenario_reaches(project: Project) -> Iterator[Diagnostic]:
    """A check applies in none of the project's scenarios.

    Why it matters: it counts as coverage, but never runs.
    Instead: add a scenario with one of its tags, list it in a scenario's `eligible_modes`, or correct its tags.
    """
    scenarios = list(project.scenarios.values())
    for check in project.checks if scenarios else ():
        holds = by_condition(check)
        if not any(_reaches(each, check, holds) for each in scenarios):
            yield warning(
                check.key_place("eligibility") if check.get("eligibility") else check.place("id"),
                f"`{check.id}` applies in none of the {len(scenarios)} scenarios"
                if len(scenarios) > 1
                else f"`{check.id}` does not apply in the only scenario",
            )


def _reaches(scenario: ScenarioDocument, check: CheckDocument, holds: Callable[[ScenarioDocument], bool]) -> bool:
    decided = applies(check, scenario)
    return not is_silenced(check, scenario) and (holds(scenario) if decided is None else decided)
