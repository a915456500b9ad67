"""Bounds: the possible values of a row over every answer to its unknown verdicts.

A verdict is unknown if its check applies and is UNCLEAR, errored, failed without proof, or was not run. Each may turn
out PASS, FAIL or NOT_APPLICABLE, as if a person had answered. With up to `MAX_EXACT` unknowns the scorecard is
evaluated for every completion, so the bounds are exact. With more, each gate and dimension is still exact by itself,
and the headline has the outer bound 0 to 1, marked as such. It also has that bound if a rate gives part credit, because
the amount a person would give is unknown, or if an answer alone can't decide it, as the level of a criterion does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from operator import itemgetter
from types import SimpleNamespace
from typing import Final

from rulewright_runtime.aggregate.outcome import ENGINE, OUTCOMES
from rulewright_runtime.plan.part import ANSWERS, VERDICTS
from rulewright_runtime.values import Value
from rulewright_runtime.verdicts import VerdictRecord

MAX_EXACT: Final = 6  # unknown verdicts of one row
UNBOUNDED: Final = {"low": 0.0, "high": 1.0, "absent": True}
_COPIED: Final = (
    "check_id", "severity", "primary_bucket", "evidence", "scorer_version", "prompt_hash", "rationale_code",
    "secondary_tags", "extra",
)  # fmt: skip
Answers = tuple[str, ...]


def is_unknown(verdict: VerdictRecord) -> bool:
    """Whether the check applies and has no settled verdict."""
    if verdict.eligible is False:
        return False
    return (
        verdict.verdict not in VERDICTS or verdict.verdict == "UNCLEAR" or getattr(verdict, "cause", None) is not None
    )


def answered(verdict: VerdictRecord, answer: str) -> Value:
    """The record with a person's answer as its verdict: confidence 1 and no adjudication required, and what else was
    recorded, as after `adjudicate`."""
    copied = {name: getattr(verdict, name) for name in _COPIED if hasattr(verdict, name)}
    return SimpleNamespace(
        **copied, eligible=True, verdict=answer, confidence=1.0, adjudication_required=False, cause=None
    )


def deciding(choices: int, results: Mapping[Answers, Hashable]) -> tuple[int, ...]:
    """The indices of the smallest set of unknowns whose answers decide the result whatever the others are; the first
    of equally small sets. `results` holds the result of every completion."""
    candidates = chain.from_iterable(combinations(range(choices), size) for size in range(choices + 1))
    return next(chosen for chosen in candidates if _decides(chosen, results))


def _decides(chosen: Sequence[int], results: Mapping[Answers, Hashable]) -> bool:
    if not chosen:
        return len(set(results.values())) < 2
    seen: dict[object, Hashable] = {}
    answers_of = itemgetter(*chosen)
    return all(seen.setdefault(answers_of(answers), result) == result for answers, result in results.items())


def completions(unknown: int) -> Iterable[Answers]:
    """Every combination of answers to that many unknowns."""
    return product(ANSWERS, repeat=unknown)


def exact_bounds(
    unknown: Sequence[str],
    row_of: Callable[[Answers], Mapping[str, Value]],
    marks: Sequence[Mapping[str, Hashable]],
    headline: str,
) -> dict[str, object]:
    """The outcomes and the headline (as `overall_score`) over every completion. `row_of` evaluates the scorecard once
    for completions with equal effects: for each unknown, `marks` maps answers to a key of their effect."""
    numbers: dict[Hashable, int] = {}
    effects = [{word: numbers.setdefault((word, mark), len(numbers)) for word, mark in each.items()} for each in marks]
    keys: dict[Answers, tuple[int, ...]] = {}
    rows: dict[tuple[int, ...], Mapping[str, Value]] = {}
    for answers in completions(len(unknown)):
        key = keys[answers] = tuple(sorted([each[word] for each, word in zip(effects, answers, strict=True)]))
        if key not in rows:
            rows[key] = row_of(answers)
    outcomes = {answers: rows[key][ENGINE]["outcome"] for answers, key in keys.items()}
    decides = deciding(len(unknown), outcomes)
    is_open = any(row.get(headline) is None and row.get("undecided") for row in rows.values())  # for lack of a level
    return {
        "exact": not is_open,
        "outcomes": sorted(set(outcomes.values())),
        "decided_by": [unknown[index] for index in decides],
        "overall_score": UNBOUNDED if is_open else interval([row.get(headline) for row in rows.values()]),
    }


def outer_bounds(unknown: Sequence[str], gates: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Sound bounds for any number of unknowns: `failed` is certain if a gate must fail; otherwise any outcome is
    possible and every unknown may matter. The score is 0 to 1 or absent."""
    states = [gate["states"] for gate in gates.values()]
    stopped = any(each == ["failed"] for each in states)
    return {
        "exact": False,
        "outcomes": ["failed"] if stopped else sorted(OUTCOMES),
        "decided_by": [] if stopped else list(unknown),
        "overall_score": UNBOUNDED,
    }


def interval(values: Sequence[Value]) -> dict[str, Value]:
    """`{low, high, absent}`: the least and the greatest number among the values, and whether a completion has none. A
    value that is not a number counts as absent."""
    numbers = [value for value in values if type(value) in (int, float)]
    low, high = (min(numbers), max(numbers)) if numbers else (None, None)
    return {"low": low, "high": high, "absent": len(numbers) < len(values)}


def rate_interval(
    gained: int | Fraction, of: int, options: Iterable[tuple[bool, bool, bool]]
) -> tuple[tuple[int | Fraction, int], ...]:
    """The pairs (gained, counted) of the lowest and the highest rate, and `(0, 0)` if nothing may count. `options` say
    for each unknown whether it may be a hit, may be a miss, and may stay uncounted."""
    low, high, lowest, highest, empty = gained, gained, of, of, not of
    for may_earn, may_miss, may_leave in options:
        lowest += may_miss or not may_leave
        low += not may_miss and not may_leave
        highest += may_earn or not may_leave
        high += may_earn
        empty = empty and may_leave
    ends = ((low, lowest), (high, highest))
    return (*ends, (0, 0)) if empty else ends
