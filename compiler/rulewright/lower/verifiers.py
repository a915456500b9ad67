"""From a check's routing to the verifier that carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from rulewright.diagnostics import error
from rulewright.documents.structure import suggest
from rulewright.lower.corpora import lower_corpus
from rulewright.lower.environments import prompt_environment
from rulewright.lower.jurisdictions import lower_rules
from rulewright.lower.lexicons import lower_lexicon, phrases
from rulewright.lower.machines import lower_machine
from rulewright.lower.phases import lower_phases
from rulewright.lower.scorers import lower_cue, lower_probes
from rulewright.lower.selection import repetitions
from rulewright.lower.semantics import Policies, unit_of
from rulewright.prompts import lower_prompt, plain_prompt
from rulewright_runtime.corpus import OUTCOMES
from rulewright_runtime.plan import (
    CorpusVerifier,
    Edge,
    JudgeVerifier,
    Judging,
    Lexicon,
    LexiconVerifier,
    LongitudinalVerifier,
    ScenarioRule,
    TraceVerifier,
    Verifier,
    WholeWindow,
    Window,
)

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.check import Check
    from rulewright.documents.profile import Profile
    from rulewright.load import Scalar
    from rulewright.project import Project
    from rulewright_runtime.corpus import Corpus, Outcome
    from rulewright_runtime.state_machine import StateMachine

SCORER_TYPES: Final = {
    "hybrid_llm": "llm_verifier",
    "llm_primary": "llm_verifier",
    "longitudinal_trace": "llm_verifier",
    "lexicon_only": "regex",
    "regex_with_llm_edge": "regex",
    "scenario_rule": "scenario_rule",
    "extract_then_corpus": "corpus",
    "jurisdiction_rule": "jurisdiction_rule",
    "three_phase": "llm_verifier",
    "memory_probe": "probes",
    "cue_response": "cue_response",
}
PAGES: Final[dict[str, str]] = {
    "unknown-lexicon": """A check names a lexicon that the project does not have.

    Why it matters: nothing would ever be found, so the check would pass whatever is said.
    Instead: add the lexicon's file, or mend the name.
    """,
    "unknown-marker-set": """A check names a marker set that the project does not have.

    Why it matters: the question would never be recognised, so the check would never apply.
    Instead: add the marker file, or mend the name.
    """,
    "unknown-state-machine": """A check is decided by a state machine that the project does not have.

    Why it matters: nothing would follow the conversation.
    Instead: add the machine's file, mend the name, or let a judge decide.
    """,
    "unknown-corpus": """A check names a corpus that the project does not have, or none.

    Why it matters: no claim could be held against anything.
    Instead: add the corpus's file, or mend the name.
    """,
    "missing-prompt": """A check is decided by a judge and has no prompt.

    Why it matters: there is nothing to ask.
    Instead: write a `prompt`, or choose a route that needs no judge.
    """,
    "unsupported-route": """A route without a verifier.

    Why it matters: the check could never give a verdict.
    Instead: choose another route.
    """,
}


@dataclass(slots=True)
class Lowering:
    """What lowering checks needs to know, and what it collects: findings, the lexicons, state machines and corpora
    used, the paths that programs read of the check at hand (`reads`) and of scenarios."""

    project: Project
    profile: Profile
    policies: Policies
    found: list[Diagnostic]
    lexicons: dict[str, Lexicon] = field(default_factory=dict)
    reads: set[tuple[str, ...]] = field(default_factory=set)
    scenario_reads: set[tuple[str, ...]] = field(default_factory=set)
    machines: dict[str, StateMachine] = field(default_factory=dict)
    corpora: dict[str, Corpus] = field(default_factory=dict)

    def verifier(self, check: Check) -> Verifier | None:
        """The check's verifier, or None when a finding says why there is none."""
        match check.routing.route:
            case "lexicon_only" | "regex_with_llm_edge":
                return self._lexicon_verifier(check)
            case "scenario_rule":
                return self._scenario_rule(check)
            case "hybrid_llm" | "llm_primary":
                judging = self._judging(check)
                return None if judging is None else JudgeVerifier(judging)
            case "longitudinal_trace":
                return self._longitudinal(check)
            case "extract_then_corpus":
                return self._corpus_verifier(check)
            case "jurisdiction_rule":
                ruled = lower_rules(check, self.project, self.found)
                self.lexicons |= {} if ruled is None else ruled[1]
                return None if ruled is None else ruled[0]
            case "three_phase":
                return lower_phases(check, self)
            case "memory_probe":
                return lower_probes(check, self)
            case "cue_response":
                return lower_cue(check, self)
        place = check.place("routing", "route")
        self.found.append(error(place, f"the route `{check.routing.route}` has no verifier", code="unsupported-route"))
        return None

    def _longitudinal(self, check: Check) -> LongitudinalVerifier | TraceVerifier | None:
        name = check.routing.state_machine
        document = None if name is None or not self.policies.prechecks else self.project.state_machines.get(name)
        if document is not None and document.name not in self.machines:
            self.machines[document.name], lexicons = lower_machine(document, self.project.lexicons, self.found)
            self.lexicons |= lexicons
        machine = None if document is None else document.name
        if check.is_traced:
            if machine is None:
                near = suggest(name or "", self.project.state_machines)
                hint = f"did you mean `{near}`?" if near else None
                place = check.place("routing", "state_machine")
                message = f"there is no state machine `{name}`"
                self.found.append(error(place, message, code="unknown-state-machine", help=hint))
                return None
            return TraceVerifier(machine)
        judging = self._judging(check)
        return None if judging is None else LongitudinalVerifier(judging, machine)

    def _corpus_verifier(self, check: Check) -> CorpusVerifier | None:
        name = check.routing.corpus
        document = None if name is None else self.project.corpora.get(name)
        if document is None:
            near = suggest(name or "", self.project.corpora)
            hint = f"did you mean `{near}`?" if near else None
            place = check.place("routing", "corpus" if name else "route")
            message = f"there is no corpus `{name}`" if name else "the route `extract_then_corpus` needs `corpus`"
            self.found.append(error(place, message, code="unknown-corpus", help=hint))
            return None
        if document.name not in self.corpora:
            self.corpora[document.name], lexicons = lower_corpus(document, self.found)
            self.lexicons |= lexicons
        outcomes = cast("tuple[Outcome, ...]", check.routing.outcomes or OUTCOMES)
        return CorpusVerifier(document.name, outcomes)

    def _lexicon_verifier(self, check: Check) -> LexiconVerifier | None:
        name = check.routing.deterministic_precheck
        if name is None:
            message = f"the route `{check.routing.route}` needs `deterministic_precheck`, the lexicon that decides"
            self.found.append(error(check.key_place("routing", "route"), message, code="missing-key"))
            return None
        self.use_lexicon(check, name)
        edge = self._edge(check) if self._has_edge(check) else None
        window = (
            self._window(check) if self.policies.default_units and check.routing.unit_of_analysis else WholeWindow()
        )
        return LexiconVerifier(
            lexicon=name,
            window=window,
            detected=f"{check.name}_detected",
            absent=f"{check.name}_absent",
            nothing="UNCLEAR" if self.policies.strict else "PASS",
            edge=edge,
        )

    def _has_edge(self, check: Check) -> bool:
        """Whether hits are confirmed by a judge: the check asks for it, the profile allows it, no policy forbids it."""
        return (
            self.policies.edges
            and check.routing.route == "regex_with_llm_edge"
            and check.routing.llm_on_ambiguous is True
            and self.profile.llm_edge
            and check.scorer.unclear_policy != "lexicon_is_sufficient"
            and repetitions(check, self.profile) > 0
        )

    def _edge(self, check: Check) -> Edge | None:
        judging = self._judging(check)
        if judging is None:
            return None
        return Edge(judging, ("hit", "unclear") if check.scorer.unclear_policy == "llm_edge" else ("hit",))

    def _judging(self, check: Check) -> Judging | None:
        if check.prompt is None:
            message = f"the route `{check.routing.route}` asks a judge, but the check has no `prompt`"
            self.found.append(error(check.place("routing", "route"), message, code="missing-prompt"))
            return None
        return self.judging_with(check, check.prompt)

    def judging_with(self, check: Check, asked: Scalar) -> Judging:
        """The question that a prompt of the check asks, with the check's window, votes and policies."""
        if self.policies.templates:
            prompt = lower_prompt(asked, prompt_environment(), self.found)
        else:
            prompt = plain_prompt(str(asked.value))
        self.reads |= prompt.reads
        return Judging(
            prompt=prompt.segments,
            prompt_hash=prompt.hash,
            window=self._window(check),
            repetitions=repetitions(check, self.profile),
            adaptive_stop=self.profile.adaptive or check.routing.adaptive_repetitions is True,
            vote=self.policies.vote,
            unusable=self.policies.unusable(check),
            evidence=self.policies.evidence(check),
            precheck=self._precheck(check) if check.routing.route == "hybrid_llm" else None,
            tags=check.tags or (),
        )

    def _window(self, check: Check) -> Window:
        units = self.project.scoring.unit_by_bucket if self.project.scoring else {}
        unit = unit_of(check, units, default_units=self.policies.default_units)
        return self.policies.window(unit, self._precheck(check) if unit == "event_window" else None)

    def _precheck(self, check: Check) -> str | None:
        name = check.routing.deterministic_precheck
        if name is None or not self.policies.prechecks or not self.use_lexicon(check, name):
            return None
        return name

    def use_lexicon(self, check: Check, name: str, key: str = "deterministic_precheck") -> bool:
        """Put the lexicon that the routing names under `key` into the plan; whether the project has it."""
        lexicon = self.project.lexicons.get(name)
        if lexicon is None:
            if self.policies.strict:
                near = suggest(name, self.project.lexicons)
                hint = f"did you mean `{near}`?" if near else None
                place = check.place("routing", key)
                self._report_once(error(place, f"there is no lexicon `{name}`", code="unknown-lexicon", help=hint))
            return False
        if name not in self.lexicons:
            self.lexicons[name] = lower_lexicon(lexicon)
        return True

    def _scenario_rule(self, check: Check) -> ScenarioRule | None:
        name = check.routing.scenario_marker or ""
        markers = self.project.marker_set(name)
        if markers is None:
            place = check.place("routing", "scenario_marker")
            near = suggest(name, [known.name for known in self.project.markers if known.name])
            hint = f"did you mean `{near}`?" if near else None
            self.found.append(error(place, f"there is no marker set `{name}`", code="unknown-marker-set", help=hint))
            return None
        stem = f"markers/{name}"
        self.lexicons[f"{stem}/identity_question"] = phrases(markers.identity_question, "user")
        self.lexicons[f"{stem}/ai_disclosure"] = phrases(markers.ai_disclosure, "assistant")
        self.lexicons[f"{stem}/false_human"] = phrases(markers.false_human, "assistant")
        return ScenarioRule(f"{stem}/identity_question", f"{stem}/ai_disclosure", f"{stem}/false_human")

    def _report_once(self, found: Diagnostic) -> None:
        if found not in self.found:
            self.found.append(found)
