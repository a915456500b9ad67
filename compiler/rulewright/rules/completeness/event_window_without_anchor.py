from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.applicability import applies
from rulewright.lower.semantics import unit_of
from rulewright.project import Project
from rulewright.rules.suspicious.event_window_unbounded import finds_cues


def event_window_without_anchor(project: Project) -> Findings:
    """A scenario selects a check with the unit `event_window`, but has no anchor for it.

    Why it matters: the cues then come from the check's lexicon. Where it has none, or finds none, the judge gets the
    whole transcript and may fail it for something said far from the cue.
    Instead: add a cue anchor for the check to the scenario.
    """
    for scenario in project.scenarios.values():
        for check in project.checks:
            unit = unit_of(check, project)
            anchored = any(anchor.is_for(check.id) for anchor in scenario.cue_anchors)
            if check.is_judged and unit == "event_window" and not anchored and _is_chosen(check, scenario, project):
                cues = f"the cues that `{check.routing.deterministic_precheck}` finds, or "
                seen = f"{cues if finds_cues(check, project) else ''}the whole transcript"
                place = scenario.place("scenario_id")
                if check.id in scenario.eligible_modes:
                    place = scenario.place("eligible_modes", scenario.eligible_modes.index(check.id))
                yield warning(
                    place,
                    f"no anchor for `{check.id}`: the judge gets {seen}",
                    notes=[(check.key_place("routing"), "its unit is `event_window`")],
                )


def _is_chosen(check: CheckDocument, scenario: ScenarioDocument, project: Project) -> bool:
    """Whether the scenario selects this check; one that applies everywhere does not need an anchor everywhere."""
    selects = bool(check.tags) or check.when is not None or check.id in scenario.eligible_modes
    return not check.is_universal and selects and applies(check, scenario, project.semantics) is True
