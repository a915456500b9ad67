"""What is wrong with the expressions of a document that stands alone: of those, and of what is decided by them.

All that understands expressions is imported with this module, and what lowers and proves a kind of document with the
first one of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import Document
from rulewright.documents.kinds import CASE_SCORECARD
from rulewright.rules import findings
from rulewright.rules.of_conditions import BY_KIND

# What lowering and proving find in one model of a kind: the function of that name in a module.
FINDERS: Final = {
    "check": ("rulewright.lower.expression_checks", "check_findings"),
    "scenario": ("rulewright.lower.harness", "harness_findings"),
    "scorecard": ("rulewright.proving.gate_findings", "scorecard_findings"),
    CASE_SCORECARD: ("rulewright.proving.label_findings", "scorecard_findings"),
}
OF_SOUND_ONES: Final = frozenset({"scorecard", CASE_SCORECARD})  # else the structure is what has to be corrected


def expression_findings(kind: str, models: Sequence[Document], *, is_sound: bool) -> list[Diagnostic]:
    """The findings of the expressions in the models of one document; `is_sound` says that its structure is."""
    found: list[Diagnostic] = []
    if kind in FINDERS and (is_sound or kind not in OF_SOUND_ONES):
        module, name = FINDERS[kind]
        finder: Callable[[Document], list[Diagnostic]] = getattr(import_module(module), name)
        found += [each for model in models for each in finder(model)]
    return [*found, *findings(BY_KIND.get(kind, ()), models)]
