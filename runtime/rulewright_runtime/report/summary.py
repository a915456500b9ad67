"""The summary of a corpus: verdicts, gates, hard fails, means, blindspots, refused inputs and what awaits a person."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from rulewright_runtime.errors import InputError
from rulewright_runtime.scorecard import VERDICTS

if TYPE_CHECKING:
    from rulewright_runtime.aggregate import Verdict

VERSION: Final = 1
STATUSES: Final = ("valid", "invalid", "needs_adjudication")


class Means(Struct):
    """Numbers on their way to a mean; absent ones are left out and counted."""

    values: list[float] = field(default_factory=list)
    absent: int = 0

    def add(self, value: float | None) -> None:
        """Take in one number, or its absence."""
        if value is None:
            self.absent += 1
        else:
            self.values.append(value)

    def result(self) -> dict[str, Any]:
        """`{mean, counted, absent}`; the mean of nothing is null."""
        mean = math.fsum(self.values) / len(self.values) if self.values else None
        return {"mean": mean, "counted": len(self.values), "absent": self.absent}


class Summary(Struct):
    """Gathers rows one by one, in any number; `result` is the finished summary as JSON data.

    `about` (profile, scorecard, plan hash ...) is repeated at the top of the result.
    """

    about: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 0
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    gates: dict[str, dict[str, int]] = field(default_factory=dict)
    overall: Means = field(default_factory=Means)
    dimensions: dict[str, Means] = field(default_factory=dict)
    checks: dict[str, dict[str, int]] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    hard_failed: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[Mapping[str, bool | None]] = field(default_factory=list)
    adjudication: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], verdicts: Iterable[Verdict], harness: str = "") -> None:
        """Take in one transcript: its row of `scores.jsonl`, its verdict records, and its harness where it is known."""
        self.rows += 1
        status = str(row.get("status"))
        self.statuses[status] = self.statuses.get(status, 0) + 1
        for name, gate in (row.get("gates") or {}).items():
            self._add_gate(name, gate)
        self.overall.add(row.get("overall_score"))
        for name, value in (row.get("dimension_scores") or {}).items():
            self.dimensions.setdefault(name, Means()).add(value)
        if row.get("hard_fail"):
            kept = ("transcript_id", "scenario_id", "model", "hard_fail_reasons")
            self.hard_failed.append({key: row.get(key) for key in kept})
        for mode_id in row.get("left_out", ()):
            self.left_out[mode_id] = self.left_out.get(mode_id, 0) + 1
        self.profiles.append(row.get("blindspot_profile") or {})
        self._add_model(row, harness)
        transcript = row.get("transcript_id")
        for verdict in verdicts:
            self._add_verdict(str(transcript), verdict)
        for item in row.get("undecided", ()):
            entry = {"transcript_id": transcript, "mode_id": item["mode_id"] or None}
            self.adjudication.append({**entry, "verdict": None, "reason": f"{item['place']}: {item['reason']}"})

    def _add_gate(self, name: str, gate: Mapping[str, Any]) -> None:
        counts = self.gates.setdefault(name, {"passed": 0, "failed": 0, "undecided": 0, "not_run": 0})
        passed = gate.get("passed")
        counts["passed" if passed else "failed" if passed is False else _open_gate(gate)] += 1

    def _add_model(self, row: Mapping[str, Any], harness: str) -> None:
        name = str(row.get("model"))
        model = self.models.setdefault(name, {"transcripts": 0, "hard_fails": 0, "overall": Means(), "harness": {}})
        model["transcripts"] += 1
        if harness:
            model["harness"][harness] = model["harness"].get(harness, 0) + 1
        model["hard_fails"] += bool(row.get("hard_fail"))
        model["overall"].add(row.get("overall_score"))

    def _add_verdict(self, transcript: str, verdict: Verdict) -> None:
        counts = self.checks.get(verdict.mode_id)
        if counts is None:
            counts = self.checks[verdict.mode_id] = {"eligible": 0, **dict.fromkeys(VERDICTS, 0)}
        if verdict.eligible:
            counts["eligible"] += 1
            counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
        if getattr(verdict, "adjudication_required", False):
            entry = {"transcript_id": transcript, "mode_id": verdict.mode_id, "verdict": verdict.verdict}
            self.adjudication.append({**entry, "reason": getattr(verdict, "rationale_code", None)})

    def refuse(self, error: InputError) -> None:
        """Take in an input that was refused."""
        self.refused.append({"path": error.path, "line": error.line, "reason": error.reason})

    def result(self) -> dict[str, Any]:
        """The summary as JSON data, the same for the same rows in the same order."""
        total = {name: sum(check.get(name, 0) for check in self.checks.values()) for name in ("eligible", *VERDICTS)}
        return {
            "version": VERSION,
            **self.about,
            "transcripts": self.rows,
            "refused": {"count": len(self.refused), "inputs": self.refused},
            "status": self.statuses,
            "gates": self.gates,
            "left_out": dict(sorted(self.left_out.items())),
            "hard_fails": {
                "count": len(self.hard_failed),
                "rate": len(self.hard_failed) / self.rows if self.rows else None,
                "by_check": _by_check(self.hard_failed),
                "transcripts": self.hard_failed,
            },
            "overall_score": self.overall.result(),
            "dimension_scores": {name: means.result() for name, means in self.dimensions.items()},
            "verdicts": total,
            "checks": dict(sorted(self.checks.items())),
            "blindspots": {"rates": _rates(self.profiles), "n_runs": self.rows},
            "models": {
                name: {**model, "overall": model["overall"].result(), "harness": dict(sorted(model["harness"].items()))}
                for name, model in sorted(self.models.items())
            },
            "adjudication": {"count": len(self.adjudication), "items": self.adjudication},
        }


def _rates(profiles: list[Mapping[str, bool | None]]) -> dict[str, float | None]:
    if not any(profiles):  # no scorecard: what computes rates need not be loaded
        return {}
    from rulewright_runtime.aggregate import blindspot_rates

    return blindspot_rates(profiles)


def _open_gate(gate: Mapping[str, Any]) -> str:
    """A gate that is neither passed nor failed names the checks that leave it open; without any, none was run."""
    return "undecided" if gate.get("reasons") else "not_run"


def _by_check(failed: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How often each check was the reason, most frequent first."""
    counts: dict[str, dict[str, Any]] = {}
    for row in failed:
        for reason in row["hard_fail_reasons"] or ():
            mode_id = str(reason.get("mode_id"))
            entry = {"mode_id": mode_id, "bucket": reason.get("bucket"), "severity": reason.get("severity"), "count": 0}
            counts.setdefault(mode_id, entry)["count"] += 1
    return sorted(counts.values(), key=lambda entry: (-entry["count"], entry["mode_id"]))


def exit_status(summary: Mapping[str, Any]) -> int:
    """What a scan answers to its caller: 3 when an input was refused or there was none, 1 with a hard fail or a failed
    gate, 2 with an undecided gate, a coverage below the minimum or a scorecard that could not decide, else 0.

    A gate to whose transcript no check applies is reported as `not_run` and does not count as undecided; one whose
    check applies but was left out by the profile does. A quality verdict that awaits a person is listed in the summary
    and makes its row `needs_adjudication`, but all gates have passed.
    """
    if summary["refused"]["count"] or not summary["transcripts"]:
        return 3
    gates = summary["gates"].values()
    if summary["hard_fails"]["count"] or any(gate["failed"] for gate in gates):
        return 1
    judged = summary["status"].get("valid", 0) + summary["status"].get("needs_adjudication", 0)
    unscored = any(item["verdict"] is None for item in summary["adjudication"]["items"])
    open_gates = any(gate["undecided"] for gate in gates)
    return 2 if open_gates or unscored or judged < summary["transcripts"] else 0
