"""Findings that prevent playing or judging scenarios; they are made even if no rules are run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rulewright.diagnostics import Diagnostic, Severity
from rulewright.documents.scenario import ScenarioDocument
from rulewright.lower.harness import harness_findings
from rulewright.rules import findings


def scenario_findings(scenarios: Iterable[ScenarioDocument]) -> Iterator[Diagnostic]:
    """Findings about branches, shown persona keys, references to
    missing turns, and criteria without a kind."""
    for scenario in scenarios:
        yield from harness_findings(scenario)
        yield from findings(("turn_that_does_not_exist", "retired_rubric_dialect"), [scenario])


def rubric_findings(scenarios: Iterable[ScenarioDocument]) -> Iterator[Diagnostic]:
    """Findings for criteria of one rubric with the same id, which can't become checks."""
    ordered = sorted(scenarios, key=lambda each: each.id)
    return (each for each in findings(["duplicate_criterion_id"], ordered) if each.severity is Severity.ERROR)
