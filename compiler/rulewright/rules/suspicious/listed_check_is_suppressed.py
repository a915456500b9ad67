from rulewright.diagnostics import Findings, warning
from rulewright.lower.applicability import is_suppressed
from rulewright.project import Project


def listed_check_is_suppressed(project: Project) -> Findings:
    """A scenario lists a check with the scope `trigger` that one of its tags suppresses.

    Why it matters: suppression wins, so the check gives no verdict in the scenario that asks for it.
    Universal checks are left alone: they apply without being listed, and their suppression is meant for such scenarios.
    Instead: remove the check from the list, or the tag from the scenario or from the check.
    """
    checks = {check.id: check for check in project.checks}
    for scenario in project.scenarios.values():
        for i, name in enumerate(scenario.eligible_modes):
            check = checks.get(name)
            if check is not None and not check.is_universal and is_suppressed(check, scenario):
                tag = next(each for each in check.routing.safety_override_suppressed_by or () if each in scenario.tags)
                yield warning(
                    scenario.place("eligible_modes", i),
                    f"`{name}` is listed, but the tag `{tag}` suppresses it",
                    notes=[(check.key_place("routing", "safety_override_suppressed_by"), "the suppressing tags")],
                )
