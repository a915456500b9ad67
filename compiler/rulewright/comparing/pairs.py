"""Pairs the transcripts of two runs, and compares their judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import StoredRun

_PROPERTIES: Final = ("provider", "requested_model", "name", "parameters", "served_models", "wrapper")


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of transcript ids `(before, after)` of two runs, and the ids that only one run has."""

    both: tuple[tuple[str, str], ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def pairs(before: StoredRun, after: StoredRun, by: str) -> Pairs:
    """Return the pairs with the same id (`transcript`) or the same scenario (`scenario`). Raises UsageError if a run
    has several transcripts of a scenario, or if the runs have nothing in common."""
    left, right = _keyed(before, by), _keyed(after, by)
    both = tuple((left[key], right[key]) for key in left if key in right)
    if not both:
        other = "; `--pair scenario` compares those of the same scenario" if by == "transcript" else ""
        raise UsageError(f"`{before.folder}` and `{after.folder}` have no {by} in common{other}")
    only_before = tuple(name for key, name in left.items() if key not in right)
    return Pairs(both, only_before, tuple(name for key, name in right.items() if key not in left))


def other_judge(one: StoredRun, other: StoredRun) -> list[str]:
    """Return the properties in which the judges of two runs differ; the file name of recorded replies doesn't count."""
    judges = [run.summary.get("judge") or {} for run in (one, other)]
    compared = [property_ for property_ in _PROPERTIES if not (property_ == "name" and _are_replayed(judges))]
    return [property_ for property_ in compared if judges[0].get(property_) != judges[1].get(property_)]


def other_replies(one: StoredRun, other: StoredRun) -> bool:
    """Whether both runs replayed replies, and different ones. The judge behind recorded replies is not recorded."""
    judges = [run.summary.get("judge") or {} for run in (one, other)]
    return _are_replayed(judges) and judges[0].get("digest") != judges[1].get("digest")


def _are_replayed(judges: Iterable[Mapping[str, Any]]) -> bool:
    return all(judge.get("provider") == "replay" for judge in judges)


def _keyed(run: StoredRun, by: str) -> dict[str, str]:
    if by == "transcript":
        return {name: name for name in run.rows}
    keyed: dict[str, str] = {}
    for name, row in run.rows.items():
        scenario = str(row.get("scenario_id"))
        if scenario in keyed:
            raise UsageError(
                f"`{run.folder}` holds several transcripts of `{scenario}` (`{keyed[scenario]}`, `{name}`); "
                "scan each model into a run of its own"
            )
        keyed[scenario] = name
    return keyed
