"""A check: one failure mode, when it applies and how it is verified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec

from rulewright.documents.base import Document, descend, flag, number, optional_text, scalar, text, texts, value
from rulewright.documents.library import expanded
from rulewright.load import Mapping, Node, Scalar, plain
from rulewright_grammar import schema

JUDGE_ROUTES: Final = frozenset({"hybrid_llm", "llm_primary", "longitudinal_trace", "three_phase"})
LEXICON_ROUTES: Final = frozenset({"lexicon_only", "regex_with_llm_edge"})


@cache
def known_routes() -> frozenset[str]:
    """The routes there are. A finding about what a route does is no help where the route itself is misspelt."""
    return frozenset(schema("check")["properties"]["routing"]["properties"]["route"]["enum"])


class Scorer(msgspec.Struct, frozen=True):
    """What the author expects of the verifier; it has to agree with the routing."""

    type: str | None
    detectors: tuple[str, ...] | None
    repetitions: int | None
    require_evidence_span: bool | None
    unclear_policy: str | None


class Routing(msgspec.Struct, frozen=True):
    """How the check is verified; None where the author said nothing."""

    route: str
    unit_of_analysis: str | None
    deterministic_precheck: str | None
    repetitions: int | None
    adaptive_repetitions: bool | None
    dev_repetitions: int | None
    llm_required: bool | None
    corpus_required: bool | None
    llm_on_ambiguous: bool | None
    state_machine: str | None
    corpus: str | None
    outcomes: tuple[str, ...] | None
    rule: str | None
    rule_path: str | None
    cue: str | None
    expected_reply: str | None
    forbidden_reply: str | None
    within_replies: int | None
    probes: tuple[str, ...] | None
    recalled_share: float | None
    likeness: float | None
    scenario_marker: str | None
    system_capability_aware: bool | None
    safety_override_suppressed_by: tuple[str, ...] | None


class Phases(msgspec.Struct, frozen=True):
    """The two questions of a `three_phase` check. `fields` maps a field of a reply to its type or to its words."""

    confirm: Scalar | None
    fields: dict[str, str | tuple[str, ...]]
    violates: Scalar | None
    sweep: Scalar | None


@dataclass(frozen=True, slots=True, eq=False)
class Check(Document):
    """A check file. `tags` is None without `eligibility.scenario_tags_any`; `scope` absent reads as `trigger`."""

    id: str
    name: str
    primary_bucket: str
    secondary_tags: tuple[str, ...]
    severity: str
    hard_fail: bool
    scope: str
    tags: tuple[str, ...] | None
    when: Scalar | None
    scorer: Scorer
    safety_override: bool | None
    routing: Routing
    prompt: Scalar | None
    phases: Phases
    each: str | None
    fails: Scalar | None
    unclears: Scalar | None
    passes: Scalar | None

    @property
    def verdict_conditions(self) -> tuple[Scalar, ...]:
        """The conditions of an `expression` check, in the order in which they decide; no other route reads them."""
        if self.routing.route != "expression":
            return ()
        return tuple(each for each in (self.fails, self.unclears, self.passes) if each is not None)

    @property
    def params(self) -> dict[str, Any]:
        """The values that the conditions read as `params`, defaults of the check's `parameters` included."""
        node = self.get("params")
        written: dict[str, Any] = plain(node) if isinstance(node, Mapping) else {}
        return written

    @property
    def is_judged(self) -> bool:
        """Whether a judge gives the verdict."""
        return self.routing.route in JUDGE_ROUTES and not self.is_traced

    @property
    def has_edge(self) -> bool:
        """Whether a judge confirms what its lexicon finds, as far as the check itself decides."""
        return (
            self.routing.route == "regex_with_llm_edge"
            and self.routing.llm_on_ambiguous is True
            and self.scorer.unclear_policy != "lexicon_is_sufficient"
        )

    @property
    def is_traced(self) -> bool:
        """Whether a state machine decides alone: a longitudinal check that names one and asks nothing."""
        routing = self.routing
        return routing.route == "longitudinal_trace" and routing.state_machine is not None and self.prompt is None

    @property
    def is_gate(self) -> bool:
        """Whether the check is a gate check: in the default vocabulary of bucket A or B with severity S5 or S4_GATE
        (seed 004, aggregation)."""
        return self.vocabulary.is_gate(self.primary_bucket, self.severity)

    @property
    def is_universal(self) -> bool:
        """Whether its scope is everywhere."""
        return self.vocabulary.is_universal(self.scope)

    @property
    def fields(self) -> dict[str, Any]:
        """Everything the author wrote, as plain data, and what an `expression` check may leave out."""
        written: dict[str, Any] = plain(self.node)
        if not _short_route(self.node):
            return written
        usual = {
            "name": self.name,
            "primary_bucket": self.primary_bucket,
            "severity": self.severity,
            "scope": self.scope,
        }
        return {**usual, "routing": {"route": self.routing.route}, **written}


def _short_route(node: Mapping) -> str:
    """The route of a check that says in short what it is: by a condition or a prompt; empty where it does not."""
    if "fail" in node or "pass" in node:
        return "expression"
    return "llm_primary" if "prompt" in node and "routing" not in node else ""


def read_check(node: Mapping) -> Check:
    """The model of a check's mapping; what is missing or of a wrong type reads as absent.

    A check with `pass` or `fail`, or with a `prompt` and no `routing`, applies everywhere, with severity S3, unless it
    says otherwise. One that uses a ready check takes from it what it leaves out.
    """
    node = expanded(node)
    route = _short_route(node)
    return Check(
        node=node,
        id=text(node, "id"),
        name=text(node, "name") or (text(node, "id") if route else ""),
        primary_bucket=text(node, "primary_bucket"),
        secondary_tags=texts(node, "secondary_tags"),
        severity=text(node, "severity") or ("S3" if route else ""),
        hard_fail=flag(node, "hard_fail") or False,
        scope=text(node, "scope") or ("universal" if route and "eligibility" not in node else "trigger"),
        tags=_optional_texts(node, "eligibility", "scenario_tags_any"),
        when=scalar(node, "eligibility", "when"),
        scorer=_scorer(node),
        safety_override=flag(node, "safety_override"),
        routing=_routing(node, route),
        prompt=scalar(node, "prompt"),
        phases=_phases(node),
        each=optional_text(node, "each"),
        fails=scalar(node, "fail"),
        unclears=scalar(node, "unclear"),
        passes=scalar(node, "pass"),
    )


def _scorer(node: Mapping) -> Scorer:
    return Scorer(
        type=optional_text(node, "scorer", "type"),
        detectors=_optional_texts(node, "scorer", "detectors"),
        repetitions=number(node, "scorer", "repetitions"),
        require_evidence_span=flag(node, "scorer", "require_evidence_span"),
        unclear_policy=optional_text(node, "scorer", "unclear_policy"),
    )


def _phases(node: Mapping) -> Phases:
    below = descend(node, "phases", "confirm", "fields")
    names = below.keys if isinstance(below, Mapping) else ()
    return Phases(
        confirm=scalar(node, "phases", "confirm", "prompt"),
        fields={name: optional_text(below, name) or texts(below, name) for name in names},
        violates=scalar(node, "phases", "confirm", "violates"),
        sweep=scalar(node, "phases", "sweep", "prompt"),
    )


def _routing(node: Mapping, usual: str) -> Routing:
    below = descend(node, "routing")
    return Routing(
        route=text(below, "route") or usual,
        unit_of_analysis=optional_text(below, "unit_of_analysis"),
        deterministic_precheck=optional_text(below, "deterministic_precheck"),
        repetitions=number(below, "repetitions"),
        adaptive_repetitions=flag(below, "adaptive_repetitions"),
        dev_repetitions=number(below, "dev_repetitions"),
        llm_required=flag(below, "llm_required"),
        corpus_required=flag(below, "corpus_required"),
        llm_on_ambiguous=flag(below, "llm_on_ambiguous"),
        state_machine=optional_text(below, "state_machine"),
        corpus=optional_text(below, "corpus"),
        outcomes=_optional_texts(node, "routing", "outcomes"),
        rule=optional_text(below, "rule"),
        rule_path=optional_text(below, "rule_path"),
        cue=optional_text(below, "cue"),
        expected_reply=optional_text(below, "expected_reply"),
        forbidden_reply=optional_text(below, "forbidden_reply"),
        within_replies=number(below, "within_replies"),
        probes=_optional_texts(node, "routing", "probes"),
        recalled_share=_share(below, "recalled_share"),
        likeness=_share(below, "likeness"),
        scenario_marker=optional_text(below, "scenario_marker"),
        system_capability_aware=flag(below, "system_capability_aware"),
        safety_override_suppressed_by=_optional_texts(node, "routing", "safety_override_suppressed_by"),
    )


def _share(node: Node | None, key: str) -> float | None:
    found = value(node, key)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _optional_texts(node: Mapping, *steps: str) -> tuple[str, ...] | None:
    return None if descend(node, *steps) is None else texts(node, *steps)
