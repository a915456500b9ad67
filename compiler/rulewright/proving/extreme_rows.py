"""Executes a scorecard on the rows in which every check passes and in which every check fails."""

from collections.abc import Mapping
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.direction import meaning
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.errors import EvaluationError, PlanError
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.score import Score
from rulewright_runtime.verdicts import VerdictResult

CODE: Final = "failure-is-rewarded"
OVERALL: Final = "overall_score"
TURNED: Final = "look for a condition that is turned around, or swap the outcomes"


def extreme_findings(card: ScorecardDocument, plan: ScorecardPlan) -> Findings:
    """The label that is bad where every check passes, and the headline that is higher or has no value where every check
    fails. Nothing is reported if the scorecard can't be executed on these rows, or does not distinguish them. Other
    outputs may read fields that only real verdicts have, or say which failures there are."""
    best, worst = (_row(plan, verdict) for verdict in ("PASS", "FAIL"))
    listed = worst.get("undecided")
    failed = (
        {each["place"]: each["reason"] for each in listed if isinstance(each, dict)} if isinstance(listed, list) else {}
    )
    is_same = all(best.get(name) == worst.get(name) for name, _ in card.output)
    for name, written in card.output if "undecided" not in best and not is_same else ():
        passing, failing = best.get(name), worst.get(name)
        is_score = card.shows(name) or name == OVERALL
        if is_score and (reason := failed.get(f"output.{name}")) is not None:
            yield warning(written, f"`{name}` has no value where every check fails", code=CODE, help=reason)
        elif card.label is not None and card.label.value == name and _is_turned(passing, failing):
            yield warning(written, f"`{name}` is `{passing}` where every check passes", code=CODE, help=TURNED)
        elif is_score and _is_worse(passing, failing):
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


def _is_turned(passing: object, failing: object) -> bool:
    """Whether the outcome where every check fails is a better word than where every check passes."""
    return isinstance(passing, str) and isinstance(failing, str) and meaning(passing) < meaning(failing)
