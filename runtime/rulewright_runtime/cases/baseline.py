"""Comparing a run with an earlier one: flips of labels, changes of means, and paired tests of whether it is worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.cases.records import UNREADABLE, elements_of, outline_of
from rulewright_runtime.cases.scratch import scratch_database
from rulewright_runtime.errors import InputError

ALPHA: Final = 0.05
_FLIPS: Final = 1000
_HEAD: Final = ("generated_at", "batch_id", "mean_scores", "configuration")
_TABLE: Final = "CREATE TABLE results (batch, test_id, label, scores, PRIMARY KEY (batch, test_id)) WITHOUT ROWID"
_ADD: Final = "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)"
_FIND: Final = "SELECT label, scores FROM results WHERE batch = ? AND test_id = ?"
_DROP: Final = "DELETE FROM results WHERE batch = ? AND test_id = ?"


class _Result(msgspec.Struct):
    test_id: str
    label: str
    scores: dict[str, float]
    batch_id: str | None = None


class _Configuration(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Head(msgspec.Struct):
    generated_at: str | None = None
    batch_id: str | None = None
    mean_scores: dict[str, float] = {}
    configuration: _Configuration = _Configuration()


class Baseline:
    """An earlier report. Its results wait in a temporary database, so that the memory does not grow with them."""

    def __init__(self, path: str) -> None:
        """Read the JSON report at `path`; InputError when it is none."""
        self._database = scratch_database(_TABLE)
        try:
            outline = outline_of(path, ("results",), _HEAD)
            if outline is None or "results" not in outline.lists:
                raise InputError("is no JSON report of this command", path)
            values = {key: msgspec.json.decode(value) for key, value in outline.values.items()}
            head = msgspec.convert(values, _Head)
            self._database.executemany(_ADD, _rows(path, outline.lists["results"]))
        except OSError as error:
            raise InputError(error.strerror or "can't be read", path) from None
        except UNREADABLE:
            raise InputError("is no JSON report of this command", path) from None
        self.generated_at = head.generated_at
        self.batch_id = head.batch_id
        self.mean_scores = head.mean_scores
        self.settings_hash = head.configuration.hash

    def __del__(self) -> None:
        """Give the database back."""
        self._database.close()

    def take(self, batch_id: str, test_id: str) -> tuple[str, dict[str, float]] | None:
        """The label and the scores of a case, which is gone then; a report without batches holds it for any."""
        for batch in (batch_id, ""):
            found = self._database.execute(_FIND, (batch, test_id)).fetchone()
            if found is not None:
                self._database.execute(_DROP, (batch, test_id))
                label, scores = found
                return label, msgspec.json.decode(scores)
        return None

    @property
    def left(self) -> int:
        """How many cases were not taken."""
        return int(self._database.execute("SELECT count(*) FROM results").fetchone()[0])


def _rows(path: str, start: int) -> Iterator[tuple[str, str, str, bytes]]:
    decoder = msgspec.json.Decoder(_Result)
    for record in elements_of(path, start, "$.results"):
        if isinstance(record, InputError):
            raise record
        result = decoder.decode(record.data)
        yield result.batch_id or "", result.test_id, result.label, msgspec.json.encode(result.scores)


def compare(
    plan: CaseScorecardPlan,
    baseline: Baseline,
    results: Iterable[Mapping[str, Any]],
    means: Mapping[str, float],
    settings_hash: str | None = None,
) -> dict[str, Any]:
    """The comparison as a section of the report.

    Cases are paired by batch and test id. `regression` is true when more labels got worse than better, or when a
    metric is worse by a sign test at 5 %. `missing` counts cases of the baseline that are gone, `same_settings` says
    whether both runs were scored alike.
    """
    gravity = {label: at for at, (label, _) in enumerate(plan.exits)}  # 0 is the gravest
    names = [*(metric.name for metric in plan.metrics), "composite"]
    rises, falls = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    flips: list[dict[str, Any]] = []
    worse = better = paired = added = lost = gained = 0
    for result in results:
        old = baseline.take(result["batch_id"], result["test_id"])
        if old is None:
            added += 1
            continue
        old_label, old_scores = old
        paired += 1
        for name in names:
            change = result["scores"][name] - old_scores.get(name, result["scores"][name])
            rises[name] += change > 1e-12
            falls[name] += change < -1e-12
        if old_label != result["label"]:
            down = gravity.get(result["label"], 0) < gravity.get(old_label, 0)
            worse, better = worse + down, better + (not down)
            lost += old_label == plan.accepted
            gained += result["label"] == plan.accepted
            if len(flips) < _FLIPS:
                flips.append({"test_id": result["test_id"], "before": old_label, "after": result["label"]})
    tests = {name: _paired(falls[name], rises[name]) for name in names}
    tests["pass"] = _paired(lost, gained)
    return {
        "baseline": {"generated_at": baseline.generated_at, "batch_id": baseline.batch_id},
        "same_settings": settings_hash is not None and settings_hash == baseline.settings_hash,
        "paired": paired,
        "added": added,
        "missing": baseline.left,
        "mean_changes": {
            name: means[name] - baseline.mean_scores[name] for name in names if name in baseline.mean_scores
        },
        "worse": worse,
        "better": better,
        "flips": flips,
        "tests": tests,
        "regression": worse > better or any(test["worse"] for test in tests.values()),
    }


def _paired(falls: int, rises: int) -> dict[str, Any]:
    """The exact two-sided sign test (for pass and fail: McNemar's) of how many pairs fell and rose."""
    number = falls + rises
    tail = sum(math.comb(number, k) for k in range(min(falls, rises) + 1)) if number <= 2000 else None
    if number == 0:
        p_value = 1.0
    elif tail is not None:
        p_value = min(1.0, 2 * tail / 2**number)
    else:
        z = (abs(falls - rises) - 1) / math.sqrt(number)
        p_value = min(1.0, math.erfc(z / math.sqrt(2)))
    return {"falls": falls, "rises": rises, "p_value": p_value, "worse": falls > rises and p_value < ALPHA}
