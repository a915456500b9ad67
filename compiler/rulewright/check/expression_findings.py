"""The findings about the expressions of a single document, and about what they decide.

Importing this module imports the expression compiler; the modules that lower and prove a kind of document are imported
with the first document of that kind.
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

# For each kind, the modules and functions that lower and prove one model.
FINDERS: Final = {
    "check": ("rulewright.lower.expression_checks", "check_findings"),
    "scenario": ("rulewright.lower.harness", "harness_findings"),
    "scorecard": ("rulewright.proving.gate_findings", "scorecard_findings"),
    CASE_SCORECARD: ("rulewright.proving.label_table", "scorecard_findings"),
}
OF_SOUND_ONES: Final = frozenset({"scorecard", CASE_SCORECARD})  # else the structure must be corrected first


def expression_findings(kind: str, models: Sequence[Document], *, is_sound: bool) -> list[Diagnostic]:
    """The findings of the expressions in the models of one document; `is_sound` means that its structure is valid."""
    found: list[Diagnostic] = []
    if kind in FINDERS and (is_sound or kind not in OF_SOUND_ONES):
        module, name = FINDERS[kind]
        finder: Callable[[Document], list[Diagnostic]] = getattr(import_module(module), name)
        found += [each for model in models for each in finder(model)]
    return [*found, *findings(BY_KIND.get(kind, ()), models)]
