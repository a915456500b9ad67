"""The findings about a single document: its structure, the rules about one document, and its expressions.

The modules that lower and prove the expressions of a kind of document are imported with the first document of that
kind.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import Document, with_vocabulary
from rulewright.documents.check import CheckDocument
from rulewright.documents.kinds import CASE_SCORECARD
from rulewright.documents.library import structure_findings
from rulewright.documents.validation import STRUCTURE_CODES
from rulewright.documents.vocabulary import Vocabulary
from rulewright.load import Mapping
from rulewright.load.load_errors import LOAD_CODES
from rulewright.load.suppressions import SUPPRESSION_CODES
from rulewright.lower.routing_conflicts import routing_conflicts_of
from rulewright.rules import code_of, document_kind, findings, rule_page

# For each kind, the modules and functions that lower and prove one model.
FINDERS: Final = {
    "check": ("rulewright.lower.expression_checks", "check_findings"),
    "scenario": ("rulewright.lower.harness", "harness_findings"),
    "state_machine": ("rulewright.lower.machines", "condition_findings"),
    "scorecard": ("rulewright.proving.gate_findings", "scorecard_findings"),
    CASE_SCORECARD: ("rulewright.proving.tables", "scorecard_findings"),
}
OF_SOUND_ONES: Final = frozenset({"scorecard", CASE_SCORECARD})  # else the structure must be corrected first


def document_findings(kind: str, root: Mapping, vocabulary: Vocabulary | None = None) -> list[Diagnostic]:
    """The findings of a document of this kind whose root is a mapping; workflows are checked by `workflow_check`."""
    found = structure_findings(kind, root, vocabulary)
    is_sound = not found
    models = models_of(kind, root, vocabulary)
    found += [each for model in models if isinstance(model, CheckDocument) for each in routing_conflicts_of(model)]
    found += findings(reader.rules if (reader := document_kind(kind)) else (), models)
    if any(each.holds_expressions for each in models):
        found += _expression_findings(kind, models, is_sound=is_sound)
    return found


def _expression_findings(kind: str, models: Sequence[Document], *, is_sound: bool) -> list[Diagnostic]:
    from rulewright.rules.of_conditions import BY_KIND  # slow to import

    found: list[Diagnostic] = []
    if kind in FINDERS and (is_sound or kind not in OF_SOUND_ONES):
        module, name = FINDERS[kind]
        finder: Callable[[Document], list[Diagnostic]] = getattr(import_module(module), name)
        found += [each for model in models for each in finder(model)]
    return [*found, *findings(BY_KIND.get(kind, ()), models)]


def models_of(kind: str, root: Mapping, vocabulary: Vocabulary | None) -> Sequence[Document]:
    """The models in a document of this kind; empty for kinds without rules."""
    reader = document_kind(kind)
    models = reader.read(root, Path(root.source.path).stem, vocabulary) if reader else ()
    return [with_vocabulary(each, vocabulary) for each in models] if vocabulary else models


def is_seen_alone(code: str) -> bool:
    """Whether all findings of a code need only the file they are about, not its project."""
    if rule_page(code) is None:
        return code in SUPPRESSION_CODES | LOAD_CODES | STRUCTURE_CODES
    from rulewright.rules.of_projects import PROJECT, UNREAD_FILES

    return code not in {*map(code_of, PROJECT), *map(code_of, UNREAD_FILES)}
