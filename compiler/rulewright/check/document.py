"""What is wrong with a document that stands alone: its structure, and the rules that look at one document.

Each kind of document brings its own model, which is imported when a document of that kind turns up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import Document, holds_conditions, worded
from rulewright.documents.kinds import CASE_SCORECARD
from rulewright.documents.library import check_findings
from rulewright.documents.validation import PAGES as STRUCTURE
from rulewright.documents.validation import validate
from rulewright.documents.vocabulary import Vocabulary
from rulewright.load import Mapping
from rulewright.load import load_errors as mistakes
from rulewright.load.suppressions import OURS
from rulewright.rules import Rule, code_of, findings, rule_page

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.scenario import Scenario


def document_findings(kind: str, root: Mapping, vocabulary: Vocabulary | None = None) -> list[Diagnostic]:
    """The findings of a document whose root is a mapping of this kind; workflows are checked by `workflow_check`."""
    found = check_findings(root, vocabulary) if kind == "check" else validate(kind, root, vocabulary)
    is_whole = not found
    models, rules = models_and_rules(kind, root, vocabulary)
    if kind == "check":
        from rulewright.lower.routing_conflicts import routing_conflicts_of

        found += [each for check in models for each in routing_conflicts_of(cast("CheckDocument", check))]
        found += [each for check in models for each in template_findings(cast("CheckDocument", check))]
    found += findings(rules, models)
    if kind == "scenario":
        found += harness_findings(cast("Sequence[Scenario]", models))
    if kind == CASE_SCORECARD and is_whole:
        found += case_findings(root)
    if kind == "scorecard" and is_whole:
        found += _scorecard_findings(root, vocabulary)
    return found


def is_seen_alone(code: str) -> bool:
    """Whether all findings of a code are seen in the file they are about, without its project."""
    if rule_page(code) is None:
        return code in OURS or code in mistakes.PAGES or code in STRUCTURE
    from rulewright.rules.of_projects import PROJECT, UNREAD_FILES

    return code not in {*map(code_of, PROJECT), *map(code_of, UNREAD_FILES)}


def template_findings(check: CheckDocument) -> list[Diagnostic]:
    """What a check's expression and prompt hold. Expressions are imported only for those that need them."""
    prompt = str(check.prompt.value) if check.prompt is not None else ""
    if not holds_conditions(check) and not any(mark in prompt for mark in ("{{", "{%", "{#")):
        return []
    from rulewright.lower.expression_checks import check_findings

    return check_findings(check)


def harness_findings(scenarios: Iterable[Scenario]) -> list[Diagnostic]:
    """What stands in the way of playing scenarios. Expressions are imported only for those that need them."""
    conditional = [
        each
        for each in scenarios
        if any(turn.branches for turn in each.turns) or (each.persona is not None and each.persona.visible)
    ]
    if not conditional:
        return []
    from rulewright.lower.harness import harness_findings as findings_of

    return [found for each in conditional for found in findings_of(each)]


def case_findings(root: Mapping) -> list[Diagnostic]:
    """What a scorecard over cases holds beyond its structure."""
    from rulewright.proving.label_findings import case_findings as findings_of

    return findings_of(root)


def _scorecard_findings(root: Mapping, vocabulary: Vocabulary | None) -> list[Diagnostic]:
    """What a scorecard over verdicts holds beyond its structure."""
    from rulewright.documents.scorecard import read_scorecard
    from rulewright.lower.scorecard import lower_alone

    card, found = read_scorecard(root)
    if card is None or found:
        return found
    card = worded(card, vocabulary) if vocabulary else card
    plan, found = lower_alone(card)
    if plan is not None and card.gates:
        from rulewright.proving.gate_findings import gate_findings
        from rulewright.proving.gates import prove_gates

        found += gate_findings(card, prove_gates(plan, card.vocabulary))
    return found


def models_and_rules(
    kind: str, root: Mapping, vocabulary: Vocabulary | None = None
) -> tuple[Sequence[Document], Sequence[Rule[object]]]:
    """The models in a document of this kind, and the rules that look at one of them."""
    models, rules = _models_and_rules(kind, root, Path(root.source.path).stem, vocabulary)
    return [worded(each, vocabulary) for each in models] if vocabulary else models, rules


def _models_and_rules(
    kind: str, root: Mapping, name: str, vocabulary: Vocabulary | None
) -> tuple[Sequence[Document], Sequence[Rule[Any]]]:
    match kind:
        case "check":
            from rulewright.documents.check import read_check
            from rulewright.rules.of_checks import CHECK

            return (read_check(root, vocabulary),), CHECK
        case "lexicon" | "lexicons":
            from rulewright.documents.lexicon import read_lexicon, read_lexicons
            from rulewright.rules.of_lexicons import LEXICON

            return (read_lexicon(root, name),) if kind == "lexicon" else read_lexicons(root), LEXICON
        case "markers":
            from rulewright.documents.lexicon import read_markers
            from rulewright.rules.of_lexicons import MARKER_SET

            return (read_markers(root, name),), MARKER_SET
        case "profile" | "profiles":
            from rulewright.documents.profile import read_profile, read_profiles
            from rulewright.rules.of_checks import PROFILE

            return (read_profile(root, name),) if kind == "profile" else read_profiles(root), PROFILE
        case "scenario":
            from rulewright.documents.scenario import read_scenario
            from rulewright.rules.of_scenarios import SCENARIO

            return (read_scenario(root),), SCENARIO
        case "scorecard":
            from rulewright.documents.scorecard import read_scorecard
            from rulewright.rules.of_scorecards import SCORECARD

            card, _ = read_scorecard(root)
            return (card,) if card else (), SCORECARD
        case "case_scorecard":
            from rulewright.documents.case_scorecard import read_case_scorecard
            from rulewright.rules.of_scorecards import CASE_SCORECARD as RULES

            return (read_case_scorecard(root),), RULES
        case "state_machine":
            from rulewright.documents.state_machine import read_state_machine
            from rulewright.rules.of_state_machines import STATE_MACHINE

            return (read_state_machine(root, name),), STATE_MACHINE
    return (), ()
