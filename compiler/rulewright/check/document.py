"""What is wrong with a document that stands alone: its structure, and the rules that look at one document.

Each kind of document brings its own model, which is imported when a document of that kind turns up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import worded
from rulewright.documents.conditions import holds_conditions
from rulewright.documents.kinds import CASE_SCORECARD
from rulewright.documents.validation import PAGES as STRUCTURE
from rulewright.documents.validation import validate
from rulewright.load import Mapping
from rulewright.load import load_errors as mistakes
from rulewright.rules import RULES, findings
from rulewright.suppressions import OURS
from rulewright.vocabulary import Vocabulary

if TYPE_CHECKING:
    from rulewright.documents.check import Check
    from rulewright.documents.scenario import Scenario


def document_findings(kind: str, root: Mapping, vocabulary: Vocabulary | None = None) -> list[Diagnostic]:
    """The findings of a document whose root is a mapping of this kind; workflows are checked by `workflows`."""
    found = validate(kind, root, vocabulary)
    is_whole = not found
    subjects = subjects_of(kind, root, Path(root.source.path).stem, vocabulary)
    if kind == "check":
        from rulewright.lower.routing_conflicts import routing_conflicts_of

        found += [each for check in subjects["Check"] for each in routing_conflicts_of(check)]
        found += [each for check in subjects["Check"] for each in template_findings(check)]
    found += findings(subjects)
    found += harness_findings(subjects.get("Scenario", ()))
    if kind == CASE_SCORECARD and is_whole:
        found += case_findings(root)
    if kind == "scorecard" and is_whole:
        found += _scorecard_findings(root, vocabulary)
    return found


def is_seen_alone(code: str) -> bool:
    """Whether all findings of a code are seen in the file they are about, without its project."""
    name = f"{code.replace('-', '_')}: "
    subjects = next((row.removeprefix(name).split(" | ") for row in RULES if row.startswith(name)), None)
    if subjects is None:
        return code in OURS or code in mistakes.PAGES or code in STRUCTURE
    return not {"Project", "UnreadFiles"} & set(subjects)


def template_findings(check: Check) -> list[Diagnostic]:
    """What a check's expression and prompt hold. Expressions are imported only for those that need them."""
    prompt = str(check.prompt.value) if check.prompt is not None else ""
    if not holds_conditions(check) and not any(mark in prompt for mark in ("{{", "{%", "{#")):
        return []
    from rulewright.lower.alone import check_findings

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
    from rulewright.scoring.batches import case_findings as findings_of

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
        from rulewright.prove.gate_findings import gate_findings
        from rulewright.prove.gates import prove_gates

        found += gate_findings(card, prove_gates(plan, card.vocabulary))
    return found


def subjects_of(kind: str, root: Mapping, name: str, vocabulary: Vocabulary | None = None) -> dict[str, Sequence[Any]]:
    """What rules look at in the document, by the name of its model."""
    found = _subjects_of(kind, root, name)
    if vocabulary is None:
        return found
    return {of: tuple(worded(each, vocabulary) for each in documents) for of, documents in found.items()}


def _subjects_of(kind: str, root: Mapping, name: str) -> dict[str, Sequence[Any]]:
    match kind:
        case "check":
            from rulewright.documents.check import read_check

            return {"Check": (read_check(root),)}
        case "lexicon" | "lexicons":
            from rulewright.documents.lexicon import read_lexicon, read_lexicons

            return {"Lexicon": (read_lexicon(root, name),) if kind == "lexicon" else read_lexicons(root)}
        case "markers":
            from rulewright.documents.markers import read_markers

            return {"MarkerSet": (read_markers(root, name),)}
        case "profile" | "profiles":
            from rulewright.documents.profile import read_profile, read_profiles

            return {"Profile": (read_profile(root, name),) if kind == "profile" else read_profiles(root)}
        case "scenario":
            from rulewright.documents.scenario import read_scenario

            return {"Scenario": (read_scenario(root),)}
        case "scorecard":
            from rulewright.documents.scorecard import read_scorecard

            card, _ = read_scorecard(root)
            return {"ScorecardDocument": (card,) if card else ()}
        case "case_scorecard":
            from rulewright.documents.case_scorecard import read_case_scorecard

            return {"CaseScorecardDocument": (read_case_scorecard(root),)}
    return {}
