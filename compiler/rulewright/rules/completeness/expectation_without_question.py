from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import texts
from rulewright.documents.scenario import numbered_turns, rubric_of
from rulewright.project import Project
from rulewright_runtime.english import plural

PROSE = ("expected_behaviors", "autofail_triggers")


def expectation_without_question(project: Project) -> Findings:
    """Turns have a rubric, or state expectations in prose, and no profile asks about them.

    Why it matters: criteria, `expected_behaviors` and `autofail_triggers` look like tests, but decide nothing: an
    answer that does the opposite loses no score.
    Instead: set `include_rubrics: true` in a profile, or `include_expectations: true`, which also makes each line of
    prose a question of its own.
    """
    profiles, scenarios = project.profiles.values(), project.scenarios.values()
    if not profiles or any(profile.include_expectations for profile in profiles):
        return
    nodes = (node for each in scenarios for turn in each.turns for node in turn.nodes if rubric_of(node))
    ruled = [] if any(each.include_rubrics for each in profiles) else [each.key_span("rubric") for each in nodes]
    turns = [each.turn for scenario in scenarios for each in numbered_turns(scenario)]
    unasked = [turn for turn in turns if not turn.rubric and any(texts(turn.node, key) for key in PROSE)]
    if unasked:
        key = next(key for key in PROSE if texts(unasked[0].node, key))
        share = f"{len(unasked)} of {plural(len(turns), 'turn')} {'states' if len(unasked) == 1 else 'state'}"
        yield advice(
            unasked[0].key_place(key),
            f"{share} expectations only in prose, and no profile asks about them",
            help="set `include_expectations: true` in a profile",
            notes=[(each, "nor about the criteria of rubrics") for each in ruled[:1]],
        )
    elif ruled:
        help = "set `include_rubrics: true` in a profile"
        yield advice(ruled[0], "no profile asks about the criteria of rubrics", help=help)
