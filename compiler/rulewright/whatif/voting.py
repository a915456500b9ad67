"""A finished run under other rules of voting: another number of votes, or the majority of others than it was of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import decision_of
from rulewright.whatif.rejudging import Rejudged
from rulewright.whatif.rescoring import ScoringPolicy, rescored
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.plan.question import Judging

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import Plan

VOTES: Final = "votes"  # what `--sweep` calls their number
Row: TypeAlias = dict[str, object]
Part = TypeVar("Part", bound=PlanPart)


def with_votes(plan: Plan, votes: int | None, majority_of: str | None) -> Plan:
    """The plan whose judged checks take so many votes, and need a majority of the `planned` or of the `usable` ones;
    None leaves what it says. A check that its profile switches off stays off.

    Raises UsageError where the plan asks no judge.
    """
    if most_votes(plan) == 0:
        raise UsageError("the plan asks no judge, so that there are no votes to count otherwise")

    def changed(judging: Judging) -> Judging:
        if judging.repetitions == 0:
            return judging
        rule = judging.vote if majority_of is None else replace(judging.vote, denominator=majority_of)
        return replace(judging, repetitions=votes or judging.repetitions, vote=rule)

    return seal(replace(plan, checks=tuple(_with(check, changed) for check in plan.checks)))


def _with(part: Part, changed: Callable[[Judging], Judging]) -> Part:
    """The part of a plan with its questions changed, however deep they stand."""
    if isinstance(part, Judging):
        return cast("Part", changed(part))
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return replace(part, **{name: _with(each, changed) for name, each in fields.items() if isinstance(each, PlanPart)})


def most_votes(plan: Plan) -> int:
    """The largest number of votes that a check of the plan takes; 0 where none is judged."""
    return max((each.repetitions for check in plan.checks for each in check.verifier.judgings()), default=0)


def sweep_votes(plan: Plan, judged: Callable[[Plan], Rejudged], policy: ScoringPolicy) -> dict[str, object]:
    """The numbers of votes, from one to the plan's largest, at which transcripts change, as the sweep of a parameter
    tells them; `unknown` counts by number the verdicts that would need a question that was never asked.

    Raises UsageError where the plan asks no judge.
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
