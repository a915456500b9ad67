import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from rulewright.diagnostics import Findings, advice, warning
from rulewright.documents.base import value
from rulewright.documents.check import CheckDocument
from rulewright.documents.keys import key
from rulewright.documents.scenario import rubric_of
from rulewright.load import Node, plain
from rulewright.project import Project
from rulewright.project.choices import usual_scorecard

# The keys of a check that `semantics: reference` does not read, and the values without an effect.
SEED_ONLY: Final[tuple[tuple[tuple[str, str], tuple[object, ...]], ...]] = (
    (("scorer", "require_evidence_span"), (None, False)),
    (("scorer", "unclear_policy"), (None, "adjudicate")),
    (("routing", "dev_repetitions"), (None,)),
    (("routing", "llm_on_ambiguous"), (None, False)),
    (("routing", "system_capability_aware"), (None, False)),
)
WEIGHT: Final = re.compile(r"\bextra\b.{1,3}weight\b")
UNREAD_TURN: Final = "gray_zone_scoring"
UNREAD_SCORING: Final = ("publication_threshold", "unclear_handling", "calibration_requirements")


def dead_key(project: Project) -> Findings:
    """A key looks like a directive, but nothing reads it.

    Why it matters: changing it changes no verdict and no score. This concerns keys of the scoring file about
    publishing, calibration and unclear verdicts; `gray_zone_scoring` in a turn; the `weight` of a criterion under
    scorecards that do not read it; and, under `semantics: reference`, keys of checks that only `semantics: seed` reads.
    Instead: use a key that is read (`scorer.unclear_policy` of a check, the scorecard, a turn's `rubric`), or turn this
    one into a comment.
    """
    if project.scoring is not None:
        for name in UNREAD_SCORING:
            below = project.scoring.node.get(name)
            if key("scoring", (name,)).use != "consumed" and _is_filled(below):
                yield warning(project.scoring.node.key_span(name), f"nothing reads `{name}`: it changes no score")
    for turn in (turn for scenario in project.scenarios.values() for turn in scenario.turns):
        if _is_filled(turn.node.get(UNREAD_TURN)):
            yield advice(turn.key_place(UNREAD_TURN), f"nothing reads `{UNREAD_TURN}`: it changes no score")
    yield from _weights(project)
    if project.semantics == "reference":
        for check in project.checks:
            for steps in _unread(check):
                yield warning(check.key_place(*steps), f"nothing reads `{steps[-1]}` under the reference semantics")


def _weights(project: Project) -> Findings:
    """The first criterion with a weight that neither the usual scorecard nor one of the project reads."""
    cards = filter(None, (usual_scorecard(project), *project.scorecards.values()))
    if any(WEIGHT.search(card.node.source.text) for card in cards):
        return
    if any(profile.include_rubrics for profile in project.profiles.values()):
        parts = [node for each in project.scenarios.values() for turn in each.turns for node in turn.nodes]
        weighted = (each for node in parts for each in rubric_of(node) if each.weight not in (0, 1))
        for criterion in islice(weighted, 1):
            help = "the shipped scorecard `rubric` reads it as `v.extra.weight`"
            yield advice(criterion.key_place("weight"), "nothing reads `weight`: it changes no score", help=help)


def _unread(check: CheckDocument) -> Iterator[tuple[str, ...]]:
    """The keys of a check that have a value and that `semantics: reference` does not read."""
    for steps, without_effect in SEED_ONLY:
        if value(check.node, *steps) not in without_effect:
            yield steps
    if check.is_judged and check.routing.deterministic_precheck is not None:
        yield ("routing", "deterministic_precheck")
    if check.routing.route == "regex_with_llm_edge" and check.prompt is not None:
        yield ("prompt",)


def _is_filled(node: Node | None) -> bool:
    return node is not None and plain(node) not in (None, [], {})
