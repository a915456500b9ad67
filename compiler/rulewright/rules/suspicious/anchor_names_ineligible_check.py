from rulewright.diagnostics import Findings, warning
from rulewright.lower.applicability import anchored_checks, applies
from rulewright.project import Project


def anchor_names_ineligible_check(project: Project) -> Findings:
    """A cue anchor names a check that is not eligible in the scenario.

    Why it matters: the anchor marks a cue for the check, but the check never runs in this scenario.
    Instead: list the check in `eligible_modes`, give the scenario one of its tags, or remove it from the anchor.
    """
    for scenario, check, place in anchored_checks(project):
        if applies(check, scenario, project.semantics) is False:
            note = (check.key_place("eligibility"), "the scenario has none of these tags")
            if scenario.eligible_modes:
                note = (scenario.key_place("eligible_modes"), "not listed here")
            message = f"the anchor is never used for `{check.id}`: the check is not eligible in this scenario"
            yield warning(place, message, notes=[note])
