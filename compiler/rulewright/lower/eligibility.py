"""A check's eligibility and suppression as programs over `scenario`."""

from __future__ import annotations

from rulewright.diagnostics import Diagnostic
from rulewright.documents.check import CheckDocument
from rulewright.documents.vocabulary import invisiblebench
from rulewright.expression.build import Built, build
from rulewright.expression.compose import choose, fill
from rulewright.expression.types import BOOL
from rulewright.lower.expressions import build_in, composed, scenario_environment

ANY = ("any",)


def eligible(check: CheckDocument, exempt: tuple[str, ...], findings: list[Diagnostic]) -> Built | None:
    """Return the program of the check's eligibility; None: it always applies.

    A universal check always applies. Otherwise a scenario's `eligible_modes` decides alone; without it one of the
    check's tags must be among the scenario's, or its `when` must hold. A capability-aware check applies nowhere when
    the project says that its claim is true of the system under evaluation.
    """
    own = (
        None
        if check.when is None
        else build_in(check.when, scenario_environment(check.vocabulary), findings, expect=BOOL)
    )
    if check.routing.system_capability_aware and check.id in exempt:
        return _over_scenario("false")
    if check.is_universal or (check.when is not None and own is None):
        return None
    lists = _over_scenario("size(scenario.eligible_modes) > 0")
    listed = _over_scenario(fill("id in scenario.eligible_modes", id=check.id))
    applies = own or _has_one_of(check.tags or ())
    program = choose(lists.program, listed.program, applies.program)
    if check.when is not None and composed(program, check.when, findings) is None:
        return None
    return Built(program, BOOL, lists.reads | listed.reads | applies.reads)


def suppressed(check: CheckDocument) -> Built | None:
    """Return the program that decides whether the check leaves no record at all; None: never."""
    tags = check.routing.safety_override_suppressed_by
    return _over_scenario(fill("scenario.tags.exists(t, t in tags)", tags=tags)) if tags else None


def _has_one_of(tags: tuple[str, ...]) -> Built:
    """The condition that a scenario has one of the tags; true everywhere without tags or with exactly `any`."""
    if not tags or tags == ANY:
        return _over_scenario("true")
    return _over_scenario(fill("scenario.tags.exists(t, t in tags)", tags=tags))


def _over_scenario(text: str) -> Built:
    return build(text, scenario_environment(invisiblebench()), expect=BOOL)
