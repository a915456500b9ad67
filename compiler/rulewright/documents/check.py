"""A check: one failure mode, when it applies and how it is verified."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Final

from msgspec import Struct

from rulewright.diagnostics import Span
from rulewright.documents.base import Document, text, texts
from rulewright.documents.library import expanded
from rulewright.documents.typed_reader import At, as_meant, entries_of, read
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.load import Mapping, Node, Scalar, plain
from rulewright_grammar import schema
from rulewright_runtime.strict_json import JsonObject

TRACED: Final = "longitudinal_trace"
JUDGE_ROUTES: Final = frozenset({"hybrid_llm", "llm_primary", "three_phase", TRACED})
LEXICON_ROUTES: Final = frozenset({"lexicon_only", "regex_with_llm_edge"})
USUAL_SEVERITY: Final = "S3"  # the routes of checks in short form
MARKUP: Final = re.compile(r"\{[{%#]")  # what makes a prompt a template


@cache
def known_routes() -> frozenset[str]:
    """The names of all routes. Findings about the behaviour of a route are useless if its name is misspelt."""
    return frozenset(schema("check")["$defs"]["route"]["enum"])


class Scorer(Struct, frozen=True):
    """What the author expects of the verifier; it must agree with the routing."""

    type: str | None
    detectors: tuple[str, ...] | None
    repetitions: int | None
    require_evidence_span: bool | None
    unclear_policy: str | None


class Routing(Struct, frozen=True):
    """How the check is verified; None for absent keys."""

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


class Phases(Struct, frozen=True):
    """The two questions of a `three_phase` check. `fields` maps a field of a reply to its type or its allowed words."""

    confirm: Annotated[Scalar | None, At("confirm", "prompt")]
    fields: Annotated[dict[str, str | tuple[str, ...]], At("confirm", "fields", by=_fields_of_reply)]
    violates: Annotated[Scalar | None, At("confirm", "violates")]
    sweep: Annotated[Scalar | None, At("sweep", "prompt")]


class CheckDocument(Document, frozen=True, eq=False):
    """A check file. `tags` is None without `eligibility.scenario_tags_any`; an absent `scope` reads as `trigger`."""

    id: str
    name: str
    primary_bucket: str
    secondary_tags: tuple[str, ...]
    severity: str
    hard_fail: bool
    scope: str
    tags: Annotated[tuple[str, ...] | None, At("eligibility", "scenario_tags_any")]
    when: Annotated[Scalar | None, At("eligibility", "when")]
    scorer: Scorer
    safety_override: bool | None
    routing: Routing
    prompt: Scalar | None
    shows: tuple[str, ...]
    phases: Phases
    each: str | None
    applies: Scalar | None
    fails: Annotated[Scalar | None, At("fail")]
    unclears: Annotated[Scalar | None, At("unclear")]
    passes: Annotated[Scalar | None, At("pass")]

    @property
    def verdict_conditions(self) -> tuple[Scalar, ...]:
        """The conditions of an `expression` check in the order of evaluation; empty for other routes."""
        if self.routing.route != "expression":
            return ()
        return tuple(each for each in (self.fails, self.unclears, self.passes) if each is not None)

    @property
    def conversation_conditions(self) -> tuple[Scalar, ...]:
        """The conditions of the verdict, and the one under which the check applies."""
        return self.verdict_conditions if self.applies is None else (*self.verdict_conditions, self.applies)

    @property
    def holds_expressions(self) -> bool:
        """Whether the check has a condition, or a prompt that may be a template."""
        prompt = self.prompt.text if self.prompt is not None else ""
        return (
            self.when is not None
            or self.phases.violates is not None
            or bool(self.conversation_conditions)
            or MARKUP.search(prompt) is not None
        )

    @property
    def params(self) -> dict[str, object]:
        """The values that conditions read as `params`, including the defaults of `parameters`."""
        node = self.get("params")
        written: JsonObject = plain(node) if isinstance(node, Mapping) else {}
        return written

    @property
    def repetitions(self) -> int | None:
        """The number of votes of a judge: that of the routing, or else of the scorer."""
        routed = self.routing.repetitions
        return self.scorer.repetitions if routed is None else routed

    @property
    def repetitions_place(self) -> Span:
        """The span of the number of votes."""
        return self.place("scorer" if self.routing.repetitions is None else "routing", "repetitions")

    @property
    def is_judged(self) -> bool:
        """Whether a judge gives the verdict."""
        return self.routing.route in JUDGE_ROUTES and not self.is_traced

    @property
    def has_edge(self) -> bool:
        """Whether the check asks a judge to confirm its lexicon's matches; a profile may still disable that."""
        return (
            self.routing.route == "regex_with_llm_edge"
            and self.routing.llm_on_ambiguous is True
            and self.scorer.unclear_policy != "lexicon_is_sufficient"
        )

    @property
    def is_traced(self) -> bool:
        """Whether a state machine decides alone: the check is longitudinal, names one and has no prompt."""
        routing = self.routing
        return routing.route == TRACED and routing.state_machine is not None and self.prompt is None

    @property
    def is_gate(self) -> bool:
        """Whether the check is a gate check: in the default vocabulary of bucket A or B with severity S5 or S4_GATE
        (seed 004, aggregation)."""
        return self.vocabulary.is_gate(self.primary_bucket, self.severity)

    @property
    def is_universal(self) -> bool:
        """Whether the check applies to every scenario."""
        return self.vocabulary.is_universal(self.scope)

    @property
    def meaning(self) -> str:
        """What the check says to people: its description, and its rules of passing and failing, on a line each."""
        prefixes = {"description": "", "pass_rule": "PASS: ", "fail_rule": "FAIL: "}
        lines = ((prefix, " ".join(text(self.node, key).split())) for key, prefix in prefixes.items())
        return "\n".join(f"{prefix}{line}" for prefix, line in lines if line)

    @property
    def fields(self) -> JsonObject:
        """All keys of the document as plain data, including the defaults of an `expression` check."""
        written: JsonObject = plain(self.node)
        if "secondary_tags" in written:  # anything but a list of texts is reported and read as absent
            written["secondary_tags"] = list(self.secondary_tags)
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
    """The route that a condition or a prompt implies; empty if there is neither."""
    if "fail" in node or "pass" in node:
        return "expression"
    return "llm_primary" if "prompt" in node and "routing" not in node else ""


def read_check(node: Mapping, vocabulary: Vocabulary | None = None) -> CheckDocument:
    """The model of a check's mapping; missing values and values of a wrong type read as absent.

    A check with `pass` or `fail`, or with a `prompt` and no `routing`, by default applies everywhere, with severity S3
    if the vocabulary has it, else without one. A check that uses a ready check takes the keys that it does
    not set from the ready check.
    """
    words = vocabulary or invisiblebench()
    node = as_meant(expanded(node), "check")
    route = _short_route(node)
    if not route:
        return read(CheckDocument, node, vocabulary=words, scope=text(node, "scope") or "trigger")
    return read(
        CheckDocument,
        node,
        vocabulary=words,
        name=text(node, "name") or text(node, "id"),
        severity=text(node, "severity") or (USUAL_SEVERITY if USUAL_SEVERITY in words.severities else ""),
        scope=text(node, "scope") or ("trigger" if "eligibility" in node else "universal"),
        routing=read(Routing, node.get("routing"), route=text(node, "routing", "route") or route),
    )


def _fields_of_reply(node: Node | None) -> dict[str, str | tuple[str, ...]]:
    return {name: text(each) or texts(each) for name, each in entries_of(node)}
