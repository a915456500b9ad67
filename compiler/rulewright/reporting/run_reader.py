"""Reads the files of a finished run line by line; damage by other programs is reported with its location."""

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from rulewright.errors import UsageError
from rulewright_runtime import strict_json
from rulewright_runtime.aggregate.outcome import ENGINE, GateState, Outcome
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.summary import VERSION
from rulewright_runtime.runs.folder import DECISIONS, FILES, MANIFEST, ROWS, SUMMARY, RunFolder
from rulewright_runtime.runs.run_rows import refuse_damaged
from rulewright_runtime.strict_json import UNDECODED, JsonMapping, JsonObject
from rulewright_runtime.transcripts.chat_files import HARNESS_FILES

PARTS: Final = ("plan.json", "scores.jsonl", "verdicts.jsonl", "summary.json")
SUMMARISED: Final = (
    "refused", "incomplete", "totals", "outcomes", "gates", "failed", "overall_score", "dimension_scores", "models",
    "adjudication", "unresolved",
)  # fmt: skip


def plan_of(folder: Path) -> Plan:
    """Return the plan that the run in `folder` executed. Raises UsageError without a finished run, PlanError if the
    plan has changed since."""
    if not folder.exists():
        raise UsageError(f"run not found: `{folder}`; name a folder that `rulewright scan` wrote")
    if folder.is_file():
        raise UsageError(f"`{folder}` is a file; name a folder that `rulewright scan` wrote")
    for part in PARTS:
        if not (folder / part).is_file():
            resumed = f"; continue it with `rulewright scan TRANSCRIPTS --out {folder} --resume`"
            under_way = resumed if RunFolder(folder).log else ""
            under_way = "; scan again" if (folder / MANIFEST).is_file() else under_way
            under_way = "; repeat the last `rulewright adjudicate`" if (folder / DECISIONS).is_file() else under_way
            inside = [each.name for each in sorted(folder.glob("*")) if (each / PARTS[-1]).is_file()]
            held = f"; it contains the runs {ticked(inside[:4])}" if inside else ""
            if {each.name for each in folder.glob("*")} >= HARNESS_FILES:
                held = f"; it contains conversations of `rulewright harness`; `rulewright scan {folder}` judges them"
            raise UsageError(f"`{folder}` contains no finished run: `{part}` is missing{under_way or held}")
    return decode((folder / "plan.json").read_bytes())


def summary_of(folder: Path) -> JsonObject:
    """What the run's `summary.json` holds. Raises UsageError where a part of it is gone, a row is damaged, or a link
    stands where a command would write, and PlanError where a file was changed since the scan."""
    path = folder / "summary.json"
    try:
        summary = strict_json.decode(path.read_bytes(), type=JsonObject)
    except UNDECODED as error:
        raise UsageError(f"{path}: this is not a summary of a run: {error}") from None
    if gone := [part for part in SUMMARISED if not isinstance(summary.get(part), dict)]:
        raise UsageError(f"{path}: this is not a summary of a run: `{gone[0]}` is missing")
    if type(summary.get("version")) is not int or summary["version"] < VERSION:
        raise UsageError(f"{path}: the `version` is `{summary.get('version')}`, expected {VERSION}; scan again")
    with os.scandir(folder) as entries:
        links = [each.path for each in entries if each.is_symlink() and each.name not in (*FILES, SUMMARY, MANIFEST)]
    if links:
        raise UsageError(f"`{min(links)}` is a symbolic link, through which a command could write; remove it")
    return summary


def refuse_changed_run(folder: Path, plan: Plan, summary: JsonMapping) -> None:
    """Raise PlanError if the files of a run are not those that were written, UsageError with the location of a row that
    can't be read."""
    try:
        refuse_damaged(folder, plan, summary)
    except PlanError:
        for name in ROWS:
            deque(rows(folder / name), maxlen=0)
        raise


def engine_of(row: JsonObject, folder: Path) -> JsonObject:
    """Return the engine's result for the row's transcript: its outcome, the reasons, and its gates. Raises
    UsageError."""
    try:
        return msgspec.to_builtins(msgspec.convert(row.get(ENGINE), type=_StoredEngine))  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        place = folder / "scores.jsonl"
        raise UsageError(f"{place}: the row of `{row.get('transcript_id')}` has no outcome; scan it again") from None


class _StoredGate(msgspec.Struct):
    state: GateState


class _Ends(msgspec.Struct):
    low: float | None
    high: float | None
    absent: bool


class _Bounds(msgspec.Struct):
    unknown: list[str]
    exact: bool
    overall_score: _Ends


class _StoredEngine(msgspec.Struct):
    """The fields of the engine's results that reports read."""

    outcome: Outcome
    because: list[str]
    unproven: dict[str, str]
    gates: dict[str, _StoredGate]
    coverage: float | None = None
    coverage_at_most: float | None = None
    bounds: _Bounds | None = None


def headline_of(plan: Plan) -> str:
    """Return the name of the scorecard's output that is averaged and ranked."""
    return HEADLINE if plan.scorecard is None else plan.scorecard.headline


def score_of(row: JsonMapping, folder: Path, headline: str) -> float | None:
    """Return the row's headline, a score in [0, 1], or None. Raises UsageError."""
    score = row.get(headline)
    if score is None:
        return None
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise UsageError(f"{folder / 'scores.jsonl'}: the score of `{row.get('transcript_id')}` is `{score}`")
    return float(score)


def rows(path: Path) -> Iterator[JsonObject]:
    """Yield the objects of a JSON Lines file."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            yield row_of(line, f"{path}:{number}")


def row_of(data: bytes, place: str) -> JsonObject:
    """Return the object of one line; `place` is its location in messages. Raises UsageError for anything else."""
    try:
        return strict_json.decode(data, type=JsonObject)
    except UNDECODED as error:
        raise UsageError(f"{place}: this is not a row of a run: {error}") from None
