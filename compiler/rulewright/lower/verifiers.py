"""Lowers a check's routing to its verifier."""

from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from rulewright.diagnostics import error
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.corpora import lower_corpus
from rulewright.lower.expression_checks import lower_expression
from rulewright.lower.jurisdictions import lower_rules
from rulewright.lower.lexicons import phrases
from rulewright.lower.lowering import LoweringContext
from rulewright.lower.machines import lower_machine
from rulewright.lower.phases import lower_phases
from rulewright.lower.selection import repetitions
from rulewright.spelling import unknown_name
from rulewright_runtime.plan import verifiers
from rulewright_runtime.plan.part import PROBE_KINDS
from rulewright_runtime.plan.question import WholeWindow
from rulewright_runtime.plan.scan import Probe


def lower_verifier(check: CheckDocument, lowering: LoweringContext) -> verifiers.Verifier | None:
    """Return the check's verifier, or None with a finding."""
    if not check.routing.route:
        return None  # schema validation reports the missing route
    if check.routing.route not in _ROUTES:
        place = check.place("routing", "route")
        message = f"the route `{check.routing.route}` has no verifier"
        lowering.findings.append(error(place, message, code="unsupported-route"))
        return None
    return _ROUTES[check.routing.route][1](check, lowering)


def scorer_type(check: CheckDocument) -> str:
    """Return the kind of scorer that the verdicts of a check with a verifier name."""
    return _ROUTES[check.routing.route][0]


def _judge(check: CheckDocument, lowering: LoweringContext) -> verifiers.JudgeVerifier | None:
    judging = lowering.judging(check)
    return None if judging is None else verifiers.JudgeVerifier(judging)


def _jurisdiction_rule(check: CheckDocument, lowering: LoweringContext) -> verifiers.JurisdictionRule | None:
    lowered = lower_rules(check, lowering.project, lowering.findings)
    lowering.lexicons |= {} if lowered is None else lowered[1]
    return None if lowered is None else lowered[0]


def _longitudinal(
    check: CheckDocument, lowering: LoweringContext
) -> verifiers.LongitudinalVerifier | verifiers.TraceVerifier | None:
    name, machines = check.routing.state_machine, lowering.project.state_machines
    document = None if name is None or not lowering.policies.is_seed else machines.get(name)
    if document is not None and document.name not in lowering.machines:
        lowering.machines[document.name], lexicons = lower_machine(
            document, lowering.project.lexicons, lowering.policies.fold, lowering.findings
        )
        lowering.lexicons |= lexicons
    machine = None if document is None else document.name
    if check.is_traced:
        if machine is None:
            place = check.place("routing", "state_machine")
            lowering.findings.append(
                unknown_name(place, "state machine", name or "", machines, code="unknown-state-machine")
            )
            return None
        return verifiers.TraceVerifier(machine)
    judging = lowering.judging(check)
    return None if judging is None else verifiers.LongitudinalVerifier(judging, machine)


def _corpus_verifier(check: CheckDocument, lowering: LoweringContext) -> verifiers.CorpusVerifier | None:
    name, corpora = check.routing.corpus, lowering.project.corpora
    document = None if name is None else corpora.get(name)
    if document is None:
        if name is None:
            message = "the route `extract_then_corpus` needs `corpus`"
            lowering.findings.append(error(check.place("routing", "route"), message, code="unknown-corpus"))
        else:
            place = check.place("routing", "corpus")
            lowering.findings.append(unknown_name(place, "corpus", name, corpora, code="unknown-corpus"))
        return None
    if document.name not in lowering.corpora:
        lowering.corpora[document.name], lexicons = lower_corpus(document, lowering.findings)
        lowering.lexicons |= lexicons
    outcomes = cast("tuple[verifiers.Outcome, ...]", check.routing.outcomes or verifiers.OUTCOMES)
    return verifiers.CorpusVerifier(document.name, outcomes)


def _lexicon_verifier(check: CheckDocument, lowering: LoweringContext) -> verifiers.LexiconVerifier | None:
    name = check.routing.deterministic_precheck
    if name is None:
        lowering.lacks(check, "`deterministic_precheck`, the lexicon that decides")
        return None
    lowering.use_lexicon(check, name)
    edge = _edge(check, lowering) if _has_edge(check, lowering) else None
    window = lowering.window(check) if lowering.policies.is_seed and check.routing.unit_of_analysis else WholeWindow()
    return verifiers.LexiconVerifier(
        lexicon=name,
        window=window,
        detected=f"{check.name}_detected",
        absent=f"{check.name}_absent",
        nothing="UNCLEAR" if lowering.policies.is_seed else "PASS",
        edge=edge,
    )


def _has_edge(check: CheckDocument, lowering: LoweringContext) -> bool:
    """Whether a judge confirms hits: the check asks for it, the profile allows it, and no policy forbids it."""
    allowed = lowering.policies.is_seed and lowering.profile.llm_edge
    return allowed and check.has_edge and repetitions(check, lowering.profile) > 0


def _edge(check: CheckDocument, lowering: LoweringContext) -> verifiers.Edge | None:
    judging = lowering.judging(check)
    if judging is None:
        return None
    return verifiers.Edge(judging, ("hit", "unclear") if check.scorer.unclear_policy == "llm_edge" else ("hit",))


def _scenario_rule(check: CheckDocument, lowering: LoweringContext) -> verifiers.ScenarioRule | None:
    name = check.routing.scenario_marker or ""
    markers = lowering.project.marker_set(name)
    if markers is None:
        place, known = check.place("routing", "scenario_marker"), [each.name or "" for each in lowering.project.markers]
        if name:
            lowering.findings.append(unknown_name(place, "marker set", name, known, code="unknown-marker-set"))
        else:
            lowering.lacks(check, "`scenario_marker`", code="unknown-marker-set")
        return None
    stem, fold = f"markers/{name}", lowering.policies.fold
    lowering.lexicons[f"{stem}/identity_question"] = phrases(markers.identity_question, "user", fold)
    lowering.lexicons[f"{stem}/ai_disclosure"] = phrases(markers.ai_disclosure, "assistant", fold)
    lowering.lexicons[f"{stem}/false_human"] = phrases(markers.false_human, "assistant", fold)
    names = (f"{stem}/identity_question", f"{stem}/ai_disclosure", f"{stem}/false_human")
    return verifiers.ScenarioRule(*names, questions="every" if lowering.policies.is_seed else "first")


def lower_probes(check: CheckDocument, lowering: LoweringContext) -> verifiers.ProbeVerifier | None:
    """Return the verifier of a `memory_probe` check, or None with a finding."""
    routing = check.routing
    if not routing.probes:
        lowering.lacks(check, "`probes`, the kinds of probes to verify", code="incomplete-routing")
        return None
    default = verifiers.ProbeVerifier(("recall",))
    kinds: Any = tuple(kind for kind in PROBE_KINDS if kind in routing.probes)
    return verifiers.ProbeVerifier(
        kinds,
        default.at_least if routing.recalled_share is None else routing.recalled_share,
        default.likeness if routing.likeness is None else routing.likeness,
    )


def lower_cue(check: CheckDocument, lowering: LoweringContext) -> verifiers.CueResponse | None:
    """Return the verifier of a `cue_response` check, or None with a finding."""
    routing = check.routing
    named = {key: getattr(routing, key) for key in ("cue", "expected_reply", "forbidden_reply")}
    has_lexicons = [lowering.use_lexicon(check, name, key) for key, name in named.items() if name is not None]
    if routing.cue is None or (routing.expected_reply is None and routing.forbidden_reply is None):
        lowering.lacks(check, "`cue` and one of `expected_reply`, `forbidden_reply`", code="incomplete-routing")
        return None
    if not all(has_lexicons):
        return None
    return verifiers.CueResponse(
        routing.cue, routing.expected_reply, routing.forbidden_reply, routing.within_replies or 1
    )


def probes_of(scenario: ScenarioDocument) -> Iterator[Probe]:
    """The probes of a scenario that a verifier supports."""
    for probe in scenario.probes:
        if probe.kind in PROBE_KINDS and probe.turn is not None and probe.expected:
            yield Probe(probe.turn, cast("Any", probe.kind), probe.expected, probe.from_sessions)


# The kind of scorer that the verdicts of each route name, and what builds its verifier.
_ROUTES: Final[dict[str, tuple[str, Callable[[CheckDocument, LoweringContext], verifiers.Verifier | None]]]] = {
    "lexicon_only": ("regex", _lexicon_verifier),
    "regex_with_llm_edge": ("regex", _lexicon_verifier),
    "scenario_rule": ("scenario_rule", _scenario_rule),
    "hybrid_llm": ("llm_verifier", _judge),
    "llm_primary": ("llm_verifier", _judge),
    "longitudinal_trace": ("llm_verifier", _longitudinal),
    "extract_then_corpus": ("corpus", _corpus_verifier),
    "jurisdiction_rule": ("jurisdiction_rule", _jurisdiction_rule),
    "three_phase": ("llm_verifier", lower_phases),
    "memory_probe": ("probes", lower_probes),
    "cue_response": ("cue_response", lower_cue),
    "expression": ("expression", lower_expression),
}
