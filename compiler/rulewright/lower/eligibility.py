"""When a check applies and when it is silenced, as programs over `scenario`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.expression.build import build
from rulewright.expression.types import BOOL
from rulewright.lower.environments import listed, scenario_environment
from rulewright.lower.expressions import build_in
from rulewright.prompts import quoted

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.check import Check
    from rulewright.expression.build import Built

ANY = ("any",)


def eligible(check: Check, exempt: tuple[str, ...], found: list[Diagnostic]) -> Built | None:
    """The program that says whether the check applies; None: it always does.

    A universal check always applies. Otherwise a scenario that lists `eligible_modes` decides alone; else one of the
    check's tags has to be among the scenario's, or its `when` has to hold. A capability-aware check applies nowhere
    when the project says that its claim is true of the system under evaluation.
    """
    own = None if check.when is None else build_in(check.when, scenario_environment(), found, expect=BOOL)
    if check.routing.system_capability_aware and check.id in exempt:
        return build("false", scenario_environment(), expect=BOOL)
    if check.scope == "universal" or (check.when is not None and own is None):
        return None
    listed_there = f"{quoted(check.id)} in scenario.eligible_modes"
    condition = with_tags(check.tags or ()) if own is None else f"{own.program.source}\n"  # it may end with a comment
    text = f"size(scenario.eligible_modes) > 0 ? {listed_there} : ({condition})"
    return build(text, scenario_environment(), expect=BOOL)


def with_tags(tags: tuple[str, ...]) -> str:
    """The condition that a scenario bears one of the tags; no tags, or exactly `any`, is true everywhere."""
    if not tags or tags == ANY:
        return "true"
    return f"scenario.tags.exists(t, t in {listed(tags)})"


def suppressed(check: Check) -> Built | None:
    """The program that says whether the check leaves no record at all; None: never."""
    tags = check.routing.safety_override_suppressed_by
    if not tags:
        return None
    return build(f"scenario.tags.exists(t, t in {listed(tags)})", scenario_environment(), expect=BOOL)
