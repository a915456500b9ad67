"""Runs the lint rules over a project: every rule gets the documents that it checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.case_scorecard import CaseScorecardDocument
from rulewright.project import Project
from rulewright.project.unread_files import UnreadFiles
from rulewright.rules import findings
from rulewright.rules.of_documents import RULES, RULES_OF_EXPRESSIONS


def rule_findings(
    project: Project, cards: Iterable[CaseScorecardDocument], unread: UnreadFiles
) -> Iterator[Diagnostic]:
    """The findings of the rules, except those of workflows, which `workflow_check` runs."""
    models: dict[str, Iterable[object]] = {
        "Project": [project],
        "CheckDocument": project.checks,
        "Profile": project.profiles.values(),
        "ScenarioDocument": project.scenarios.values(),
        "LexiconDocument": project.lexicons.values(),
        "MarkerSet": project.markers,
        "ScorecardDocument": project.scorecards.values(),
        "CaseScorecardDocument": cards,
        "StateMachineDocument": project.state_machines.values(),
        "UnreadFiles": [unread],
    }
    for name, found in models.items():
        yield from findings((*RULES[name], *RULES_OF_EXPRESSIONS.get(name, ())), found)
