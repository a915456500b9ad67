"""A finished run under another profile: the recorded verdicts of unchanged checks, recorded replies counted again for
changed votes or rules, and the names of verdicts that would need a new question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulewright.comparing.recombine import Side, carried_out, only
from rulewright.reporting.stored_run import StoredRun
from rulewright_runtime.execution import Engine
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.verdicts import VerdictResult
from rulewright_runtime.verify.decisions import Decider, bindings_of


@dataclass(frozen=True)
class Rejudged:
    """A run under another plan; `unknown` names the verdicts without recorded replies (`TRANSCRIPT x CHECK`), which are
    missing in its rows as if the profile had excluded them."""

    run: StoredRun
    unknown: list[str]


def rejudged(run: StoredRun, other: Plan, transcripts: Sequence[str], replies: Sequence[Path]) -> Rejudged:
    """Return the run's rows and verdicts under the checks of another plan, without calls to a judge."""
    judging = _Rejudging(run, other, transcripts, replies)
    rows: dict[str, dict[str, object]] = {}
    verdicts: dict[str, dict[str, VerdictResult]] = {}
    unknown: list[str] = []
    for name, row in run.rows.items():
        verdicts[name], missing = judging.transcript(name)
        unknown += [f"{name} x {check}" for check in missing]
        kept = {key: value for key, value in row.items() if key != "left_out"}
        waiting = [*judging.left_out(name), *missing]
        rows[name] = {**kept, **({"left_out": waiting} if waiting else {})}
    return Rejudged(dataclasses.replace(run, plan=other, rows=rows, verdicts=verdicts), unknown)


class _Rejudging:
    def __init__(self, run: StoredRun, other: Plan, transcripts: Sequence[str], replies: Sequence[Path]) -> None:
        self.run = run
        self.other = other
        self.hashes = {check.id: check.hash for check in run.plan.checks}
        self.applies = Decider(other.checks)
        self.leaves_out = Decider(other.left_out)
        self.engines: dict[str, Engine] = {}
        changed = any(self.hashes.get(check.id) != check.hash for check in other.checks)
        self.side = Side.of(run, replies, transcripts) if changed else None

    def bindings(self, name: str) -> dict[str, Any]:
        scenario = str(self.run.rows[name].get("scenario_id") or "")
        return bindings_of(self.other, scenario) if scenario in self.other.scenarios else {}

    def left_out(self, name: str) -> list[str]:
        """Return the checks that apply to a transcript and that the other profile excludes."""
        decided = self.leaves_out.decide(self.bindings(name))
        parts = zip(self.other.left_out, decided, strict=True)
        return [part.id for part, each in parts if each.eligible and not each.suppressed]

    def transcript(self, name: str) -> tuple[dict[str, VerdictResult], list[str]]:
        """Return the verdicts on a transcript, and the checks without one."""
        found: dict[str, VerdictResult] = {}
        missing: list[str] = []
        recorded = self.run.verdicts[name]
        for check, each in zip(self.other.checks, self.applies.decide(self.bindings(name)), strict=True):
            if each.suppressed:
                continue
            verdict = recorded.get(check.id) if self.hashes.get(check.id) == check.hash else self.again(name, check)
            if verdict is not None:
                found[check.id] = verdict
            elif each.eligible:
                missing.append(check.id)
        return found, missing

    def again(self, name: str, check: Check) -> VerdictResult | None:
        """Return the verdict of a check over the recorded conversation and replies; None if they don't suffice."""
        assert self.side is not None
        conversation = self.side.transcripts.get(name)
        if conversation is None:
            return None
        engine = self.engines.get(check.id)
        if engine is None:
            engine = self.engines[check.id] = Engine(only(self.other, check, self.other.scenarios))
        result = carried_out(engine, conversation, self.side.replies)
        return None if result is None else next(iter(result.verdicts), None)
