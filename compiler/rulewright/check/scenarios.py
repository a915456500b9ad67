"""Findings that prevent playing or judging scenarios; they are made even if no rules are run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from rulewright.diagnostics import Diagnostic, Severity
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.harness import harness_findings
from rulewright.rules import Rule, code_of
from rulewright.rules.duplicate_criterion_id import duplicate_criterion_id
from rulewright.rules.retired_rubric_dialect import retired_rubric_dialect
from rulewright.rules.turn_that_does_not_exist import turn_that_does_not_exist


def scenario_findings(scenarios: Iterable[ScenarioDocument]) -> Iterator[Diagnostic]:
    """Findings about branches, shown persona keys, references to
    missing turns, and criteria without a kind."""
    for scenario in scenarios:
        yield from harness_findings(scenario)
        for rule in (turn_that_does_not_exist, retired_rubric_dialect):
            yield from _found_by(rule, scenario)


def rubric_findings(scenarios: Iterable[ScenarioDocument]) -> Iterator[Diagnostic]:
    """Findings for criteria of one rubric with the same id, which can't become checks."""
    for scenario in sorted(scenarios, key=lambda each: each.id):
        yield from (each for each in _found_by(duplicate_criterion_id, scenario) if each.severity is Severity.ERROR)


def _found_by(rule: Rule[ScenarioDocument], scenario: ScenarioDocument) -> Iterator[Diagnostic]:
    for each in rule(scenario):
        yield dataclasses.replace(each, code=code_of(rule))
