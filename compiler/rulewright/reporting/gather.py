"""What a finished run says, gathered for a page: one pass over its rows and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright.errors import UsageError
from rulewright.reporting.contrasts import cluster_of, contrasts
from rulewright.reporting.run_reader import engine_of, headline_of, plan_of, rows, score_of, summary_of
from rulewright.reporting.tallies import RunTally
from rulewright_runtime.aggregate.inference import clustered_mean
from rulewright_runtime.cases.confidence_intervals import wilson
from rulewright_runtime.report.text import NO_SCENARIO

if TYPE_CHECKING:
    from rulewright_runtime.plan.scan import Plan

VERSION: Final = 3
MOST_WAITING: Final = 1000  # verdicts; the others are counted
MOST_FAILURES: Final = 50  # of one check; the others are counted


def gather(folder: Path) -> dict[str, Any]:
    """The report of the run in `folder` as JSON data.

    `summary` is the run's own; `models` are in order of name; `checks` hold a tally per model; `scenarios` hold the
    mean score, transcripts and failed transcripts per model, `categories` the same; `contrasts` see
    `contrasts.contrasts`; `failures` hold the quotes behind each failing check, gravest first; `transcripts` are the
    rows, numbered from 1 in the order of the run's files; `waiting` is what a person has to decide; `intervals` are
    those of 95 %. Raises UsageError or PlanError when `folder` holds no finished run.
    """
    plan = plan_of(folder)
    summary = summary_of(folder)
    gathered, headline = _Gathered(), headline_of(plan)
    for row in rows(folder / "scores.jsonl"):
        score, cluster = score_of(row, folder, headline), cluster_of(plan, _word(row, "scenario_id"), _id(row))
        gathered.add_row(row, engine_of(row, folder), score, cluster, summary.get("label"))
    for verdict in rows(folder / "verdicts.jsonl"):
        gathered.add_verdict(verdict)
    models = sorted(gathered.models)
    return {
        "version": VERSION,
        "run": str(folder),
        "plan_hash": plan.hash,
        "summary": summary,
        "intervals": gathered.intervals(),
        "models": models,
        "checks": list(_checks(plan, models, gathered.tallies)),
        "scenarios": list(_scenarios(plan, models, gathered.cells)),
        "categories": _categories(plan, gathered.cells),
        "contrasts": contrasts(plan.scenarios, models, gathered.tallies),
        "failures": _failures(plan, gathered.failures),
        "waiting": {"count": gathered.waits, "shown": gathered.waiting},
        "transcripts": list(gathered.transcripts.values()),
    }


@dataclass(slots=True)
class _LeaderboardCell:
    """One model in one scenario."""

    scores: list[float] = field(default_factory=list)
    transcripts: int = 0
    failed: int = 0

    def result(self) -> dict[str, Any]:
        mean = sum(self.scores) / len(self.scores) if self.scores else None
        return {
            "mean": mean,
            "counted": len(self.scores),
            "transcripts": self.transcripts,
            "failed": self.failed,
        }


@dataclass(slots=True)
class _Failing:
    """The failures of one check: the first ones with their quotes, all of them counted."""

    count: int = 0
    shown: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _Gathered:
    models: set[str] = field(default_factory=set)
    transcripts: dict[str, dict[str, Any]] = field(default_factory=dict)
    cells: dict[tuple[str, str], _LeaderboardCell] = field(default_factory=dict)
    tallies: dict[tuple[str, str], dict[str, RunTally]] = field(default_factory=dict)
    failures: dict[str, _Failing] = field(default_factory=dict)
    waits: int = 0
    waiting: list[dict[str, Any]] = field(default_factory=list)  # the first ones
    samples: dict[tuple[str, str], list[tuple[str, float]]] = field(default_factory=dict)  # figure -> scores by cluster

    def add_row(
        self, row: dict[str, Any], engine: dict[str, Any], score: float | None, cluster: str, label: str | None
    ) -> None:
        name, key = _id(row), _place(row)
        failed = engine["outcome"] == "failed"
        self.models.add(key[0])
        self.tallies.setdefault(key, {})
        cell = self.cells.setdefault(key, _LeaderboardCell())
        cell.transcripts += 1
        cell.failed += failed
        if score is not None:
            cell.scores.append(score)
            self._sample("score", "", cluster, score)
            self._sample("models", key[0], cluster, score)
        dimensions = row.get("dimension_scores")
        for dimension, value in dimensions.items() if isinstance(dimensions, dict) else ():
            if type(value) in (int, float):
                self._sample("dimensions", dimension, cluster, value)
        bounds = engine["bounds"]
        self.transcripts[name] = {
            "number": len(self.transcripts) + 1,
            "transcript_id": name,
            "scenario_id": row.get("scenario_id") or "",
            "model": key[0],
            "outcome": engine["outcome"],
            "label": None if label is None or row.get(label) is None else str(row[label]),
            "score": score,
            "bounds": bounds and bounds["overall_score"],
            "coverage": engine["coverage"],
            "because": engine["because"],
            "unproven": engine["unproven"],
            "incomplete": bool(row.get("missing")),
            "waiting": 0,
        }

    def _sample(self, kind: str, name: str, cluster: str, value: float) -> None:
        self.samples.setdefault((kind, name), []).append((cluster, value))

    def intervals(self) -> dict[str, Any]:
        """`{score, models, dimensions, failed}`, each `{low, high}`: robust to clusters, Wilson's of what failed."""
        found: dict[str, Any] = {"score": None, "models": {}, "dimensions": {}}
        for (kind, name), sample in self.samples.items():
            mean = clustered_mean(sample)
            ends = None if mean.low is None or mean.high is None else _within(mean.low, mean.high)
            if kind == "score":
                found["score"] = ends
            else:
                found[kind][name] = ends
        failed = sum(row["outcome"] == "failed" for row in self.transcripts.values())
        return {**found, "failed": wilson(failed, len(self.transcripts)) if self.transcripts else None}

    def add_verdict(self, verdict: dict[str, Any]) -> None:
        transcript, check = _id(verdict), str(verdict.get("check_id"))
        row = self.transcripts.get(transcript)
        if row is None:
            raise UsageError(f"`verdicts.jsonl` judges `{transcript}`, of which `scores.jsonl` knows nothing")
        if not verdict.get("eligible"):
            return
        self.tallies[_place(row)].setdefault(check, RunTally()).add(str(verdict.get("verdict")))
        about = {"transcript_id": transcript, "number": row["number"], "model": row["model"]}
        if verdict.get("adjudication_required") or verdict.get("verdict") == "UNCLEAR":
            row["waiting"] += 1
            kept = {name: verdict.get(name) for name in ("check_id", "verdict", "rationale_code", "cause")}
            self.waits += 1
            if len(self.waiting) < MOST_WAITING:
                self.waiting.append({**about, **kept})
        if verdict.get("verdict") == "FAIL":
            failing = self.failures.setdefault(check, _Failing())
            failing.count += 1
            if len(failing.shown) < MOST_FAILURES:
                kept = {name: verdict.get(name) for name in ("rationale_code", "evidence", "cause")}
                failing.shown.append({**about, **kept})


def _id(row: dict[str, Any]) -> str:
    return str(row.get("transcript_id"))


def _word(row: dict[str, Any], key: str) -> str:
    return str(row.get(key) or "")


def _place(row: dict[str, Any]) -> tuple[str, str]:
    """The model and the scenario."""
    return str(row.get("model")), _word(row, "scenario_id")


def _within(low: float, high: float) -> dict[str, float]:
    return {"low": max(0.0, low), "high": min(1.0, high)}


def _checks(
    plan: Plan, models: Iterable[str], tallies: dict[tuple[str, str], dict[str, RunTally]]
) -> Iterable[dict[str, Any]]:
    by_model: dict[tuple[str, str], RunTally] = {}
    for (model, _), found in tallies.items():
        for check_id, tally in found.items():
            total = by_model.setdefault((model, check_id), RunTally())
            for verdict, count in tally.counts.items():
                total.counts[verdict] = total.counts.get(verdict, 0) + count
    for check in plan.checks:
        cells = {model: by_model[model, check.id].result() for model in models if (model, check.id) in by_model}
        yield {
            "check_id": check.id,
            "name": check.name,
            "bucket": check.primary_bucket,
            "severity": check.severity,
            "is_gate": check.is_gate,
            "models": cells,
        }


def _scenarios(
    plan: Plan, models: Iterable[str], cells: dict[tuple[str, str], _LeaderboardCell]
) -> Iterable[dict[str, Any]]:
    for name in sorted({scenario for _, scenario in cells}):
        known = plan.scenarios.get(name)
        found = {model: cells[model, name].result() for model in models if (model, name) in cells}
        yield {"scenario_id": name, "title": known.title if known else "" if name else NO_SCENARIO, "models": found}


def _categories(plan: Plan, cells: dict[tuple[str, str], _LeaderboardCell]) -> dict[str, dict[str, Any]]:
    """What each model came to in the scenarios of each category."""
    totals: dict[str, dict[str, _LeaderboardCell]] = {}
    for (model, name), cell in cells.items():
        if name in plan.scenarios:
            total = totals.setdefault(plan.scenarios[name].category, {}).setdefault(model, _LeaderboardCell())
            total.scores += cell.scores
            total.transcripts += cell.transcripts
            total.failed += cell.failed
    found = sorted(totals.items())
    return {name: {model: cell.result() for model, cell in sorted(models.items())} for name, models in found}


def _failures(plan: Plan, failures: dict[str, _Failing]) -> list[dict[str, Any]]:
    known = {check.id: check for check in plan.checks}
    found = []
    for check_id, failing in failures.items():
        check = known.get(check_id)
        about = {"name": check.name if check else "", "severity": check.severity if check else plan.severities[0]}
        found.append({"check_id": check_id, **about, "count": failing.count, "shown": failing.shown})
    return sorted(
        found, key=lambda entry: (-plan.severities.index(entry["severity"]), -entry["count"], entry["check_id"])
    )
