from rulewright.diagnostics import Findings, Span, warning
from rulewright.documents.base import text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import TAG_KEYS, ScenarioDocument
from rulewright.documents.state_machine import Cue
from rulewright.load import Scalar
from rulewright.lower.lexicons import hits_any, lower_lexicon, lower_patterns, phrases
from rulewright.lower.semantics import policies
from rulewright.project import Project
from rulewright.rules.suspicious.check_no_scenario_reaches import scenarios_reached
from rulewright_runtime.plan.scan import Lexicon


def cue_nobody_says(project: Project) -> Findings:
    """A check applies in a scenario by its tags or its condition, but no message there contains the cue it waits for.

    Why it matters: the check has nothing to verify there, and its verdict is NOT_APPLICABLE. This is about the routes
    that only words decide: `cue_response`, `scenario_rule` and `longitudinal_trace`.
    Instead: add the words to the lexicon or to a message, or correct the tag or the condition.
    """
    for check in project.checks:
        chooses = check.when is not None or check.tags
        cues = _cues(check, project) if chooses and not check.is_universal else []
        if not cues:
            continue
        closed = [each for each in project.scenarios.values() if "open" not in each.node]
        chosen = [*filter(scenarios_reached(check, project), closed)]
        silent = [each for each in chosen if not _has_cue(each, cues)]
        other = next((each for each in closed if each not in chosen and _has_cue(each, cues)), None)
        if other is not None and chosen and silent == chosen:
            notes = [(other.place("scenario_id"), "it is said here")]
            these = "with these tags" if check.when is None else "that meets this condition"
            message = f"no scenario {these} contains a cue of `{check.id}`, but `{other.id}` does"
            yield warning(check.when or check.place("eligibility", "scenario_tags_any"), message, notes=notes)
            continue
        for scenario in silent if check.when is None else ():
            message = f"this selects `{check.id}`, but no message contains one of its cues"
            yield warning(_selecting(check, scenario), message, notes=_phrases(check, project))


def _phrases(check: CheckDocument, project: Project) -> list[tuple[Scalar, str]]:
    """The first phrase of the marker set of a check, as a note."""
    named = [each for each in project.markers if each.name in (None, check.routing.scenario_marker)]
    found = [each for markers in named for each in text_scalars(markers.node, "identity_question")]
    return [(each, "the first cue") for each in found[:1] if check.routing.route == "scenario_rule"]


def _selecting(check: CheckDocument, scenario: ScenarioDocument) -> Span | Scalar:
    """The tag or the item of `eligible_modes` that selects a check."""
    listed = [each for key in ("eligible_modes", *TAG_KEYS) for each in text_scalars(scenario.node, key)]
    wanted = {check.id, *(check.tags or ())}
    return next((each for each in listed if each.value in wanted), None) or scenario.place("scenario_id")


def _has_cue(scenario: ScenarioDocument, cues: list[Lexicon]) -> bool:
    """Whether a message of the user, also in a branch, has a hit."""
    return hits_any(cues, [text for turn in scenario.turns for text in turn.messages])


def _cues(check: CheckDocument, project: Project) -> list[Lexicon]:
    """The words of the user that a check waits for; nothing where it also waits for others."""
    routing, fold = check.routing, policies(project.semantics).fold
    if routing.route == "cue_response" and (lexicon := project.lexicons.get(routing.cue or "")) is not None:
        return [lower_lexicon(lexicon, fold)] if lexicon.role != "assistant" else []  # else reported as such
    if routing.route == "scenario_rule":
        named = [each for each in project.markers if each.name in (None, routing.scenario_marker)]
        return [phrases(each.identity_question, "user", fold) for each in named if each.identity_question]
    machine = project.state_machines.get(routing.state_machine or "") if routing.route == "longitudinal_trace" else None
    if machine is None:
        return []
    begin = [machine.cues.get(each.cue) for each in machine.transitions if machine.initial in each.before]
    lowered = [None if cue is None else _of_machine(cue, project) for cue in begin]
    return [each for each in lowered if each is not None] if None not in lowered else []


def _of_machine(cue: Cue, project: Project) -> Lexicon | None:
    """A cue of the user as a lexicon."""
    fold = policies(project.semantics).fold
    lexicon = project.lexicons.get(cue.lexicon or "")
    found = lower_patterns(cue.patterns, fold, cue.role, cue.fold) if lexicon is None else lower_lexicon(lexicon, fold)
    return found if found.role == "user" else None
