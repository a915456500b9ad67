"""Checks that a check's `scorer` and flags agree with its routing: contradictions stop `semantics: seed`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, Findings, error
from rulewright.documents.check import CheckDocument, known_routes
from rulewright.spelling import unknown_name
from rulewright_runtime.english import ticked

if TYPE_CHECKING:
    from rulewright.project import Project

ROUTE_OF: Final = {"hybrid": "hybrid_llm", "llm_verifier": "llm_primary", "lexicon": "lexicon_only"}
# The keys that name a detector.
ROUTED: Final = (
    "deterministic_precheck",
    "state_machine",
    "scenario_marker",
    "cue",
    "expected_reply",
    "forbidden_reply",
)
BY_LEXICON: Final = frozenset({"hybrid_llm", "lexicon_only", "regex_with_llm_edge", "three_phase"})
STEM: Final = 5  # letters of a word without its ending
TYPE_OF: Final = {route: kind for kind, route in ROUTE_OF.items()}


def routing_conflicts(project: Project) -> list[Diagnostic]:
    """Return every contradiction between a check's expectations and its routing."""
    return [*(finding for check in project.checks for finding in routing_conflicts_of(check)), *_exempt(project)]


def routing_conflicts_of(check: CheckDocument) -> Findings:
    """The contradictions of one check, each with both spans."""
    yield from _type(check)
    yield from _repetitions(check)
    yield from _detectors(check)
    yield from _safety_override(check)
    yield from _needs(check)
    if check.scorer.unclear_policy == "lexicon_is_sufficient" and check.is_judged:
        yield error(
            check.place("scorer", "unclear_policy"),
            f"`lexicon_is_sufficient` allows no judge, but the route `{check.routing.route}` asks one",
            code="unclear-policy-forbids-the-judge",
            notes=[(check.place("routing", "route"), "the route is set here")],
        )


def _type(check: CheckDocument) -> Findings:
    kind, route = check.scorer.type, check.routing.route
    if kind is None or route not in known_routes() or ROUTE_OF.get(kind, kind) == route:
        return
    message = f"the scorer is `{kind}`, but the route is `{route}`"
    help = f"write `{TYPE_OF.get(route, route)}`, or route the check to `{ROUTE_OF.get(kind, kind)}`"
    yield _against_route(check, ("scorer", "type"), message, code="scorer-type-contradicts-routing", help=help)


def _repetitions(check: CheckDocument) -> Findings:
    expected, used = check.scorer.repetitions, check.routing.repetitions
    if expected is None or used is None or expected == used:
        return
    own, other = check.place("scorer", "repetitions"), check.place("routing", "repetitions")
    is_even = used % 2 == 0 and expected % 2 == 1  # votes are meant to be odd
    yield error(
        other if is_even else own,
        f"the scorer expects {expected} repetitions, but the routing sets {used}",
        code="scorer-repetitions-contradict-routing",
        notes=[(own, "the scorer") if is_even else (other, "this number is used")],
        help=f"write {used} in the scorer, or {expected} in the routing",
    )


def _detectors(check: CheckDocument) -> Findings:
    routing = check.routing
    routed_names = {getattr(routing, key) for key in ROUTED} - {None}
    if check.scorer.detectors == () and routing.deterministic_precheck:
        message = f"no detector is listed, but the routing names `{routing.deterministic_precheck}`"
        notes = [(check.place("routing", "deterministic_precheck"), "routed here")]
        yield error(check.place("scorer", "detectors"), message, code="detector-is-not-routed", notes=notes)
    for number, detector in enumerate(check.scorer.detectors or ()):
        if detector not in routed_names:
            names = ticked(sorted(filter(None, routed_names))) or "nothing"
            listed, own = check.place("scorer", "detectors", number), _words_of(check)
            routed = [check.place("routing", key) for key in ROUTED if getattr(routing, key)]
            named = [name for name in (detector, *routed_names) if name and own & _stems(name)]
            is_routed_wrongly = named == [detector] and len(routed) == 1  # after which the check is named
            is_lacking = not routed and routing.route in BY_LEXICON  # so the routing has lost it
            notes = [(each, "routed here") for each in routed] or [(check.key_place("routing"), "the routing")]
            own_place = check.key_place("routing") if is_lacking else listed
            yield error(
                routed[0] if is_routed_wrongly else own_place,
                f"the detector `{detector}` is not routed; the routing names {names}",
                code="detector-is-not-routed",
                notes=[(listed, "listed here")] if is_routed_wrongly or is_lacking else notes,
            )


def _words_of(check: CheckDocument) -> set[str]:
    """The words of a check's name and id, without their endings."""
    return _stems(f"{check.name} {check.id}")


def _stems(name: str) -> set[str]:
    return {word[:STEM] for word in re.split(r"[\W_]+", name.lower())}


def _needs(check: CheckDocument) -> Findings:
    routing = check.routing
    if routing.route not in known_routes():
        return
    needs_judge = check.is_judged
    may_need_judge = needs_judge or routing.route == "regex_with_llm_edge"
    if routing.llm_required is not None and not (needs_judge <= routing.llm_required <= may_need_judge):
        does = "asks a judge" if needs_judge else "asks no judge"
        message = f"`llm_required` is {str(routing.llm_required).lower()}, but the route `{routing.route}` {does}"
        yield _against_route(check, ("routing", "llm_required"), message, code="llm-required-contradicts-routing")
    needs_corpus = routing.route == "extract_then_corpus"
    if routing.corpus_required is not None and routing.corpus_required != needs_corpus:
        does = "uses a" if needs_corpus else "does not use a"
        message = f"`corpus_required` is {str(not needs_corpus).lower()}, but the route `{routing.route}` {does} corpus"
        yield _against_route(check, ("routing", "corpus_required"), message, code="corpus-required-contradicts-routing")


def _against_route(
    check: CheckDocument, keys: tuple[str, ...], message: str, *, code: str, help: str | None = None
) -> Diagnostic:
    notes = [(check.place("routing", "route"), "the route decides")]
    return error(check.place(*keys), message, code=code, notes=notes, help=help)


def _exempt(project: Project) -> Findings:
    for number, name in enumerate(project.exempt):
        if project.file is None:
            return
        check, place = project.check(name), project.file.place("system", "exempt", number)
        if check is None:
            yield unknown_name(place, "check", name, [each.id for each in project.checks], code="unknown-check")
        elif not check.routing.system_capability_aware:
            message = f"`{name}` can't be exempted: it is not capability-aware"
            yield error(place, message, code="exempt-check-is-not-capability-aware")


def _safety_override(check: CheckDocument) -> Findings:
    tags = check.routing.safety_override_suppressed_by
    if bool(check.safety_override) == bool(tags):
        return
    if tags:
        named = check.key_place("routing", "safety_override_suppressed_by")
        place = named if check.get("safety_override") is None else check.place("safety_override")
        message = "the check is suppressed by tags, but `safety_override` is not true"
    else:
        place = check.place("safety_override")
        message = "`safety_override` is true, but `routing.safety_override_suppressed_by` names no tags"
    yield error(place, message, code="safety-override-contradicts-routing")
