"""The files of a finished run, read line by line; whatever another program did to them is told with its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright.errors import UsageError
from rulewright_runtime.plan_file import decode

if TYPE_CHECKING:
    from rulewright_runtime.plan import Plan

PARTS: Final = ("plan.json", "scores.jsonl", "verdicts.jsonl", "summary.json")
SUMMARISED: Final = ("refused", "gates", "hard_fails", "overall_score", "dimension_scores", "models", "adjudication")


def plan_of(folder: Path) -> Plan:
    """The plan that the run in `folder` executed. Raises UsageError when `folder` holds no finished run, PlanError
    when the plan was changed afterwards."""
    for part in PARTS:
        if not (folder / part).is_file():
            raise UsageError(f"`{folder}` holds no finished run: there is no `{part}` in it")
    return decode((folder / "plan.json").read_bytes())


def summary_of(folder: Path) -> dict[str, Any]:
    """What the run's `summary.json` holds. Raises UsageError where a part of it is gone."""
    path = folder / "summary.json"
    summary = _object(path.read_bytes(), str(path))
    if gone := [part for part in SUMMARISED if not isinstance(summary.get(part), dict)]:
        raise UsageError(f"{path}: this is no summary of a run: `{gone[0]}` is missing")
    return summary


def score_of(row: dict[str, Any], folder: Path) -> float | None:
    """The row's overall score in [0, 1], or None where it has none."""
    score = row.get("overall_score")
    if score is None:
        return None
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise UsageError(f"{folder / 'scores.jsonl'}: the score of `{row.get('transcript_id')}` is `{score}`")
    return float(score)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file, one at a time."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            yield _object(line, f"{path}:{number}")


def _object(data: bytes, place: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{place}: this is no row of a run: {error}") from None
