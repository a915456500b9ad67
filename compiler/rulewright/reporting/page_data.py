"""The data of a finished run for a page, gathered in one pass over its rows and verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rulewright.reporting.contrasts import Tally, as_json, cluster_of, contrasts
from rulewright.reporting.formats import conditions, question_of
from rulewright.reporting.leaderboard import UNRECORDED, leaderboard_of, unpaired_line
from rulewright.reporting.run_reader import headline_of, score_of
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.inference import UNIT, clustered_mean, wilson
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.summary import failed_interval
from rulewright_runtime.report.text import NO_SCENARIO
from rulewright_runtime.strict_json import JsonMapping, JsonObject

VERSION: Final = 3
MOST_WAITING: Final = 1000  # verdicts; the others are counted
MOST_RANKED: Final = 25  # models; every pair of them is tested
MOST_FAILURES: Final = 50  # of one check; the others are counted


def page_data(run: FinishedRun) -> JsonObject:
    """The report of a finished run as JSON data.

    `summary` is the run's own; `models` are in order of name; `checks` hold a tally per model; `scenarios` hold the
    mean score, transcripts and failed transcripts per model, `categories` and `dimensions` the same; `blindspots` count
    per category of scenarios what was `raised` `of` the transcripts that know a label; `ranks` are the first and the
    last place that each model may have, where there are several and no more than `MOST_RANKED`, `bounds` how far its
    score may still go, and `unpaired` why no test compares some of them; `contrasts` see `contrasts.contrasts`;
    `failures` hold what each failing check asks for and the quotes behind its failures, worst first; `transcripts` are
    the rows, numbered from 1 in the order of the run's files; `waiting` is what a person has to decide, worst first;
    `intervals` are those of 95%. Raises UsageError if the run's files are inconsistent.
    """
    plan, summary = run.plan, run.summary
    gathered = _Gathered(run, headline_of(plan))
    for judged in run.judged():
        gathered.add(judged)
    models = sorted(gathered.models)
    return {
        "version": VERSION,
        "run": str(run.folder),
        "plan_hash": plan.hash,
        "summary": summary,
        "intervals": gathered.intervals(),
        "models": models,
        "checks": list(_checks(plan, models, gathered.tallies)),
        "scenarios": list(_scenarios(plan, models, gathered.cells)),
        "categories": _categories(plan, gathered.cells),
        "dimensions": gathered.by_dimension(),
        "blindspots": _blindspots(plan, gathered.flags),
        **(_ranked(run, models) if plan.scorecard is not None else {"ranks": {}, "bounds": {}, "unpaired": ""}),
        "contrasts": contrasts(plan.scenarios, models, gathered.tallies),
        "failures": _failures(run, gathered.failures),
        "waiting": {"count": gathered.waits, "shown": gathered.first_waiting()},
        "transcripts": gathered.transcripts,
    }


@dataclass(slots=True)
class _LeaderboardCell:
    """One model in one scenario."""

    scores: list[float] = field(default_factory=list)
    transcripts: int = 0
    failed: int = 0

    def result(self) -> JsonObject:
        mean = sum(self.scores) / len(self.scores) if self.scores else None
        return {"mean": mean, "counted": len(self.scores), "transcripts": self.transcripts, "failed": self.failed}


@dataclass(slots=True)
class _Failing:
    """The failures of one check: the first ones with their quotes, all of them counted."""

    count: int = 0
    shown: list[JsonObject] = field(default_factory=list)


@dataclass(slots=True)
class _Gathered:
    run: FinishedRun
    headline: str
    models: set[str] = field(default_factory=set)
    transcripts: list[JsonObject] = field(default_factory=list)
    cells: dict[tuple[str, str], _LeaderboardCell] = field(default_factory=dict)
    tallies: dict[tuple[str, str], dict[str, Tally]] = field(default_factory=dict)
    failures: dict[str, _Failing] = field(default_factory=dict)
    dimensions: dict[str, dict[str, _LeaderboardCell]] = field(default_factory=dict)  # by model
    flags: dict[str, dict[str, list[bool]]] = field(default_factory=dict)  # of each label, by scenario
    waits: int = 0
    waiting: list[JsonObject] = field(default_factory=list)  # the worst among them
    samples: dict[tuple[str, str], list[tuple[str, float]]] = field(default_factory=dict)  # figure -> scores by cluster

    def add(self, judged: JudgedTranscript) -> None:
        row = judged.row
        key = str(row.get("model")), str(row.get("scenario_id") or "")
        score, cluster = score_of(row, self.run.folder, self.headline), cluster_of(self.run.plan, key[1], judged.id)
        self.models.add(key[0])
        cell = self.cells.setdefault(key, _LeaderboardCell())
        cell.transcripts += 1
        cell.failed += judged.engine["outcome"] == "failed"
        if score is not None:
            cell.scores.append(score)
            self._sample("score", "", cluster, score)
            self._sample("models", key[0], cluster, score)
        dimensions = row.get("dimension_scores")
        for dimension, value in dimensions.items() if isinstance(dimensions, dict) else ():
            of_model = self.dimensions.setdefault(dimension, {}).setdefault(key[0], _LeaderboardCell())
            of_model.transcripts += 1
            if type(value) in (int, float):
                self._sample("dimensions", dimension, cluster, value)
                of_model.scores.append(value)
        profile = row.get("blindspot_profile")
        for name_of, flag in profile.items() if isinstance(profile, dict) else ():
            if flag is not None:
                self.flags.setdefault(name_of, {}).setdefault(key[1], []).append(bool(flag))
        shown = self._shown(judged, key[0], score)
        self.transcripts.append(shown)
        tallies = self.tallies.setdefault(key, defaultdict(Tally))
        for verdict in judged.verdicts:
            if verdict.get("eligible"):
                word = str(verdict.get("verdict"))
                tallies[str(verdict.get("check_id"))][word] += 1
                self._add_verdict(shown, word, verdict)

    def _shown(self, judged: JudgedTranscript, model: str, score: float | None) -> JsonObject:
        """A transcript as the page lists it."""
        row, engine, label = judged.row, judged.engine, self.run.summary.get("label")
        bounds = engine["bounds"]
        return {
            "number": len(self.transcripts) + 1,
            "transcript_id": judged.id,
            "scenario_id": row.get("scenario_id") or "",
            "model": model,
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

    def by_dimension(self) -> dict[str, dict[str, JsonObject]]:
        """Return the result of each model in each dimension."""
        return {
            name: {model: cell.result() for model, cell in sorted(cells.items())}
            for name, cells in self.dimensions.items()
        }

    def first_waiting(self) -> list[JsonObject]:
        """Return the pending decisions by severity, a FAIL before an UNCLEAR."""
        return sorted(
            self.waiting, key=lambda each: (-self.run.plan.gravity(each["severity"]), each["verdict"] != "FAIL")
        )[:MOST_WAITING]

    def intervals(self) -> JsonObject:
        """Return `{score, models, dimensions, failed}`, each `{low, high}`: cluster-robust, and Wilson's for the
        failure rate."""
        found: JsonObject = {"score": None, "models": {}, "dimensions": {}}
        for (kind, name), sample in self.samples.items():
            mean = clustered_mean(sample, span=UNIT)
            ends = None if mean.low is None else {"low": mean.low, "high": mean.high}
            if kind == "score":
                found["score"] = ends
            else:
                found[kind][name] = ends
        return {**found, "failed": failed_interval(self.run.summary) if self.transcripts else None}

    def _add_verdict(self, row: JsonObject, word: str, verdict: JsonMapping) -> None:
        waits = verdict.get("adjudication_required") or word == "UNCLEAR"
        if not waits and word != "FAIL":
            return
        about = {name: row[name] for name in ("transcript_id", "number", "model")}
        if waits:
            row["waiting"] += 1
            kept = {name: verdict.get(name) for name in ("check_id", "verdict", "rationale_code", "cause")}
            self.waits += 1
            self.waiting.append({**about, **kept, "severity": verdict.get("severity") or ""})
            if len(self.waiting) > 2 * MOST_WAITING:
                self.waiting = self.first_waiting()
        if word == "FAIL":
            failing = self.failures.setdefault(str(verdict.get("check_id")), _Failing())
            failing.count += 1
            if len(failing.shown) < MOST_FAILURES:
                kept = {name: verdict.get(name) for name in ("rationale_code", "evidence", "cause")}
                failing.shown.append({**about, **kept, "compared": (verdict.get("extra") or {}).get("compared", "")})


def _checks(
    plan: Plan, models: Iterable[str], tallies: dict[tuple[str, str], dict[str, Tally]]
) -> Iterable[dict[str, object]]:
    by_model: dict[tuple[str, str], Tally] = {}
    for (model, _), found in tallies.items():
        for check_id, tally in found.items():
            by_model.setdefault((model, check_id), Tally()).update(tally)
    for check in plan.checks:
        found = {model: by_model[model, check.id] for model in models if (model, check.id) in by_model}
        total = sum(found.values(), Tally())
        failed, of, unclear = total["FAIL"], total["PASS"] + total["FAIL"], total["UNCLEAR"]
        yield {
            "check_id": check.id,
            "name": check.name,
            "bucket": check.primary_bucket,
            "severity": check.severity,
            "is_gate": check.is_gate,
            "failed": {"count": failed, "of": of, **wilson(failed, of + unclear, most=failed + unclear)},
            "models": {model: as_json(tally) for model, tally in found.items()},
        }


def _scenarios(
    plan: Plan, models: Iterable[str], cells: dict[tuple[str, str], _LeaderboardCell]
) -> Iterable[dict[str, object]]:
    for name in sorted({scenario for _, scenario in cells}):
        known = plan.scenarios.get(name)
        found = {model: cells[model, name].result() for model in models if (model, name) in cells}
        yield {"scenario_id": name, "title": known.title if known else "" if name else NO_SCENARIO, "models": found}


def _categories(plan: Plan, cells: dict[tuple[str, str], _LeaderboardCell]) -> dict[str, dict[str, object]]:
    """Return the result of each model in the scenarios of each category."""
    totals: dict[str, dict[str, _LeaderboardCell]] = {}
    for (model, name), cell in cells.items():
        if name in plan.scenarios:
            total = totals.setdefault(plan.scenarios[name].category, {}).setdefault(model, _LeaderboardCell())
            total.scores += cell.scores
            total.transcripts += cell.transcripts
            total.failed += cell.failed
    found = sorted(totals.items())
    return {name: {model: cell.result() for model, cell in sorted(models.items())} for name, models in found}


def _blindspots(plan: Plan, flags: Mapping[str, Mapping[str, list[bool]]]) -> dict[str, dict[str, dict[str, int]]]:
    """How often each label was raised in the scenarios of each category."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for label, by_scenario in flags.items():
        for scenario, known in by_scenario.items():
            if scenario in plan.scenarios:
                cell = found.setdefault(label, {}).setdefault(plan.scenarios[scenario].category, {"raised": 0, "of": 0})
                cell["raised"] += sum(known)
                cell["of"] += len(known)
    return found


def _ranked(run: FinishedRun, models: list[str]) -> JsonObject:
    """The `ranks` and the `bounds` of each model."""
    summary = run.summary
    found: JsonObject = {"ranks": {}, "bounds": {}, "unpaired": ""}
    if 2 <= len(models) <= MOST_RANKED and summary.get("headline", HEADLINE) is not None:
        played = {name for model in summary["models"].values() for name in model.get("harness") or {}}
        board = leaderboard_of([run], [*played, UNRECORDED])
        found["unpaired"] = unpaired_line(board["unpaired"])
        for model in board["models"]:
            found["ranks"][model["model"]] = model["ranks"]
            found["bounds"][model["model"]] = model["bounds"]
    return found


def _failures(run: FinishedRun, failures: dict[str, _Failing]) -> list[JsonObject]:
    plan, found = run.plan, []
    for check_id, failing in failures.items():
        check = run.checks.get(check_id)
        about = {"name": check.name if check else "", "severity": check.severity if check else plan.severities[0]}
        about |= {"description": check.description if check else "", "question": question_of(check) if check else ""}
        shown = {"conditions": dict(conditions(check)), "count": failing.count, "shown": failing.shown}
        found.append({"check_id": check_id, **about, **shown})
    return sorted(found, key=lambda entry: (-plan.gravity(entry["severity"]), -entry["count"], entry["check_id"]))
