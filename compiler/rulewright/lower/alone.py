"""What the expression and the prompt of a check that stands alone hold, as lowering the project would find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.applicability import has_edge
from rulewright.diagnostics import Diagnostic
from rulewright.expression.types import BOOL
from rulewright.lower.eligibility import eligible
from rulewright.lower.environments import prompt_environment
from rulewright.lower.expression_checks import environment_of
from rulewright.lower.expressions import build_in
from rulewright.prompts import lower_prompt

if TYPE_CHECKING:
    from rulewright.documents.check import Check


def check_findings(check: Check) -> list[Diagnostic]:
    """The mistakes in its conditions, and in a prompt that is sent, read as a template."""
    found: list[Diagnostic] = []
    for scalar in check.verdict_conditions:
        build_in(scalar, environment_of(check), found, expect=BOOL)
    if check.when is not None:
        eligible(check, (), found)
    if check.prompt is not None and (check.is_judged or has_edge(check)):
        lower_prompt(check.prompt, prompt_environment(check.vocabulary), found)
    return found
