"""Lowers checks of memory and coordination to verifiers without a judge, and a scenario's probes to the plan's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from rulewright.diagnostics import error
from rulewright.documents.base import texts
from rulewright_runtime.plan.part import PROBE_KINDS
from rulewright_runtime.plan.scan import Probe
from rulewright_runtime.plan.verifiers import CueResponse, ProbeVerifier

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.lower.lowering import LoweringContext

EXPECTATIONS: Final = {"should_recall": "recall", "should_not_mention_unprompted": "abstention"}
PAGES: Final[dict[str, str]] = {
    "incomplete-routing": """A route lacks a key that it needs to decide.

    Why it matters: the check would pass whatever is said.
    Instead: name `probes` for memory_probe; `cue` and one of `expected_reply`, `forbidden_reply` for cue_response.
    """,
}


def lower_probes(check: CheckDocument, lowering: LoweringContext) -> ProbeVerifier | None:
    """Return the verifier of a `memory_probe` check, or None with a finding."""
    routing = check.routing
    if not routing.probes:
        _incomplete(check, lowering, "`probes`, the kinds of probes to verify")
        return None
    default = ProbeVerifier(("recall",))
    kinds: Any = tuple(kind for kind in PROBE_KINDS if kind in routing.probes)
    return ProbeVerifier(
        kinds,
        default.at_least if routing.recalled_share is None else routing.recalled_share,
        default.likeness if routing.likeness is None else routing.likeness,
    )


def lower_cue(check: CheckDocument, lowering: LoweringContext) -> CueResponse | None:
    """Return the verifier of a `cue_response` check, or None with a finding."""
    routing = check.routing
    named = {key: getattr(routing, key) for key in ("cue", "expected_reply", "forbidden_reply")}
    has_lexicons = [lowering.use_lexicon(check, name, key) for key, name in named.items() if name is not None]
    if routing.cue is None or (routing.expected_reply is None and routing.forbidden_reply is None):
        _incomplete(check, lowering, "`cue` and one of `expected_reply`, `forbidden_reply`")
        return None
    if not all(has_lexicons):
        return None
    return CueResponse(routing.cue, routing.expected_reply, routing.forbidden_reply, routing.within_replies or 1)


def probes_of(scenario: ScenarioDocument) -> Iterator[Probe]:
    """The probes of a scenario that a verifier supports, and those from its turns' `memory_expectations`.

    A probe of a turn without `t` is about that turn.
    """
    for probe in scenario.probes:
        if probe.kind in PROBE_KINDS and probe.turn is not None and probe.expected:
            yield Probe(probe.turn, cast("Any", probe.kind), probe.expected, probe.from_sessions)
    for turn in scenario.turns:
        for key, kind in EXPECTATIONS.items():
            expected = texts(turn.node, "memory_expectations", key)
            if expected and turn.number is not None:
                yield Probe(turn.number, cast("Any", kind), expected)


def _incomplete(check: CheckDocument, lowering: LoweringContext, needs: str) -> None:
    place = check.key_place("routing", "route")
    message = f"the route `{check.routing.route}` needs {needs}"
    lowering.findings.append(error(place, message, code="incomplete-routing"))
