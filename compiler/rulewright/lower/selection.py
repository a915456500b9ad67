"""Which checks a profile runs, how often its judges vote, and in which scenarios a check applies: decided while
compiling."""

from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Diagnostic, Located, Span, error
from rulewright.documents.base import first_place
from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile
from rulewright.documents.project_file import Semantics
from rulewright.documents.vocabulary import ANY, Vocabulary, invisiblebench
from rulewright.errors import ExpressionError
from rulewright.expression.build import Built, build
from rulewright.expression.compose import all_of, any_of, choose, fill, negate
from rulewright.expression.types import BOOL
from rulewright.lower.expressions import build_in, check_environment, composed, scenario_environment
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Polarity, boolean

DEFAULT_REPETITIONS: Final = 3  # seed 004, verifier types: publish default K=3


def selected(profile: Profile) -> Program:
    """Return the profile's selection as one program over `check`.

    Excluded checks never run. Of the others run those that are named, those of the named routes or buckets, and with
    `include_all` all; `hard_fail_only` narrows routes and buckets, or selects by itself where none is named.
    """
    chosen, vocabulary = [], profile.vocabulary
    if profile.include_routes:
        chosen.append(_over_check(fill("check.routing.route in routes", routes=profile.include_routes), vocabulary))
    if profile.include_buckets:
        chosen.append(_over_check(fill("check.primary_bucket in buckets", buckets=profile.include_buckets), vocabulary))
    alternatives = []
    if profile.include_modes:
        alternatives.append(_over_check(fill("check.id in ids", ids=profile.include_modes), vocabulary))
    if profile.include_all:
        alternatives.append(_over_check("true", vocabulary))
    narrowed = [any_of(chosen)] if chosen else []
    if profile.hard_fail_only and (chosen or not profile.include_modes):
        narrowed = [all_of([_over_check("check.hard_fail", vocabulary), *narrowed])]
    alternatives += narrowed
    if profile.exclude_modes:
        excluded = _over_check(fill("check.id in ids", ids=profile.exclude_modes), vocabulary)
        return all_of([negate(excluded), any_of(alternatives)])
    return any_of(alternatives)


_INCLUDING: Final = ("select", "include_routes", "include_buckets", "include_modes", "include_all")


def _over_check(text: str, vocabulary: Vocabulary) -> Program:
    return build(text, check_environment(vocabulary), expect=BOOL).program


def select(profile: Profile, checks: Iterable[CheckDocument], findings: list[Diagnostic]) -> tuple[CheckDocument, ...]:
    """Return the checks that the profile runs, in their order; a profile that runs none is reported."""
    try:
        program = selected(profile)
    except ExpressionError:  # an unknown route or bucket: schema validation reports it
        return ()
    if profile.select is not None:
        own = build_in(profile.select, check_environment(profile.vocabulary), findings, expect=BOOL)
        both = None if own is None else composed(all_of([program, own.program]), profile.select, findings)
        program = both or program  # where there is a finding, no plan is made
    # An undecidable condition selects the check: an unneeded run costs money, a missing one costs a verdict.
    holds = boolean(program, Polarity.GUARDING)
    chosen = tuple(check for check in checks if holds({"check": {"hard_fail": False, **check.fields}}))
    if not chosen and not profile.include_rubrics:
        message = f"the profile `{profile.name}` selects none of the project's checks"
        findings.append(error(_narrowing(profile), message, code="empty-profile"))
    return chosen


def _narrowing(profile: Profile) -> Located | Span:
    """The value that leaves out all checks: that of `select` where other keys include some."""
    switches = (profile.include_all, profile.hard_fail_only)
    included = any((*switches, profile.include_modes, profile.include_routes, profile.include_buckets))
    written = (profile.node.get(key) for key in (_INCLUDING if included else _INCLUDING[1:]))
    return next((each for each in written if each is not None), None) or first_place(profile.node)


def repetitions(check: CheckDocument, profile: Profile) -> int:
    """The number of a judge's votes on the check: the profile's, else the check's own for this kind of profile."""
    if profile.repetitions is not None:
        return profile.repetitions
    if profile.use_dev_repetitions and check.routing.dev_repetitions is not None:
        return check.routing.dev_repetitions
    return DEFAULT_REPETITIONS if check.repetitions is None else check.repetitions


def eligible(
    check: CheckDocument, exempt: tuple[str, ...], findings: list[Diagnostic], semantics: Semantics = "seed"
) -> Built | None:
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
    applies = own or _has_one_of(check.tags or (), semantics)
    program = choose(lists.program, listed.program, applies.program)
    if check.when is not None and composed(program, check.when, findings) is None:
        return None
    return Built(program, BOOL, lists.reads | listed.reads | applies.reads)


def suppressed(check: CheckDocument) -> Built | None:
    """Return the program that decides whether the check leaves no record at all; None: never."""
    tags = check.routing.safety_override_suppressed_by
    return _over_scenario(fill("scenario.tags.exists(t, t in tags)", tags=tags)) if tags else None


def select_everywhere(tags: tuple[str, ...], semantics: Semantics) -> bool:
    """Whether tags select every scenario: without any, and with `any`, which counts in the reference only by itself."""
    return not tags or tags == (ANY,) or (semantics == "seed" and ANY in tags)


def _has_one_of(tags: tuple[str, ...], semantics: Semantics) -> Built:
    """The condition that a scenario has one of the tags."""
    if select_everywhere(tags, semantics):
        return _over_scenario("true")
    return _over_scenario(fill("scenario.tags.exists(t, t in tags)", tags=tags))


def _over_scenario(text: str) -> Built:
    return build(text, scenario_environment(invisiblebench()), expect=BOOL)
