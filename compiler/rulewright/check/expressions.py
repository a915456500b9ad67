"""What is wrong with the expressions of a document that stands alone: of those, and of what is decided by them.

All that understands expressions is imported with this module.
"""

from __future__ import annotations

from collections.abc import Sequence

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import Document
from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import Scenario
from rulewright.documents.scorecard import ScorecardDocument, read_scorecard
from rulewright.lower.expression_checks import check_findings
from rulewright.lower.harness import harness_findings
from rulewright.lower.scorecard import lower_alone
from rulewright.proving.gate_findings import gate_findings
from rulewright.proving.gates import prove_gates
from rulewright.proving.label_findings import case_findings
from rulewright.rules import findings
from rulewright.rules.of_conditions import BY_KIND


def expression_findings(kind: str, models: Sequence[Document], *, is_sound: bool) -> list[Diagnostic]:
    """The findings of the expressions in the models of one document; `is_sound` says that its structure is."""
    found = [each for model in models for each in _lowered(model, is_sound=is_sound)]
    return [*found, *findings(BY_KIND.get(kind, ()), models)]


def _lowered(model: Document, *, is_sound: bool) -> list[Diagnostic]:
    """What lowering and proving find; a scorecard is lowered only where its structure is sound."""
    match model:
        case CheckDocument():
            return check_findings(model)
        case Scenario():
            return harness_findings(model)
        case CaseScorecardDocument() if is_sound:
            return case_findings(model.node)
        case ScorecardDocument() if is_sound:
            return _scorecard_findings(model)
    return []


def _scorecard_findings(card: ScorecardDocument) -> list[Diagnostic]:
    _, found = read_scorecard(card.node)
    if found:
        return found
    plan, found = lower_alone(card)
    if plan is not None and card.gates:
        found += gate_findings(card, prove_gates(plan, card.vocabulary))
    return found
