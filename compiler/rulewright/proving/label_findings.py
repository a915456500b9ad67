"""Findings about the label tables of scorecards over cases: gaps, and rows that never decide."""

from __future__ import annotations

from contextlib import suppress

from rulewright.diagnostics import Diagnostic, error, warning
from rulewright.documents.case_scorecard import CaseScorecardDocument, read_case_scorecard
from rulewright.load import Mapping
from rulewright.lower.case_scorecard import lower_case_scorecard, requirements_of_defaults
from rulewright.proving.label_table import scorers_of, study
from rulewright.scoring.batches import CaseScorecard
from rulewright_runtime.cases.case_settings import CaseSettings, defaults
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.errors import PlanError


def case_findings(root: Mapping) -> list[Diagnostic]:
    """The `scorecard_findings` of the scorecard over cases in a file."""
    return scorecard_findings(read_case_scorecard(root))


def scorecard_findings(document: CaseScorecardDocument) -> list[Diagnostic]:
    """The findings about a valid scorecard over cases; its labels are checked under its default settings."""
    plan, mistakes = lower_case_scorecard(document)
    if plan is None:
        return mistakes
    card = CaseScorecard(document, plan)
    try:
        found = table_findings(card, CaseSettings(plan).scorer(None, None))
        return [each for each in found if each.code != "label-row-is-dead" or not _has_switch_for(each, card)]
    except PlanError as failure:
        if not all(holds for _, holds in requirements_of_defaults(document)):
            return []  # the rule `defaults-break-a-requirement` reports them
        return [
            error(document.key_place("requires"), f"the defaults do not fulfil it: {failure}", code="bad-parameter")
        ]


def _has_switch_for(dead: Diagnostic, card: CaseScorecard) -> bool:
    """Whether a row that never decides does so once one of the switches differs from its default."""
    for name, usual in defaults(card.plan).items():
        with suppress(PlanError):  # a requirement may rule the other value out
            if isinstance(usual.value, bool):
                other = CaseSettings(card.plan, {name: not usual.value}).scorer(None, None)
                if dead not in table_findings(card, other):
                    return True
    return False


def check_labels(card: CaseScorecard, settings: CaseSettings) -> list[Diagnostic]:
    """The findings about the label table under the settings of a run: a gap is an error, a dead row a warning."""
    findings: list[Diagnostic] = []
    for _, scorer in scorers_of(settings):
        findings += table_findings(card, scorer)
    return sorted(set(findings), key=lambda each: each.sort_key)


def table_findings(card: CaseScorecard, scorer: CaseScorer) -> list[Diagnostic]:
    """The findings about the label table under one set of parameters."""
    result = study(card.plan, scorer)
    rows = card.document.labels
    if result.unproved is not None:
        message = f"it can't be proved that the label table leaves no case out: {result.unproved}"
        return [warning(card.document.key_place("labels"), message, code="label-table-not-proved")]
    findings = []
    if result.gap is not None:
        gap = " and ".join(f"`{name}` is {value:.6g}" for name, value in result.gap.items())
        message = f"no row of the label table holds where {gap}"
        findings.append(error(rows[-1].when, message, code="label-table-has-a-gap"))
    for at in result.dead:
        message = f"row {at + 1} of the label table (`{rows[at].label}`) never decides: an earlier row always does"
        findings.append(warning(rows[at].when, message, code="label-row-is-dead"))
    return findings
