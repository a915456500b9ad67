"""A finished run transcript by transcript: the row of its scores, where it was read, and the verdicts on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from rulewright.errors import UsageError
from rulewright.reporting.run_reader import engine_of, plan_of, rows, summary_of
from rulewright_runtime.runs.folder import LOG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rulewright_runtime.plan.scan import Plan


@dataclass(frozen=True, slots=True)
class Judged:
    """One transcript of a run: its row of `scores.jsonl`, the engine's results in it, the place where it was read, the
    harness that recorded it, its records of `verdicts.jsonl`, and the fingerprint of its conversation."""

    row: Mapping[str, Any]
    engine: Mapping[str, Any]
    path: str
    line: int
    harness: str
    verdicts: tuple[Mapping[str, Any], ...]
    said: str = ""

    @property
    def id(self) -> str:
        """The transcript's id."""
        return str(self.row.get("transcript_id"))


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that is finished: its folder, its plan and its summary."""

    folder: Path
    plan: Plan
    summary: dict[str, Any]

    def judged(self) -> Iterator[Judged]:
        """Its transcripts in the order in which they were read. Raises UsageError where files don't fit together."""
        places = (each for each in _logged(self.folder) if each.refused is None)
        groups = groupby(rows(self.folder / "verdicts.jsonl"), key=lambda verdict: verdict.get("transcript_id"))
        waiting = next(groups, None)
        for row in rows(self.folder / "scores.jsonl"):
            place = next(places, _Place())
            found: tuple[Mapping[str, Any], ...] = ()
            if waiting is not None and waiting[0] == row.get("transcript_id"):
                found = tuple(waiting[1])
                waiting = next(groups, None)
            engine = engine_of(row, self.folder)
            yield Judged(row, engine, place.path, place.line, place.harness, found, place.said)
        if waiting is not None:
            raise UsageError(f"`verdicts.jsonl` judges `{waiting[0]}`, of which `scores.jsonl` knows nothing")

    def refused(self) -> Iterator[dict[str, Any]]:
        """The inputs that were refused, with `path`, `line` and `reason`; the summary lists the first ones."""
        if not (self.folder / LOG).is_file():
            yield from self.summary["refused"]["inputs"]
        for each in _logged(self.folder):
            if each.refused is not None:
                path, reason, line = each.refused
                yield {"path": path, "line": line, "reason": reason}


def open_run(folder: Path) -> FinishedRun:
    """The finished run in `folder`. Raises UsageError where there is none, PlanError where its plan was changed."""
    return FinishedRun(folder, plan_of(folder), summary_of(folder))


class _Place(msgspec.Struct):
    """As much of a line of the log as tells where an input was read, and what was said there."""

    refused: tuple[str, str, int] | None = None
    path: str = ""
    line: int = 0
    harness: str = ""
    said: str = ""


def _logged(folder: Path) -> Iterator[_Place]:
    """The place of each input."""
    log = folder / LOG
    if not log.is_file():
        return
    with log.open("rb") as lines:
        next(lines, None)  # the header
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=_Place)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                raise UsageError(f"{log}: a line is damaged; scan again") from None
