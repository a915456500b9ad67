"""Rows: the lines that a run writes for each input, the fields of its log step, and whether the rows of a finished run
are those that were written: by its manifest, its log and its summary."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import IO, Any, Final
from zlib import crc32

import msgspec

from rulewright_runtime.aggregate.aggregation import gate_members
from rulewright_runtime.aggregate.outcome import ENGINE, engine_results
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.folder import LOG, MANIFEST, REPLIES, ROWS, SUMMARY, read_manifest, refuse_changed
from rulewright_runtime.runs.log import Header, LogStep, line_of, open_log, refused_step, step_of
from rulewright_runtime.strict_json import Json, JsonMapping
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.completeness import as_records
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verdicts import Cause

ROW_KEY: Final = ("transcript_id", "scenario_id", "model")  # the first fields of a row of scores and of a verdict


class Setup(msgspec.Struct, frozen=True):
    """The common part of all tasks of a run: the encoded plan and the settings."""

    plan: bytes
    max_line: int
    max_expanded: int | None
    judge: str | None
    parameters: Mapping[str, Any] | None
    columns: Mapping[str, str] | None


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One input's output: its log step, which lacks the sizes of the files, and the lines of its verdicts, scores and
    replies; `served` names the models that answered."""

    step: LogStep
    verdicts: bytes = b""
    scores: bytes = b""
    replies: bytes = b""
    served: tuple[str, ...] = ()


class RowWriter:
    """Makes rows from results and adds them to a summary."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._steps: deque[LogStep] = deque()

    def noted(self, items: Iterable[Transcript | InputError]) -> Iterator[Transcript | InputError]:
        """Yield the items, and queue the log step of each until its result arrives. Its fingerprint is taken before its
        texts are searched: they keep their encoding, which the search then need not make."""
        for item in items:
            self._steps.append(step_of(item))
            yield item

    def row(self, result: TranscriptResult) -> Row:
        """The row for the result of the next queued item."""
        step = self._steps.popleft()
        refused = next((error for error in result.errors if isinstance(error, InputError)), None)
        if refused is not None:
            self._summary.refuse(refused)
            return Row(refused_step(step, refused))
        scores = result.scores or _bare_row(result)
        self._summary.add(scores, result.verdicts, result.harness)
        return Row(
            msgspec.structs.replace(step, calls=sum(result.judge_calls.values()), harness=result.harness),
            verdicts=verdict_key(scores).join(
                [b"", *(msgspec.json.encode(each)[1:] + b"\n" for each in result.verdicts)]
            ),
            scores=msgspec.json.encode(scores) + b"\n",
            replies=_exchange_lines(result) if result.exchanges else b"",
            served=tuple(dict.fromkeys(exchange.model for exchange in result.exchanges)),
        )


def verdict_key(row: Mapping[str, object]) -> bytes:
    """The start of each line of `verdicts.jsonl` for a row's transcript, readable without a join."""
    return msgspec.json.encode({name: row.get(name) for name in ROW_KEY})[:-1] + b","


class _CountedVerdict(msgspec.Struct, frozen=True):
    """The fields of a verdict's line that a summary reads; equal lines share one."""

    check_id: str
    eligible: bool
    verdict: str
    severity: str
    primary_bucket: str
    rationale_code: str | None
    adjudication_required: bool
    cause: Cause | None = None


_COUNTED: Final = msgspec.json.Decoder(_CountedVerdict)


@lru_cache(maxsize=1024)
def _counted(rest: bytes) -> _CountedVerdict:
    """The verdict of a line without its key: most lines are equal but for that."""
    return _COUNTED.decode(b"{" + rest)


def summary_of(plan: Plan) -> Summary:
    """An empty summary for a run of the plan."""
    categories = {name: scenario.category for name, scenario in plan.scenarios.items() if scenario.category}
    summary = Summary(planned=len(plan.checks), category_of=categories)
    if plan.scorecard is not None:
        summary.headline, summary.label = plan.scorecard.shown
        summary.members = gate_members(plan.scorecard)
    return summary


def count(summary: Summary, step: LogStep, verdicts: bytes, scores: bytes) -> None:
    """Add the lines of one input to a summary."""
    if step.refused is not None:
        path, reason, line = step.refused
        summary.refuse(InputError(reason, path, line))
        return
    row = msgspec.json.decode(scores)
    key = verdict_key(row)
    counted = [
        _counted(line[len(key) :]) if line.startswith(key) else _COUNTED.decode(line) for line in BytesIO(verdicts)
    ]
    summary.add(row, counted, step.harness)


def recount(summary: Summary, steps: Iterable[LogStep], verdicts: IO[bytes], scores: IO[bytes]) -> bool:
    """Add the lines of finished inputs to a summary; false if they are not those that the log records."""
    checksum, before = 0, (0, 0)
    for step in steps:
        lines = verdicts.read(step.verdicts - before[0]), scores.read(step.scores - before[1])
        checksum, before = crc32(lines[1], crc32(lines[0], checksum)), (step.verdicts, step.scores)
        if checksum != step.rows:
            return False
        count(summary, step, *lines)
    return True


def log_of(header: Header, steps: Iterable[LogStep], rows: Iterator[Mapping[str, bytes]]) -> bytes:
    """The log of the same inputs with other `rows`: for each input that was not refused its lines by file. A file that
    is never among them is unchanged."""
    return line_of(header) + b"".join(map(line_of, _renumbered(steps, rows)))


def _renumbered(steps: Iterable[LogStep], rows: Iterator[Mapping[str, bytes]]) -> Iterator[LogStep]:
    sizes, checksum = dict.fromkeys(ROWS, 0), 0
    for step in steps:
        own = {} if step.refused else next(rows)
        for name, data in own.items():
            sizes[name] = sizes.get(name, 0) + len(data)
        for file in ROWS:
            checksum = crc32(own.get(file, b""), checksum)
        replies = sizes.get(REPLIES, step.replies) if step.replies else 0
        yield msgspec.structs.replace(
            step, verdicts=sizes[ROWS[0]], scores=sizes[ROWS[1]], rows=checksum, replies=replies
        )


def _exchange_lines(result: TranscriptResult) -> bytes:
    """A line for each request to a live judge, with its reply."""
    key = b'{"transcript_id":' + msgspec.json.encode(result.transcript_id) + b","
    return b"".join([key + msgspec.json.encode(exchange)[1:] + b"\n" for exchange in result.exchanges])


def _bare_row(result: TranscriptResult) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(result, name) for name in ROW_KEY}
    row[ENGINE] = engine_results(result.verdicts, undecided=bool(result.missing))
    return {**row, "missing": as_records(result.missing)} if result.missing else row


_VERIFIED: Final = ("plan.json", *ROWS, SUMMARY, LOG, REPLIES)


def refuse_damaged(folder: str | os.PathLike[str], plan: Plan, summary: JsonMapping) -> None:
    """Raise PlanError if a file differs from the manifest, the rows are not those of the log, or the figures of the
    summary do not follow from them. A manifest can be written again, so it does not replace the log."""
    manifest = read_manifest(folder)
    if manifest is not None:
        refuse_changed(folder, manifest, _VERIFIED)
    if manifest is None or os.path.isfile(os.path.join(folder, LOG)):
        _refuse_miscounted(os.fspath(folder), plan, summary)
    if summary.get("plan") != plan.hash:
        raise PlanError(f"the plan in `{os.fspath(folder)}` is not the one that `{SUMMARY}` names; scan again")


def _refuse_miscounted(folder: str, plan: Plan, summary: JsonMapping) -> None:
    log, counted = os.path.join(folder, LOG), summary_of(plan)
    if not os.path.isfile(log):
        raise PlanError(f"`{folder}` has neither `{MANIFEST}` nor `{LOG}`, so its rows can't be verified; scan again")
    verdicts_path, scores_path = (os.path.join(folder, name) for name in ROWS)
    with open(verdicts_path, "rb") as verdicts, open(scores_path, "rb") as scores:
        header, steps = open_log(log)
        calls, replies = 0, 0

        def noted() -> Iterator[LogStep]:
            nonlocal calls, replies
            for step in steps:
                calls, replies = calls + step.calls, step.replies
                yield step

        same = header.plan == plan.hash and recount(counted, noted(), verdicts, scores)
        if not same or verdicts.read(1) or scores.read(1) or _lacks_replies(folder, replies):
            raise PlanError(f"the rows in `{folder}` are not those that `{LOG}` records; scan again")
    counted.about = {"judge_calls": calls}
    for name, figures in counted.result().items():
        if _encoded(summary.get(name)) != _encoded(figures):
            raise PlanError(f"`{name}` in `{os.path.join(folder, SUMMARY)}` does not follow from the rows; scan again")


def _lacks_replies(folder: str, size: int) -> bool:
    """Whether the file of a live judge's replies does not have the `size` that the log records."""
    path = os.path.join(folder, REPLIES)
    return bool(size) and (not os.path.isfile(path) or os.path.getsize(path) != size)


def _encoded(figures: Json) -> bytes:
    return msgspec.json.encode(figures, order="deterministic")
