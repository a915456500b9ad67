"""The files of a finished run, read line by line; whatever another program did to them is told with its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rulewright.errors import UsageError
from rulewright_runtime.plan_file import decode

if TYPE_CHECKING:
    from rulewright_runtime.plan import Plan

PARTS = ("plan.json", "scores.jsonl", "verdicts.jsonl", "summary.json")


def plan_of(folder: Path) -> Plan:
    """The plan that the run in `folder` executed. Raises UsageError when `folder` holds no finished run, PlanError
    when the plan was changed afterwards."""
    for part in PARTS:
        if not (folder / part).is_file():
            raise UsageError(f"`{folder}` holds no finished run: there is no `{part}` in it")
    return decode((folder / "plan.json").read_bytes())


def summary_of(folder: Path) -> dict[str, Any]:
    """What the run's `summary.json` holds."""
    return _object((folder / "summary.json").read_bytes(), str(folder / "summary.json"))


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
