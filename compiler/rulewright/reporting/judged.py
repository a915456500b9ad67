"""A finished run, transcript by transcript: the row of scores, its source, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from rulewright.errors import UsageError
from rulewright.reporting.run_reader import engine_of, plan_of, refuse_changed_run, row_of, rows, summary_of
from rulewright_runtime.english import plural
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.folder import LOG
from rulewright_runtime.runs.log import Log, read_finished
from rulewright_runtime.strict_json import UNDECODED, JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class JudgedTranscript:
    """One transcript of a run: its row of `scores.jsonl`, the engine's results in it, its source, the harness that
    recorded it, its records of `verdicts.jsonl`, and the fingerprint of its conversation."""

    row: JsonMapping
    engine: JsonMapping
    path: str
    line: int
    harness: str
    verdicts: tuple[JsonMapping, ...]
    said: str = ""

    @property
    def id(self) -> str:
        """The transcript's id."""
        return str(self.row.get("transcript_id"))


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run: its folder, its plan and its summary."""

    folder: Path
    plan: Plan
    summary: JsonObject

    def judged(self) -> Iterator[JudgedTranscript]:
        """Yield its transcripts in the order of the scan. Raises UsageError if its files are inconsistent."""
        places = (each for each in _logged(self.folder) if each.refused is None)
        groups = groupby(rows(self.folder / "verdicts.jsonl"), key=lambda verdict: verdict.get("transcript_id"))
        waiting = next(groups, None)
        for row in rows(self.folder / "scores.jsonl"):
            place = next(places, _Place())
            found: tuple[JsonMapping, ...] = ()
            if waiting is not None and waiting[0] == row.get("transcript_id"):
                found = tuple(waiting[1])
                waiting = next(groups, None)
            engine = engine_of(row, self.folder)
            yield JudgedTranscript(row, engine, place.path, place.line, place.harness, found, place.said)
        if waiting is not None:
            raise UsageError(f"`verdicts.jsonl` judges `{waiting[0]}`, which has no row in `scores.jsonl`")

    def log(self) -> Log | None:
        """Read its log, if it has one. Raises PlanError for a damaged one."""
        path = self.folder / LOG
        return read_finished(str(path)) if path.is_file() else None

    def refused(self) -> Iterator[JsonObject]:
        """The refused inputs with `path`, `line` and `reason`, as far as the summary lists them."""
        if not (self.folder / LOG).is_file():
            yield from self.summary["refused"]["inputs"]
        for each in _logged(self.folder):
            if each.refused is not None:
                path, reason, line = each.refused
                yield {"path": path, "line": line, "reason": reason}


def open_run(folder: Path) -> FinishedRun:
    """Open the finished run in `folder`. Every reader of runs does. Raises UsageError without one, PlanError if its
    files are not those that it recorded."""
    run = FinishedRun(folder, plan_of(folder), summary_of(folder))
    refuse_changed_run(folder, run.plan, run.summary)
    return run


def open_judged(folder: Path) -> FinishedRun:
    """Open the finished run in `folder` for a command that decides from its transcripts. Raises UsageError also for a
    run without any, where nothing could be found."""
    run = open_run(folder)
    if not run.summary["transcripts"]:
        refused = plural(run.summary["refused"]["count"], "input")
        raise UsageError(f"the run in `{folder}` judged no transcript ({refused} refused)")
    return run


class _Place(msgspec.Struct):
    """The fields of a line of the log with an input's source and its conversation's fingerprint."""

    refused: tuple[str, str, int] | None = None
    path: str = ""
    line: int = 0
    harness: str = ""
    said: str = ""


def _logged(folder: Path) -> Iterator[_Place]:
    """Return the source of each input."""
    log = folder / LOG
    if not log.is_file():
        return
    with log.open("rb") as lines:
        next(lines, None)  # the header
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=_Place)
            except UNDECODED:
                raise UsageError(f"{log}: a line is damaged; scan again") from None


class _RowOwner(msgspec.Struct):
    """The fields of a row or verdict that name its transcript and check."""

    transcript_id: str = ""
    check_id: str = ""
    eligible: bool = False


class IndexedRun:
    """A finished run with random access to its transcripts, by the offsets of their lines."""

    def __init__(self, run: FinishedRun) -> None:
        """Read every line once. Raises UsageError for a line that is not a row."""
        self.run = run
        self.applied: dict[str, list[int]] = {}  # by check, the numbers of the transcripts to which it applied
        self._places = [each for each in _logged(run.folder) if each.refused is None]
        self._scores = list(_lines(run.folder / "scores.jsonl"))
        self._numbers = {line.transcript_id: number for number, (line, *_) in enumerate(self._scores, 1)}
        self._verdicts: dict[int, tuple[int, int]] = {}
        for line, start, end in _lines(run.folder / "verdicts.jsonl"):
            number = self._numbers.get(line.transcript_id, 0)
            self._verdicts[number] = (self._verdicts.get(number, (start, end))[0], end)
            if line.eligible:
                self.applied.setdefault(line.check_id, []).append(number)

    def __len__(self) -> int:
        """The number of its transcripts."""
        return len(self._scores)

    def name(self, number: int) -> str:
        """The id of the transcript with this number."""
        return self._scores[number - 1][0].transcript_id

    def number(self, name: str) -> int:
        """The number of the transcript with this id."""
        return self._numbers[name]

    def judged(self, number: int) -> JudgedTranscript:
        """The transcript with this number, from 1."""
        _, start, end = self._scores[number - 1]
        row = row_of(_read(self.run.folder / "scores.jsonl", start, end), f"{self.run.folder}/scores.jsonl:{number}")
        start, end = self._verdicts.get(number, (0, 0))
        lines = _read(self.run.folder / "verdicts.jsonl", start, end).splitlines()
        verdicts = tuple(row_of(line, f"{self.run.folder}/verdicts.jsonl") for line in lines)
        place = self._places[number - 1] if number <= len(self._places) else _Place()
        return JudgedTranscript(
            row, engine_of(row, self.run.folder), place.path, place.line, place.harness, verdicts, place.said
        )


def _lines(path: Path) -> Iterator[tuple[_RowOwner, int, int]]:
    """Yield the lines of a file, each with its start and end."""
    start = 0
    with path.open("rb") as stream:
        for line in stream:
            try:
                yield msgspec.json.decode(line, type=_RowOwner), start, start + len(line)
            except UNDECODED:
                raise UsageError(f"{path}: a line is no row of a run; scan again") from None
            start += len(line)


def _read(path: Path, start: int, end: int) -> bytes:
    with path.open("rb") as stream:
        stream.seek(start)
        return stream.read(end - start)
