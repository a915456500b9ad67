"""A finished run under other voting rules: another number of votes, or a majority of the planned or the usable ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import decision_of
from rulewright.whatif.rejudging import Rejudged
from rulewright.whatif.rescoring import ScoringPolicy, rescored
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Plan

VOTES: Final = "votes"  # the name of their number for `--sweep`
Row: TypeAlias = dict[str, object]
Part = TypeVar("Part", bound=PlanPart)


def with_votes(plan: Plan, votes: int | None, majority_of: str | None) -> Plan:
    """Return the plan whose judged checks take `votes` votes and need a majority of the `planned` or the `usable` ones;
    None keeps the plan's rule. A check that its profile switches off stays off. Raises UsageError for a plan without
    judged checks.
    """
    if most_votes(plan) == 0:
        raise UsageError("the plan has no judged checks, so there are no votes to recount")

    def changed(judging: Judging) -> Judging:
        if judging.repetitions == 0:
            return judging
        rule = judging.vote if majority_of is None else replace(judging.vote, denominator=majority_of)
        return replace(judging, repetitions=votes or judging.repetitions, vote=rule)

    return seal(replace(plan, checks=tuple(_with(check, changed) for check in plan.checks)))


def _with(part: Part, changed: Callable[[Judging], Judging]) -> Part:
    """Return the part of a plan with all its questions changed, at any depth."""
    if isinstance(part, Judging):
        return cast("Part", changed(part))
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return replace(part, **{name: _with(each, changed) for name, each in fields.items() if isinstance(each, PlanPart)})


def most_votes(plan: Plan) -> int:
    """Return the largest number of votes of a check; 0 without judged checks."""
    return max((each.repetitions for check in plan.checks for each in check.verifier.judgings()), default=0)


def sweep_votes(plan: Plan, judged: Callable[[Plan], Rejudged], policy: ScoringPolicy) -> dict[str, object]:
    """Return the numbers of votes, from one to the plan's largest, at which transcripts change, in the format of
    `sweep`; `unknown` counts, for each number, the verdicts that would need a new question. Raises UsageError for a
    plan without judged checks.
    """
    card = policy.prepared()
    found: list[Row] = []
    unknown: dict[str, int] = {}
    before: dict[str, object] = {}
    for votes in range(1, max(most_votes(plan), 1) + 1):
        stood = judged(with_votes(plan, votes, None))
        if stood.unknown:
            unknown[str(votes)] = len(stood.unknown)
        told: dict[str, object] = {
            name: decision_of(row, policy.card) for name, row in rescored(stood.run, card).items()
        }
        changed = [name for name in told if before and told[name] != before[name]]
        if changed:
            found.append({"at": float(votes), "exact": True, "side": "at", "transcripts": changed})
        before = told
    return {"parameter": VOTES, "breakpoints": found, "unknown": unknown}
