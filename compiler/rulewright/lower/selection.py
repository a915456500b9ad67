"""Which checks a profile runs and how often its judges vote: decided while compiling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import ExpressionError
from rulewright.expression.build import build
from rulewright.expression.compose import all_of, any_of, fill, negate
from rulewright.expression.types import BOOL
from rulewright.lower.environments import check_environment
from rulewright.lower.expressions import build_in, composed
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, boolean

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile

PAGES: Final[dict[str, str]] = {
    "empty-profile": """A profile that selects no check.

    Why it matters: a scan under it would judge nothing, and nothing judged looks like nothing wrong.
    Instead: name routes, buckets or checks that the project has, or set `include_all: true`.
    """,
}
DEFAULT_REPETITIONS: Final = 3  # seed 004, verifier types: publish default K=3


def selected(profile: Profile) -> Program:
    """The profile's selection as one program over `check`.

    Excluded checks never run. Of the others run those that are named, all with `include_all`, and those of the routes
    or buckets named; `hard_fail_only` narrows routes and buckets, or selects by itself where none is named.
    """
    chosen, words = [], profile.vocabulary
    if profile.include_routes:
        chosen.append(_over_check(fill("check.routing.route in routes", routes=profile.include_routes), words))
    if profile.include_buckets:
        chosen.append(_over_check(fill("check.primary_bucket in buckets", buckets=profile.include_buckets), words))
    ways = []
    if profile.include_modes:
        ways.append(_over_check(fill("check.id in ids", ids=profile.include_modes), words))
    if profile.include_all:
        ways.append(_over_check("true", words))
    narrowed = [any_of(chosen)] if chosen else []
    if profile.hard_fail_only and (chosen or not profile.include_modes):
        narrowed = [all_of([_over_check("check.hard_fail", words), *narrowed])]
    ways += narrowed
    if profile.exclude_modes:
        excluded = _over_check(fill("check.id in ids", ids=profile.exclude_modes), words)
        return all_of([negate(excluded), any_of(ways)])
    return any_of(ways)


def _over_check(text: str, vocabulary: Vocabulary) -> Program:
    return build(text, check_environment(vocabulary), expect=BOOL).program


def select(profile: Profile, checks: Iterable[CheckDocument], found: list[Diagnostic]) -> tuple[CheckDocument, ...]:
    """The checks the profile runs, in their order; a finding when it runs none."""
    try:
        program = selected(profile)
    except ExpressionError:  # a route or bucket that there is not: the profile's schema has found it
        return ()
    if profile.select is not None:
        own = build_in(profile.select, check_environment(profile.vocabulary), found, expect=BOOL)
        both = None if own is None else composed(all_of([program, own.program]), profile.select, found)
        program = both or program  # where there is a finding, no plan is made
    # Undecidable means selected: a check that runs needlessly costs money, one that is left out costs a verdict.
    holds = boolean(program, Polarity.GUARDING)
    chosen = tuple(check for check in checks if holds({"check": {"hard_fail": False, **check.fields}}))
    if not chosen and not profile.include_rubrics:
        message = f"the profile `{profile.name}` selects none of the project's checks"
        found.append(
            error(profile.node.entries[0].key if profile.node.index else profile, message, code="empty-profile")
        )
    return chosen


def repetitions(check: CheckDocument, profile: Profile) -> int:
    """How often a judge votes on the check: the profile's number, else the check's own for this kind of profile."""
    if profile.repetitions is not None:
        return profile.repetitions
    if profile.use_dev_repetitions and check.routing.dev_repetitions is not None:
        return check.routing.dev_repetitions
    configured = check.routing.repetitions
    return DEFAULT_REPETITIONS if configured is None else configured
