"""Comparing a run with an earlier one: flips of labels, changes of means, and paired tests of whether it is worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from rulewright_runtime.cases.plan import CaseScorecardPlan
from rulewright_runtime.errors import InputError

ALPHA: Final = 0.05
_FLIPS: Final = 1000


class _Result(msgspec.Struct):
    test_id: str
    label: str
    scores: dict[str, float]
    batch_id: str | None = None


class _Configuration(msgspec.Struct, frozen=True):
    hash: str | None = None


class _Report(msgspec.Struct):
    results: list[_Result]
    generated_at: str | None = None
    batch_id: str | None = None
    mean_scores: dict[str, float] = {}
    configuration: _Configuration = _Configuration()


def read_baseline(path: str) -> _Report:
    """An earlier JSON report; InputError when it is none."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=_Report)
    except OSError as error:
        raise InputError(error.strerror or "can't be read", path) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("is no JSON report of this command", path) from None


def compare(
    plan: CaseScorecardPlan,
    baseline: _Report,
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
    before = {(result.batch_id, result.test_id): result for result in baseline.results}
    names = [*(metric.name for metric in plan.metrics), "composite"]
    rises, falls = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    flips: list[dict[str, Any]] = []
    worse = better = paired = added = lost = gained = 0
    for result in results:
        old = before.pop((result["batch_id"], result["test_id"]), None)
        old = old or before.pop((None, result["test_id"]), None)
        if old is None:
            added += 1
            continue
        paired += 1
        for name in names:
            change = result["scores"][name] - old.scores.get(name, result["scores"][name])
            rises[name] += change > 1e-12
            falls[name] += change < -1e-12
        if old.label != result["label"]:
            down = gravity.get(result["label"], 0) < gravity.get(old.label, 0)
            worse, better = worse + down, better + (not down)
            lost += old.label == plan.accepted
            gained += result["label"] == plan.accepted
            if len(flips) < _FLIPS:
                flips.append({"test_id": result["test_id"], "before": old.label, "after": result["label"]})
    tests = {name: _paired(falls[name], rises[name]) for name in names}
    tests["pass"] = _paired(lost, gained)
    return {
        "baseline": {"generated_at": baseline.generated_at, "batch_id": baseline.batch_id},
        "same_settings": settings_hash is not None and settings_hash == baseline.configuration.hash,
        "paired": paired,
        "added": added,
        "missing": len(before),
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
