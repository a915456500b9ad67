from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import first_place
from rulewright.documents.check import CheckDocument
from rulewright.lower.semantics import unit_of
from rulewright.project import Project
from rulewright_runtime.english import plural


def event_window_unbounded(project: Project) -> Findings:
    """A check with the unit `event_window` applies everywhere, but most scenarios mark no event for it.

    Why it matters: without an anchor or a lexicon of cues, the judge gets the whole transcript. It may then fail an
    answer for something said far from the cue, or pass it for a later correction.
    Instead: set `routing.deterministic_precheck` to a lexicon of cues, add anchors to the scenarios, or choose
    `local_exchange`, whose windows are bounded.
    """
    for check in project.checks:
        unit = unit_of(check, project)
        if not check.is_judged or not check.is_universal or unit != "event_window" or finds_cues(check, project):
            continue
        scenarios = project.scenarios.values()
        unmarked = [
            scenario for scenario in scenarios if not any(anchor.is_for(check.id) for anchor in scenario.cue_anchors)
        ]
        if len(scenarios) and 2 * len(unmarked) > len(scenarios):
            path = ("routing", "unit_of_analysis") if check.routing.unit_of_analysis else ("routing", "route")
            share = f"{len(unmarked)} of {plural(len(scenarios), 'scenario')}"
            yield warning(
                check.place(*path),
                f"nothing marks the event in {share}: the judge gets the whole transcript",
                notes=[(first_place(unmarked[0].node), f"no anchor for `{check.id}`")],
            )


def finds_cues(check: CheckDocument, project: Project) -> bool:
    """Whether the check has a lexicon that finds the cues of its event windows."""
    return project.semantics == "seed" and check.routing.deterministic_precheck in project.lexicons
