from rulewright.diagnostics import Findings, Span, advice, warning
from rulewright.lower.applicability import anchored_checks, applies
from rulewright.lower.semantics import unit_of
from rulewright.project import Project


def several_anchors_for_check(project: Project) -> Findings:
    """Several cue anchors of a scenario name the same check.

    Why it matters: `semantics: reference` uses only the first anchor whose window contains a turn, so what happens
    after the others is never judged; `semantics: seed` judges all windows together.
    Instead: keep one anchor for each check, or use `semantics: seed` if all of them are meant.
    """
    is_reference = project.semantics == "reference"
    first: dict[tuple[str, str], Span] = {}
    for scenario, check, place in anchored_checks(project):
        if applies(check, scenario, project.semantics) is False or unit_of(check, project) != "event_window":
            continue
        earlier = first.setdefault((scenario.id, check.id), place)
        if earlier != place:
            consequence = "it is never used" if is_reference else "`semantics: reference` uses only the first"
            yield (warning if is_reference else advice)(
                place, f"a second anchor for `{check.id}`: {consequence}", notes=[(earlier, "the first anchor")]
            )
