"""Comparing a run with an earlier report: missing and added cases, label flips, and whether the run is worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from rulewright_runtime.aggregate.inference import mcnemar
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.json_report import reading_report, report_outline, results_of
from rulewright_runtime.files.scratch_database import ScratchDatabase
from rulewright_runtime.strict_json import JsonObject, decode

ALPHA: Final = 0.05
_EXACT_UP_TO: Final = 2000  # changed pairs
ERROR: Final = "Error"  # the label of a case that could not be scored
_MAX_LISTED: Final = 1000  # flips, missing and added cases in a report
_HEAD: Final = ("generated_at", "batch_id", "configuration")
_COLUMNS: Final = "(at INTEGER PRIMARY KEY, batch, test_id, id, label, scores)"
_NUMBERED: Final = "SELECT *, row_number() OVER (PARTITION BY batch, test_id, id ORDER BY at) AS nth FROM"
_PAIR: Final = (
    # cases with the same batch, test id and id; duplicates are paired in order
    f"""CREATE TABLE pairs AS SELECT new.at AS new, old.at AS old
        FROM ({_NUMBERED} new) AS new JOIN ({_NUMBERED} old) AS old USING (batch, test_id, id, nth)""",
    # cases of renamed batches: those whose test id is unique on both sides
    """INSERT INTO pairs SELECT new.at, old.at FROM new JOIN old USING (test_id)
       WHERE new.at NOT IN (SELECT new FROM pairs) AND old.at NOT IN (SELECT old FROM pairs)
       AND test_id IN (SELECT test_id FROM new GROUP BY test_id HAVING count(*) = 1)
       AND test_id IN (SELECT test_id FROM old GROUP BY test_id HAVING count(*) = 1)""",
)
_PAIRS: Final = """SELECT new.test_id, old.label, new.label, old.scores, new.scores
    FROM pairs JOIN new ON new.at = pairs.new JOIN old ON old.at = pairs.old ORDER BY new.at"""


class _Configuration(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Head(msgspec.Struct):
    generated_at: str | None = None
    batch_id: str | None = None
    configuration: _Configuration = _Configuration()


class Baseline:
    """An earlier report. Its results are kept in a temporary database, so that memory does not grow with them."""

    def __init__(self, path: str) -> None:
        """Read the JSON report at `path`. Raises InputError for any other file."""
        outline = report_outline(path, *_HEAD)
        with reading_report(path):
            head = msgspec.convert({key: decode(value) for key, value in outline.values.items()}, _Head)
        self.database = ScratchDatabase(*(f"CREATE TABLE {name} {_COLUMNS}" for name in ("old", "new")))
        rows = ((r.batch_id, r.test_id, r.id, r.label, msgspec.json.encode(r.scores)) for r in results_of(path))
        self.database.executemany(_insert("old"), rows)
        self.generated_at = head.generated_at
        self.batch_id = head.batch_id
        self.settings_hash = head.configuration.hash

    def unpaired(self, table: str, column: str, labels: Iterable[str] = ()) -> tuple[int, list[JsonObject]]:
        """Return the number of unpaired cases of one side and the first of them, without those with one of `labels`."""
        excluded = tuple(labels)
        where = f"at NOT IN (SELECT {column} FROM pairs) AND label NOT IN ({', '.join('?' * len(excluded))})"
        (count,) = self.database.execute(f"SELECT count(*) FROM {table} WHERE {where}", excluded).fetchone()
        rows = self.database.execute(
            f"SELECT test_id, batch, label FROM {table} WHERE {where} ORDER BY at LIMIT {_MAX_LISTED}", excluded
        )
        return count, [{"test_id": test_id, "batch_id": batch, "label": label} for test_id, batch, label in rows]


def _insert(table: str) -> str:
    return f"INSERT INTO {table} (batch, test_id, id, label, scores) VALUES (?, ?, ?, ?, ?)"


def compare(
    plan: CaseScorecardPlan,
    baseline: Baseline,
    results: Iterable[Mapping[str, object]],
    errors: Iterable[Mapping[str, object]] = (),
    settings_hash: str | None = None,
) -> JsonObject:
    """Compare `results` and errored cases (`errors`) with the baseline. Returns a section of the report.

    Cases are paired by batch and test id, or by test id alone when it is unique. `regression` is true when no case is
    paired, a case that did not pass is missing, more labels got worse than better, or a metric is worse by a sign test
    at 5%. `same_settings` says whether both runs were scored with equal settings.
    """
    database = baseline.database
    scored_rows = (
        (r["batch_id"], r["test_id"], r.get("id", ""), r["label"], msgspec.json.encode(r["scores"])) for r in results
    )
    database.executemany(_insert("new"), scored_rows)
    error_rows = ((e["batch_id"], e["test_id"], "", ERROR, b"{}") for e in errors if e["test_id"] is not None)
    database.executemany(_insert("new"), error_rows)
    for statement in _PAIR:
        database.execute(statement)
    changes = _Changes(plan)
    for test_id, before, after, old, new in database.execute(_PAIRS):
        changes.add(test_id, before, after, msgspec.json.decode(old), msgspec.json.decode(new))
    added, added_cases = baseline.unpaired("new", "new")
    missing, missing_cases = baseline.unpaired("old", "old")
    lost, _ = baseline.unpaired("old", "old", [plan.accepted])
    tests = changes.tests()
    is_worse = changes.worse > changes.better or any(test["worse"] for test in tests.values())
    return {
        "baseline": {"generated_at": baseline.generated_at, "batch_id": baseline.batch_id},
        "same_settings": settings_hash is not None and settings_hash == baseline.settings_hash,
        "paired": changes.paired,
        "added": added,
        "missing": missing,
        "missing_not_passed": lost,
        "added_cases": added_cases,
        "missing_cases": missing_cases,
        "mean_changes": changes.mean_changes(),
        "worse": changes.worse,
        "better": changes.better,
        "flips": changes.flips,
        "tests": tests,
        "regression": not changes.paired or lost > 0 or is_worse,
    }


class _Changes:
    """The changes between the two sides of each pair."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
        self._gravity = {label: at for at, (label, _) in enumerate(plan.exits)}  # 0 is the worst
        self._accepted = plan.accepted
        names = [*(metric.name for metric in plan.metrics), "composite"]
        self._steps: dict[str, list[float]] = {name: [0, 0, 0.0, 0] for name in names}  # falls, rises, sum, number
        self._lost = self._gained = 0
        self.paired = self.worse = self.better = 0
        self.flips: list[JsonObject] = []

    def add(self, test_id: str, before: str, after: str, old: Mapping[str, float], new: Mapping[str, float]) -> None:
        """Add a pair: its labels, and its scores by metric."""
        self.paired += 1
        for name in self._steps.keys() & old.keys() & new.keys():
            change, steps = new[name] - old[name], self._steps[name]
            steps[0] += change < -1e-12
            steps[1] += change > 1e-12
            steps[2] += change
            steps[3] += 1
        if before != after:
            is_worse = self._gravity.get(after, -1) < self._gravity.get(before, -1)
            self.worse, self.better = self.worse + is_worse, self.better + (not is_worse)
            self._lost += before == self._accepted
            self._gained += after == self._accepted
            if len(self.flips) < _MAX_LISTED:
                self.flips.append({"test_id": test_id, "before": before, "after": after})

    def mean_changes(self) -> dict[str, float]:
        """Return the change of the mean over the pairs, by metric."""
        return {name: total / number for name, (_, _, total, number) in self._steps.items() if number}

    def tests(self) -> dict[str, JsonObject]:
        """Return the paired test of each metric, and under `pass` that of the accepted label."""
        tests = {name: _sign_test(int(falls), int(rises)) for name, (falls, rises, _, _) in self._steps.items()}
        return {**tests, "pass": _sign_test(self._lost, self._gained)}


def _sign_test(falls: int, rises: int) -> JsonObject:
    """Return the two-sided sign test (for pass and fail: McNemar's) of the numbers of pairs that fell and rose; beyond
    2,000 pairs its normal approximation."""
    number = falls + rises
    if number <= _EXACT_UP_TO:
        p_value = mcnemar(falls, rises)
    else:
        z = (abs(falls - rises) - 1) / math.sqrt(number)
        p_value = min(1.0, math.erfc(z / math.sqrt(2)))
    return {"falls": falls, "rises": rises, "p_value": p_value, "worse": falls > rises and p_value < ALPHA}
