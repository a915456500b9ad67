"""From a scorecard document to the part of the plan that carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.scorecard import ScorecardDocument
    from rulewright_runtime.scorecard import ScorecardPlan


def lower_scorecard(
    document: ScorecardDocument,
    scoring: Mapping[str, Any],
    checks: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
) -> tuple[ScorecardPlan | None, list[Diagnostic]]:
    """The plan of a scorecard, or None with the diagnostics that say why not.

    `scoring` is the scoring file as plain data, `checks` the plain mapping of every selected check by id (in plan
    order), `labels` the blindspot labels with their checks. Labels whose check is not selected stay: their flag is null.
    """
    raise NotImplementedError
