"""Runs the lint rules over a project: every rule gets the documents that it checks."""

from collections.abc import Iterable

from rulewright.diagnostics import Findings
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.project import Project
from rulewright.project.unread_files import UnreadFiles
from rulewright.rules import findings, of_conditions
from rulewright.rules.of_checks import CHECK, PROFILE
from rulewright.rules.of_lexicons import LEXICON, MARKER_SET
from rulewright.rules.of_projects import PROJECT, UNREAD_FILES
from rulewright.rules.of_scenarios import SCENARIO
from rulewright.rules.of_scorecards import CASE_SCORECARD as CASE_SCORECARD_RULES
from rulewright.rules.of_scorecards import SCORECARD
from rulewright.rules.of_state_machines import STATE_MACHINE


def rule_findings(project: Project, cards: Iterable[CaseScorecardDocument], unread: UnreadFiles) -> Findings:
    """The findings of the rules, except those of workflows, which `workflow_check` runs."""
    yield from findings(PROJECT, [project])
    yield from findings((*CHECK, *of_conditions.CHECK), project.checks)
    yield from findings((*PROFILE, *of_conditions.PROFILE), project.profiles.values())
    yield from findings((*SCENARIO, *of_conditions.SCENARIO), project.scenarios.values())
    yield from findings(LEXICON, project.lexicons.values())
    yield from findings(MARKER_SET, project.markers)
    yield from findings(SCORECARD, project.scorecards.values())
    yield from findings(CASE_SCORECARD_RULES, cards)
    yield from findings(STATE_MACHINE, project.state_machines.values())
    yield from findings(UNREAD_FILES, [unread])
