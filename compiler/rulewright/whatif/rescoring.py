"""A finished run scored again: its recorded verdicts under another scorecard or other parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.adjudication import write_derived
from rulewright.reporting.stored_run import StoredRun, decision_as_json, decision_of, has_skipped, knowing, score_again
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import OUTCOMES
from rulewright_runtime.locks import lock_folder
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.runs.folder import DECISIONS, REPLIES
from rulewright_runtime.strict_json import JsonMapping, JsonObject


@dataclass(frozen=True)
class ScoringPolicy:
    """How verdicts become gates and scores: a scorecard and the values of its parameters."""

    card: ScorecardPlan
    parameters: JsonMapping

    def prepared(self, **given: object) -> Scorecard:
        """Return the prepared scorecard. Raises PlanError for an unknown parameter or a bad value."""
        return Scorecard(self.card, {**self.parameters, **given})


def policy_of(run: StoredRun, other: Plan | None, given: Mapping[str, object]) -> ScoringPolicy:
    """Return the run's policy with `given` parameters, or that of the plan `other`. Raises UsageError without a
    scorecard."""
    card = run.plan.scorecard if other is None else other.scorecard
    if card is None:
        raise UsageError(f"`{run.folder}` has no scorecard; name one with `--scorecard`")
    return ScoringPolicy(knowing(card, run.plan.scorecard), {**card.declared(run.parameters), **given})


def rescored(run: StoredRun, card: Scorecard) -> dict[str, dict[str, object]]:
    """Return the rows of the run under another scorecard, by transcript."""
    return {
        name: score_again(card, row, run.verdicts[name].values(), skipped=has_skipped(run, row))
        for name, row in run.rows.items()
    }


def write_rescored(recorded: StoredRun, run: StoredRun, policy: ScoringPolicy, out: Path) -> JsonObject:
    """Write the `recorded` run, or the one that was made of it, under another policy to the new folder `out`, and
    return its summary. Raises OSError."""
    plan = seal(replace(run.plan, scorecard=policy.card))
    about: JsonObject = {
        "profile": plan.profile,
        "scorecard": policy.card.name,
        "plan": plan.hash,
        "parameters": {name: str(value) for name, value in sorted(policy.parameters.items())} or None,
        "rescored": {"from": str(run.folder), "plan": run.summary["plan"], "scorecard": run.summary.get("scorecard")},
    }
    derived = dataclasses.replace(run, plan=plan, rows=rescored(run, policy.prepared()))
    files = [path.read_bytes() if path.is_file() else b"" for path in (run.folder / DECISIONS, run.folder / REPLIES)]
    out.mkdir(parents=True)
    with lock_folder(out):
        return write_derived(out, recorded, derived, about, *files)


def unasked(run: StoredRun, other: Plan | None) -> list[str]:
    """Return the checks of another plan that the run did not include."""
    asked = {check.id for check in run.plan.checks}
    return [] if other is None else [check.id for check in other.checks if check.id not in asked]


def changed_rules(run: StoredRun, other: Plan | None) -> list[str]:
    """Return the checks whose rules differ in another plan; their recorded verdicts follow the run's own rules."""
    hashes = {check.id: check.hash for check in run.plan.checks}
    return [] if other is None else [each.id for each in other.checks if hashes.get(each.id, each.hash) != each.hash]


def totals(rows: Iterable[JsonMapping], card: ScorecardPlan) -> JsonObject:
    """Return the number of rows of each outcome, the number with the headline of `card`, and its mean (None without
    any)."""
    told = [decision_of(row, card) for row in rows]
    scores = [score for _, _, score, _ in told if type(score) in (int, float)]
    outcomes = {name: sum(each[0] == name for each in told) for name in OUTCOMES}
    return {"outcomes": outcomes, "scored": len(scores), "mean": math.fsum(scores) / len(scores) if scores else None}


def flips(run: StoredRun, rows: Mapping[str, JsonMapping], card: ScorecardPlan) -> list[JsonObject]:
    """Return the transcripts with another outcome, label, headline or gate under `card`, in the order of the run."""
    found = []
    for name, row in rows.items():
        before, after = decision_of(run.rows[name], run.plan.scorecard or card), decision_of(row, card)
        if before != after:
            found.append({"transcript_id": name, "before": decision_as_json(before), "after": decision_as_json(after)})
    return found
