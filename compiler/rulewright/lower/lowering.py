"""The context in which a project's checks are lowered, with the lexicons, questions and prompts that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast, get_args

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import MARKUP, CheckDocument
from rulewright.expression.environment import Environment
from rulewright.load import Scalar
from rulewright.lower.expressions import prompt_environment
from rulewright.lower.lexicons import lower_lexicon
from rulewright.lower.selection import repetitions
from rulewright.lower.semantics import Policies, unit_of
from rulewright.spelling import unknown_name
from rulewright_runtime.digests import sha256
from rulewright_runtime.plan.question import Judging, Segment, ShownContext, TextSegment, Window
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.plan.verifiers import Corpus, StateMachine

if TYPE_CHECKING:
    from rulewright.documents.profile import Profile
    from rulewright.project import Project


@dataclass(slots=True)
class LoweringContext:
    """The project and policies for lowering checks, and what lowering collects: findings, the lexicons, state machines
    and corpora used, the paths that programs read of the current check (`reads`) and of scenarios."""

    project: Project
    profile: Profile
    policies: Policies
    findings: list[Diagnostic]
    lexicons: dict[str, Lexicon] = field(default_factory=dict)
    reads: set[tuple[str, ...]] = field(default_factory=set)
    scenario_reads: set[tuple[str, ...]] = field(default_factory=set)
    machines: dict[str, StateMachine] = field(default_factory=dict)
    corpora: dict[str, Corpus] = field(default_factory=dict)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return tuple(check.id for check in self.project.checks)

    def judging(self, check: CheckDocument) -> Judging | None:
        if check.prompt is None:
            message = f"the route `{check.routing.route}` asks a judge, but the check has no `prompt`"
            self.findings.append(error(check.place("routing", "route"), message, code="missing-prompt"))
            self.window(check), self.candidates(check)  # reports unknown lexicons as well
            return None
        return self.judging_with(check, check.prompt)

    def judging_with(self, check: CheckDocument, prompt_scalar: Scalar) -> Judging:
        """Return the question that a prompt of the check asks, with the check's window, votes and policies."""
        if self.policies.is_seed:
            prompt = lower_prompt(prompt_scalar, prompt_environment(check.vocabulary), self.findings)
        else:
            prompt = plain_prompt(prompt_scalar.text)
        self.reads |= prompt.reads
        return Judging(
            prompt=prompt.segments,
            prompt_hash=prompt.hash,
            window=self.window(check),
            repetitions=repetitions(check, self.profile),
            adaptive_stop=self.profile.adaptive or check.routing.adaptive_repetitions is True,
            vote=self.policies.vote,
            unusable=self.policies.unusable(check),
            evidence=self.policies.evidence(check),
            reading=self.policies.reading,
            precheck=self.candidates(check),
            tags=check.tags or (),
            shows=cast("Any", tuple(each for each in get_args(ShownContext) if each in check.shows)),
        )

    def window(self, check: CheckDocument) -> Window:
        unit = unit_of(check, self.project)
        cue = self.precheck(check) if unit == "event_window" else None
        return self.policies.window(unit, cue, self.project.exchange_turns)

    def candidates(self, check: CheckDocument) -> str | None:
        """The name of the lexicon whose hits are sent to the judge, or None."""
        return self.precheck(check) if check.routing.route == "hybrid_llm" else None

    def precheck(self, check: CheckDocument) -> str | None:
        name = check.routing.deterministic_precheck
        if name is None or not self.policies.is_seed or not self.use_lexicon(check, name):
            return None
        return name

    def use_lexicon(self, check: CheckDocument, name: str, key: str = "deterministic_precheck") -> bool:
        """Add the lexicon that the routing names under `key` to the plan; return whether the project has it."""
        if not self.knows_lexicon(check, name, key):
            return False
        if name not in self.lexicons:
            self.lexicons[name] = lower_lexicon(self.project.lexicons[name], self.policies.fold)
        return True

    def knows_lexicon(self, check: CheckDocument, name: str, key: str = "deterministic_precheck") -> bool:
        """Return whether the project has the lexicon that the routing names under `key`; report one that it lacks."""
        if name not in self.project.lexicons and self.policies.is_seed:
            place, known = check.place("routing", key), self.project.lexicons
            found = unknown_name(place, "lexicon", name, known, code="unknown-lexicon")
            self.findings += [found] if found not in self.findings else []
        return name in self.project.lexicons

    def lacks(self, check: CheckDocument, needed: str, *, code: str = "missing-key") -> None:
        """Report that the check's route needs something that the check does not have."""
        message = f"the route `{check.routing.route}` needs {needed}"
        self.findings.append(error(check.key_place("routing", "route"), message, code=code))


class Prompt(Struct, frozen=True):
    """A lowered prompt: its segments, its hash, and the paths its values read, such as `("check", "fail_rule")`."""

    segments: tuple[Segment, ...]
    hash: str
    reads: frozenset[tuple[str, ...]] = frozenset()


def prompt_hash(template: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of the template as loaded (seed 004: stable template hashes)."""
    return sha256(template.encode()).hexdigest()[:16]


def plain_prompt(template: str) -> Prompt:
    """Return the template as a prompt in which braces are text."""
    return Prompt((TextSegment(template),), prompt_hash(template))


def lower_prompt(scalar: Scalar, environment: Environment, findings: list[Diagnostic]) -> Prompt:
    """Lower the template of `scalar`; mistakes are added to `findings` and their part is omitted.

    Braces that open no `{{`, `{%` or `{#` are text, and so is a whole template without any of these.
    """
    template = scalar.text
    if not MARKUP.search(template):
        return plain_prompt(template)
    from rulewright.lower.prompt_templates import lower_template  # imports Jinja, which plain prompts don't need

    lowered = lower_template(scalar, environment, findings)
    return plain_prompt(template) if lowered is None else Prompt(lowered[0], prompt_hash(template), lowered[1])
