"""Findings that depend on a document that can't be read: its content is not known, so they may be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic
    from rulewright.project import Project

# What is said of a project because of the documents that it has not, by the kind of document.
_CODES: Final[dict[str, str]] = {
    "blindspots": "gate-without-blindspot",
    "checks": """bucket-without-checks comment-contradicts-files count-contradicts-files empty-profile
        gate-without-blindspot part-without-checks project-without-checks prompt-names-another-check
        tag-no-check-looks-for unknown-check unused-lexicon unused-rule-set""",
    "corpora": "unknown-corpus",
    "lexicons": "detector-without-definition unknown-cue unknown-lexicon",
    "markers": "unknown-marker-set",
    "profiles": "dev-repetitions-nobody-uses unknown-profile",
    "rules": "rule-nobody-has unknown-jurisdiction",
    "scenarios": """check-no-scenario-reaches comment-contradicts-files contrast-without-counterpart
        count-contradicts-files tag-no-scenario-carries unknown-scenario""",
    "scorecards": "unknown-scorecard",
    "scoring": "bucket-without-policy event-window-without-anchor unit-of-analysis-missing",
    "state_machines": "detector-without-definition state-machine-without-definition unknown-state-machine",
}
_OF_SCORECARDS: Final = frozenset({"bad-expression", "wrong-output"})  # where the scoring file can't be read


def without_dependent(found: Iterable[Diagnostic], project: Project) -> list[Diagnostic]:
    """The findings without those that a document of the project which can't be read might refute."""
    if not project.unreadable:
        return list(found)
    codes = {code for kind in project.unreadable for code in _CODES.get(kind, "").split()}
    cards = {card.path for card in project.scorecards.values()} if "scoring" in project.unreadable else set()
    return [
        each
        for each in found
        if each.code not in codes and not (each.code in _OF_SCORECARDS and each.span.path in cards)
    ]
