"""Lowers a check's prompt to segments that the runtime renders without Jinja, with its hash and the paths it reads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from rulewright.diagnostics import Diagnostic
from rulewright.documents.check import MARKUP
from rulewright.expression.environment import Environment
from rulewright.load import Scalar
from rulewright_runtime.plan.question import Segment, TextSegment


@dataclass(frozen=True, slots=True)
class Prompt:
    """A lowered prompt: its segments, its hash, and the paths its values read, such as `("check", "fail_rule")`."""

    segments: tuple[Segment, ...]
    hash: str
    reads: frozenset[tuple[str, ...]] = frozenset()


def prompt_hash(template: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of the template as loaded (seed 004: stable template hashes)."""
    return hashlib.sha256(template.encode()).hexdigest()[:16]


def plain_prompt(template: str) -> Prompt:
    """Return the template as a prompt in which braces are text."""
    return Prompt((TextSegment(template),), prompt_hash(template))


def lower_prompt(scalar: Scalar, environment: Environment, findings: list[Diagnostic]) -> Prompt:
    """Lower the template of `scalar`; mistakes are added to `findings` and their part is omitted.

    Braces that open no `{{`, `{%` or `{#` are text, and so is a whole template without any of these.
    """
    template = str(scalar.value)
    if not MARKUP.search(template):
        return plain_prompt(template)
    from rulewright.lower.prompt_templates import lower_template  # imports Jinja, which plain prompts don't need

    lowered = lower_template(scalar, environment, findings)
    return plain_prompt(template) if lowered is None else Prompt(lowered[0], prompt_hash(template), lowered[1])
