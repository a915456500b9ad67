"""Executes a scorecard on the rows in which every check passes and in which every check fails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import meaning
from rulewright.load import Scalar
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.score import Score
from rulewright_runtime.verdicts import VerdictResult

WORD: Final = re.compile(r"(?<=['\"])\w+(?=['\"])")  # an outcome in an expression
CODE: Final = "failure-is-rewarded"
OVERALL: Final = "overall_score"
TURNED: Final = "look for a condition that is turned around, or swap the outcomes"


def extreme_findings(card: ScorecardDocument, plan: ScorecardPlan) -> Findings:
    """The outputs that are bad where every check passes, or that are better or fail where every check fails. Nothing is
    reported if the scorecard can't be executed on these rows, or does not distinguish them."""
    best, worst = (_row(plan, verdict) for verdict in ("PASS", "FAIL"))
    listed = worst.get("undecided")
    failed = (
        {each["place"]: each["reason"] for each in listed if isinstance(each, dict)} if isinstance(listed, list) else {}
    )
    is_same = all(best.get(name) == worst.get(name) for name, _ in card.output)
    for name, written in card.output if "undecided" not in best and not is_same else ():
        passing, failing = best.get(name), worst.get(name)
        if (reason := failed.get(f"output.{name}")) is not None:
            yield warning(written, f"`{name}` has no value where every check fails", code=CODE, help=reason)
        elif isinstance(passing, str) and _is_bad(passing, written):
            yield warning(written, f"`{name}` is `{passing}` where every check passes", code=CODE, help=TURNED)
        elif (card.shows(name) or name == OVERALL) and _is_worse(passing, failing):
            message = f"`{name}` is {passing} where every check passes, and {failing} where every check fails"
            yield warning(written, message, code=CODE, help=TURNED)


def _row(plan: ScorecardPlan, verdict: str) -> Mapping[str, object]:
    """The outputs of a transcript on which all checks give one verdict; none if the plan can't be executed."""
    verdicts = [_verdict(check_id, fields, verdict) for check_id, fields in plan.checks.items()]
    try:
        return Scorecard(plan).aggregate(verdicts) if verdicts else {}
    except (EvaluationError, PlanError):
        return {}


def _verdict(check_id: str, fields: Mapping[str, object], verdict: str) -> VerdictResult:
    tags = fields.get("secondary_tags", ())
    return VerdictResult(
        check_id=check_id,
        eligible=True,
        verdict=verdict,
        severity=str(fields.get("severity", "")),
        primary_bucket=str(fields.get("primary_bucket", "")),
        confidence=1.0,
        evidence=(),
        scorer_version="",
        prompt_hash=None,
        rationale_code=None,
        adjudication_required=False,
        secondary_tags=tuple(map(str, tags)) if isinstance(tags, list | tuple) else (),
        extra={},
        scorer_type="",
    )


def _is_worse(passing: object, failing: object) -> bool:
    """Whether a score is lower where every check passes than where every check fails."""
    return isinstance(passing, Score | float) and isinstance(failing, Score | float) and passing < failing


def _is_bad(outcome: str, written: Scalar) -> bool:
    """Whether an outcome is a bad word, or another one than the good ones that an output may have."""
    others = WORD.findall(str(written.value))
    return meaning(outcome) < 0 or (meaning(outcome) == 0 and any(meaning(each) > 0 for each in others))
