"""Pairs: which transcript of one run is compared with which of the other, and whether one judge answered in both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rulewright.errors import UsageError

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun


_MARKS: Final = ("provider", "requested_model", "name", "parameters", "served_models", "wrapper")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Transcripts of two runs, `(before, after)` by their ids, and those that only one of them holds."""

    both: tuple[tuple[str, str], ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def pairs(before: StoredRun, after: StoredRun, by: str) -> Pairs:
    """The pairs by the transcript's id (`transcript`), or by its scenario (`scenario`) where each run holds one
    transcript of each. Raises UsageError where a run holds several, or where nothing is in both."""
    left, right = _keyed(before, by), _keyed(after, by)
    both = tuple((left[key], right[key]) for key in left if key in right)
    if not both:
        other = "; `--pair scenario` compares those of the same scenario" if by == "transcript" else ""
        raise UsageError(f"`{before.folder}` and `{after.folder}` have no {by} in common{other}")
    only_before = tuple(name for key, name in left.items() if key not in right)
    return Pairs(both, only_before, tuple(name for key, name in right.items() if key not in left))


def other_judge(one: StoredRun, other: StoredRun) -> list[str]:
    """The marks in which the judges of two runs differ; of recorded replies the name of their file is none."""
    judges = [run.summary.get("judge") or {} for run in (one, other)]
    known = [mark for mark in _MARKS if not (mark == "name" and _are_replayed(judges))]
    return [mark for mark in known if judges[0].get(mark) != judges[1].get(mark)]


def other_replies(one: StoredRun, other: StoredRun) -> bool:
    """Whether both runs replayed, and not the same replies. Whose they are is not recorded."""
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
