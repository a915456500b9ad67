from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import texts
from rulewright.documents.scenario import numbered_turns
from rulewright.project import Project
from rulewright_runtime.english import plural

PROSE = ("expected_behaviors", "autofail_triggers")


def expectation_without_question(project: Project) -> Findings:
    """Turns state expectations in prose and have no rubric, and no profile asks about them.

    Why it matters: `expected_behaviors` and `autofail_triggers` look like tests, but decide nothing: an answer that
    does the opposite loses no score.
    Instead: set `include_expectations: true` in a profile, which makes each line a question of its own, or write a
    rubric.
    """
    profiles = project.profiles.values()
    if not profiles or any(profile.include_expectations for profile in profiles):
        return
    turns = [each.turn for scenario in project.scenarios.values() for each in numbered_turns(scenario)]
    unasked = [turn for turn in turns if not turn.rubric and any(texts(turn.node, key) for key in PROSE)]
    if unasked:
        key = next(key for key in PROSE if texts(unasked[0].node, key))
        share = f"{len(unasked)} of {plural(len(turns), 'turn')} {'states' if len(unasked) == 1 else 'state'}"
        yield advice(
            unasked[0].key_place(key),
            f"{share} expectations only in prose, and no profile asks about them",
            help="set `include_expectations: true` in a profile",
        )
