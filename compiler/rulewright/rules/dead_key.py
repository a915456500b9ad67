"""Rule: a key that looks like a directive and is read by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, advice, warning
from rulewright.documents.base import value
from rulewright.documents.keys import key
from rulewright.load import Node, plain

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.project import Project

# What `semantics: reference` leaves unread of a check, and the values that ask for nothing.
SEED_ONLY: Final[tuple[tuple[tuple[str, str], tuple[object, ...]], ...]] = (
    (("scorer", "require_evidence_span"), (None, False)),
    (("scorer", "unclear_policy"), (None, "adjudicate")),
    (("routing", "dev_repetitions"), (None,)),
    (("routing", "llm_on_ambiguous"), (None, False)),
    (("routing", "system_capability_aware"), (None, False)),
)
UNREAD_TURN: Final = "gray_zone_scoring"
UNREAD_SCORING: Final = ("publication_threshold", "unclear_handling", "calibration_requirements")


def dead_key(project: Project) -> Iterator[Diagnostic]:
    """A key reads like an instruction, and nothing reads it.

    Why it matters: whoever changes it expects other verdicts or scores and gets the same. In the scoring file that is
    what is said of publishing, calibrating and unclear verdicts; in a turn, how borderline answers are scored; in
    checks, under `semantics: reference`, what only the seed semantics obey.
    Instead: say it where it is read (`scorer.unclear_policy` of a check, the scorecard, a turn's `rubric`), or make it
    a comment.
    """
    if project.scoring is not None:
        for name in UNREAD_SCORING:
            below = project.scoring.node.get(name)
            if key("scoring", (name,)).use != "consumed" and _says_something(below):
                yield warning(project.scoring.node.key_span(name), f"nothing reads `{name}`: it changes no score")
    for turn in (turn for scenario in project.scenarios.values() for turn in scenario.turns):
        if _says_something(turn.node.get(UNREAD_TURN)):
            yield advice(turn.key_place(UNREAD_TURN), f"nothing reads `{UNREAD_TURN}`: it changes no score")
    if project.semantics == "reference":
        for check in project.checks:
            for steps in _unread(check):
                yield warning(check.key_place(*steps), f"nothing reads `{steps[-1]}` under the reference semantics")


def _unread(check: CheckDocument) -> Iterator[tuple[str, ...]]:
    """The keys of a check that ask for something which the reference semantics do not do."""
    for steps, idle in SEED_ONLY:
        if value(check.node, *steps) not in idle:
            yield steps
    if check.is_judged and check.routing.deterministic_precheck is not None:
        yield ("routing", "deterministic_precheck")
    if check.routing.route == "regex_with_llm_edge" and check.prompt is not None:
        yield ("prompt",)


def _says_something(node: Node | None) -> bool:
    return node is not None and plain(node) not in (None, [], {})
