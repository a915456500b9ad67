"""The store: a run as a folder of files, written so that a killed run can be resumed to the same bytes.

    plan.json       the plan that ran
    inputs.jsonl    the judge, and a line for each input: its fingerprint, and the valid sizes of the next two files
    verdicts.jsonl  a line for each transcript and check
    scores.jsonl    a line for each transcript
    replies.jsonl   the judge's replies, unless they are recorded elsewhere
    manifest.json   the run's id, and every file with its size and hash
    summary.json    the totals of judged and refused inputs and of verdicts; summary.md is the same for people

`runs.folder` describes how the files are written, `runs.recording` how the judge's replies are stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final
from zlib import crc32

import msgspec
from msgspec.structs import replace

from rulewright_runtime import strict_json
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import BatchJudge, Engine, results
from rulewright_runtime.files.atomic import DiskError, open_part, sync, sync_folder
from rulewright_runtime.files.input_files import MAX_EXPANDED
from rulewright_runtime.judging.judge import BatchAnswers, Judge, LimitedJudge, identity, open_judge, record_of
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import resealed
from rulewright_runtime.plan.judge_needs import needs_judge, prompts_of, refuse_without_judge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.processes.fast_start import seldom_collected
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.folder import DECIDED, DECISIONS, LOG, REPLIES, ROWS, SUMMARY, FileContent, RunFolder
from rulewright_runtime.runs.log import Header, Log, LogStep, damaged, line_of, read_log
from rulewright_runtime.runs.recording import RecordingJudge
from rulewright_runtime.runs.run_rows import Row, RowWriter, Setup, recount, refuse_damaged, summary_of
from rulewright_runtime.strict_json import UNDECODED, JsonMapping, JsonObject, indented
from rulewright_runtime.transcripts.chat_files import MAX_LINE
from rulewright_runtime.transcripts.transcript_reader import Reader

if TYPE_CHECKING:
    from rulewright_runtime.calls.scheduler import Scheduler

# A kill may lose this many seconds of work; the judge's replies are written at once.
LOST_SECONDS: Final = 0.5


@seldom_collected()
def run(
    plan: Plan,
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    judge: Judge | BatchJudge | str | None = None,
    parameters: JsonMapping | None = None,
    resume: bool = False,
    overwrite: bool = False,
    max_calls: int | None = None,
    max_line: int | None = None,
    columns: Mapping[str, str] | None = None,
    max_expanded: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
    watch: Callable[[Scheduler, Summary], None] = lambda *_: None,
    jobs: int = 1,
    ray: str | None = None,
    gates_only: bool = False,
) -> JsonObject:
    """Judge the transcripts in `paths`, write the folder `out`, and return the content of its `summary.json`.

    `resume` continues the run in `out`: finished inputs are not judged again, and no answered request is sent again.
    `overwrite` replaces the run in `out`; a finished one is kept in `out/previous` until the new one is finished. With
    neither, a folder with a run is refused, and one with people's decisions in any case. At most `max_calls` requests
    are sent to the judge in total; lines longer than `max_line` bytes and recorded replies larger than `max_expanded`
    bytes are refused. `columns` maps the fields of a conversation to the columns of a CSV file.
    `jobs` processes judge if the judge is recorded replies or none, or the tasks of the Ray cluster at the address
    `ray` do (`local`: a cluster on this machine with `jobs` tasks at a time); the output is byte-equal for any number
    and any cluster. `progress` receives the number of finished inputs, `watch` a live judge's scheduler and the summary
    so far, at every change.

    Raises PlanError if a limit is negative, the plan can't run, `out` holds a run or, with `resume`, a different run;
    JudgeError if the judge can't be opened; BusyError if another process writes to `out`; OSError if `out` can't be
    written; and, for a live judge, BudgetError and OutageError. A run that ended with an error can be resumed.
    """
    _refuse_limits(max_calls=(max_calls, 0), max_line=(max_line, 1), max_expanded=(max_expanded, 1), jobs=(jobs, 1))
    plan = resealed(plan)
    is_spread = jobs > 1 or ray is not None
    if is_spread:
        _refuse_jobs(judge, max_calls, gates_only=gates_only)
    opened, fingerprint = _opened(judge, max_expanded or MAX_EXPANDED, is_spread=is_spread)
    if judge is None:
        refuse_without_judge(plan)
    options = [*([columns] if columns else []), *(["gates_only"] if gates_only else [])]
    settings = msgspec.json.encode([parameters, max_calls, max_line, *options], order="deterministic")
    reader = Reader(plan.scenarios, max_line or MAX_LINE, columns)
    folder = RunFolder(out)
    with folder.locked():
        log = _recovered_log(
            folder, Header(plan.hash, fingerprint, settings.decode()), resume=resume, overwrite=overwrite
        )
        inputs: Iterator[Any] = log.skip_done_pieces(reader, paths) if is_spread else log.skip_done(reader.read(paths))
        if folder.is_finished and log.steps:
            if (first := next(inputs, None)) is None:
                return _finished(folder, plan)
            inputs = chain([first], inputs)
        writer = _Writer(folder, log, _recording(opened, folder, resume, max_calls), summary_of(plan), opened)
        if is_spread:
            replayed = judge if isinstance(judge, str) else None
            setup = Setup(encode(plan), max_line or MAX_LINE, max_expanded, replayed, parameters, columns)
            rows = _by_workers(setup, jobs, ray, plan, inputs, log, writer.summary, reader)
        else:
            engine = Engine(plan, parameters, gates_only=gates_only)
            rows = _by_judge(
                engine, inputs, writer, max_calls, lambda scheduler: watch(scheduler, writer.summary), resume
            )
        if log.steps:
            folder.reopen()
        else:
            folder.clear(keep_replies=resume)
        return writer.write(
            plan, rows, progress, lambda: _about(plan, parameters, opened, reader, gates_only=gates_only)
        )


def _by_judge(
    engine: Engine,
    inputs: Iterator[Any],
    writer: _Writer,
    calls: int | None,
    watch: Callable[[Scheduler], None],
    resumed: bool,
) -> Iterator[Row]:
    """The rows that this process makes."""
    row_writer, judge = RowWriter(writer.summary), writer.judge
    items = row_writer.noted(inputs)
    if isinstance(judge, BatchJudge):
        run = os.path.abspath(writer.folder.path)
        return map(row_writer.row, judge.results(engine, items, run, watch, resumed=resumed))
    answering = writer.recording or _limited(judge, writer.log, calls)
    return map(row_writer.row, results(engine, items, answering))


def _by_workers(
    setup: Setup,
    jobs: int,
    ray: str | None,
    plan: Plan,
    fresh: Iterator[Any],
    log: Log,
    summary: Summary,
    reader: Reader,
) -> Iterator[Row]:
    """The rows that `jobs` processes make, or a Ray cluster. Raises PlanError for a plan that can't run."""
    from rulewright_runtime.runs.jobs import RayTasks, Workers, judged

    Engine(plan, setup.parameters)  # raises before anything is written
    workers = Workers(setup, jobs) if ray is None else RayTasks(setup, ray, jobs)
    return judged(workers.answers, fresh, log, summary, reader)


def _opened(
    judge: Judge | BatchJudge | str | None, max_expanded: int, *, is_spread: bool
) -> tuple[Judge | BatchJudge | None, str]:
    """The judge and its fingerprint. Raises JudgeError if it can't be opened, PlanError if it needs one process."""
    if judge is None:
        return None, ""
    opened = open_judge(judge, max_expanded) if isinstance(judge, str) else judge
    if is_spread and isinstance(opened, BatchAnswers):
        raise PlanError("`jobs` and `ray` are for recorded replies; one process reads answers to exported questions")
    return opened, identity(opened)


def _refuse_jobs(judge: Judge | BatchJudge | str | None, calls: int | None, *, gates_only: bool) -> None:
    """Raise PlanError for options that need a single process."""
    if gates_only:
        raise PlanError("`gates_only` needs one process; leave it out, or `jobs` and `ray`")
    if judge is not None and not isinstance(judge, str):
        raise PlanError(
            "`jobs` and `ray` are for runs that ask no model; one process asks a model many questions at a time"
        )
    if calls is not None:
        raise PlanError("`max_calls` needs one process that counts the calls; leave it out, or `jobs` and `ray`")


def _refuse_to_replace(folder: RunFolder, *, overwrite: bool) -> None:
    """Raise PlanError if the folder holds people's decisions, or without `overwrite` a run that judged a transcript."""
    if os.path.exists(os.path.join(folder.path, DECIDED, DECISIONS)):
        raise PlanError(
            f"`{folder.path}` contains people's decisions about its run in `{DECIDED}`; choose another folder"
        )
    if overwrite or folder.judged_nothing or (folder.log is None and folder.replies is None):
        return
    state, remedy = (
        ("a finished run", "replace it with `--overwrite`")
        if folder.is_finished
        else ("a run that is not finished", "continue it with `--resume`, replace it with `--overwrite`")
    )
    raise PlanError(f"`{folder.path}` contains {state}; {remedy} or choose another folder")


def _recovered_log(folder: RunFolder, header: Header, *, resume: bool, overwrite: bool) -> Log:
    """The log of the resumed run, or an empty one. Raises PlanError for a log that is damaged or of another run, and
    for a run that is not to be replaced."""
    if os.path.exists(folder.at(DECISIONS)):
        raise PlanError(f"`{folder.path}` contains people's decisions; choose another folder")
    folder.recover()
    if not resume:
        _refuse_to_replace(folder, overwrite=overwrite)
    return Log(header) if folder.log is None or not resume else read_log(folder.log, header)


def _recording(
    judge: Judge | BatchJudge | None, folder: RunFolder, resume: bool, calls: int | None
) -> RecordingJudge | None:
    """The judge with its replies recorded; None if they are recorded already."""
    if judge is None or isinstance(judge, BatchJudge) or getattr(judge, "recorded", False):
        return None
    return RecordingJudge(judge, folder.replies if resume else None, calls)


def _limited(judge: Judge | None, log: Log, calls: int | None) -> Judge | None:
    if judge is None or calls is None:
        return judge
    return LimitedJudge(judge, calls - sum(step.calls for step in log.steps))


def _refuse_limits(**limits: tuple[int | None, int]) -> None:
    """Raise PlanError for a limit below its minimum; `limits` maps an option to both."""
    for option, (limit, least) in limits.items():
        if limit is not None and limit < least:
            raise PlanError(f"`{option}` is {limit}; expected at least {least}")


def _about(
    plan: Plan, parameters: JsonMapping | None, judge: Judge | BatchJudge | None, reader: Reader, *, gates_only: bool
) -> JsonObject:
    scorecard = plan.scorecard.name if plan.scorecard is not None else None
    about = {"profile": plan.profile, "scorecard": scorecard, "semantics": plan.semantics}
    options: dict[str, object] = {"parameters": dict(sorted(parameters.items()))} if parameters else {}
    options |= {"gates_only": True} if gates_only else {}
    options |= {"price": price} if (price := getattr(judge, "price", None)) is not None and needs_judge(plan) else {}
    unread = {"unread_files": dict(sorted(reader.unread.items()))} if reader.unread else {}
    unused = {"unused_columns": columns} if (columns := reader.unused_columns()) else {}
    described = {**about, "language": plan.language, "plan": plan.hash, **options, "judge": _judge(plan, judge)}
    labels = {"labels_read_as_text": sorted(reader.labels)} if reader.labels else {}
    return {**described, **unread, **unused, **labels}


def _judge(plan: Plan, judge: Judge | BatchJudge | None) -> dict[str, object] | None:
    """The judge's record; None if the plan needs no judge."""
    if judge is None or not needs_judge(plan):
        return None
    record: dict[str, object] = msgspec.to_builtins(record_of(judge, prompts_of(plan)))
    return record


def _finished(folder: RunFolder, plan: Plan) -> JsonObject:
    """The summary of a finished run. Raises PlanError if a file of the run is damaged."""
    with open(folder.at(SUMMARY), "rb") as stream:
        try:
            summary: JsonObject = strict_json.decode(stream.read(), type=JsonObject)
        except UNDECODED:
            raise damaged(folder.at(SUMMARY)) from None
    refuse_damaged(folder.path, plan, summary)
    return summary


class _Served(msgspec.Struct):
    """The field of a stored exchange that a recount reads."""

    model: str = ""


_SERVED: Final = msgspec.json.Decoder(_Served)


class _Writer:
    """Writes the parts of one run and tracks their valid sizes."""

    def __init__(
        self,
        folder: RunFolder,
        log: Log,
        recording: RecordingJudge | None,
        summary: Summary,
        judge: Judge | BatchJudge | None,
    ) -> None:
        self.folder, self.log, self.recording, self.summary, self.judge = folder, log, recording, summary, judge
        self._files: dict[str, IO[bytes]] = {}
        self._lines: list[bytes] = []  # log lines that are written once their rows are on disk
        self._synced = monotonic()
        last = log.steps[-1] if log.steps else LogStep("", "", 0, 0, 0, 0)
        self._rows = (*ROWS, REPLIES) if isinstance(judge, BatchJudge) else ROWS
        self._sizes, self._checksum = (last.verdicts, last.scores, last.replies)[: len(self._rows)], last.rows
        self._calls = sum(step.calls for step in log.steps)
        self._served: set[str] = set()  # the models that answered, as named by the endpoint
        self._done = len(log.steps)
        # A file that is begun here need not be read again for the manifest.
        self._contents = {} if log.steps else {name: FileContent() for name in (*self._rows, LOG)}

    def _close(self) -> None:
        for file in (*self._files.values(), *([self.recording] if self.recording else ())):
            with suppress(OSError):
                file.close()
        self._files.clear()

    def _open(self) -> None:
        """Open the parts at the sizes that the log records. Raises PlanError for a damaged part."""
        for row, size in zip(self._rows, self._sizes, strict=True):
            path = self.folder.part(row)
            if size and (not os.path.exists(path) or os.path.getsize(path) < size):
                raise damaged(path)
        self._recount()
        for name, size in zip((*self._rows, LOG), (*self._sizes, self.log.size), strict=True):
            self._files[name] = open_part(self.folder.part(name), size)
        if not self.log.steps:
            self._write(LOG, line_of(self.log.header))
        if self.recording is not None:
            self.recording.open(self.folder.part(REPLIES))
        sync_folder(self.folder.path)

    def _recount(self) -> None:
        """Add the finished inputs to the summary. Raises PlanError if their rows are not those that were written."""
        if not self.log.steps:
            return
        if REPLIES in self._rows:
            with open(self.folder.part(REPLIES), "rb") as stream:
                exchanges = stream.read(self._sizes[2])
            try:
                self._served.update(each.model for each in _SERVED.decode_lines(exchanges))
            except UNDECODED:
                raise damaged(self.folder.part(REPLIES)) from None
        with open(self.folder.part(ROWS[0]), "rb") as verdicts, open(self.folder.part(ROWS[1]), "rb") as scores:
            if not recount(self.summary, self.log.steps, verdicts, scores):
                raise damaged(self.folder.part(ROWS[0]))

    def write(
        self, plan: Plan, rows: Iterable[Row], progress: Callable[[int], None], about: Callable[[], JsonObject]
    ) -> JsonObject:
        """Write all rows and finish the run. Raises OSError, also if a reply could not be stored."""
        try:
            self._open()
            try:
                for row in rows:
                    self._add(row)
                    progress(self._done)
                return self._finish(plan, about)
            except BaseException:
                if self._files:  # keep as much finished work as can still be written
                    with suppress(OSError):
                        self._sync()
                raise
        except DiskError as stopped:
            raise stopped.error from None
        finally:
            self._close()

    def _add(self, row: Row) -> None:
        """Write one row. It counts as done once its log line is written, a moment later."""
        self._checksum = crc32(row.scores, crc32(row.verdicts, self._checksum))
        self._served.update(row.served)
        written = (row.verdicts, row.scores, row.replies)[: len(self._rows)]
        for name, data in zip(self._rows, written, strict=True):
            self._write(name, data)
        self._sizes = tuple(size + len(data) for size, data in zip(self._sizes, written, strict=True))
        verdicts, scores, *replies = self._sizes
        step = replace(row.step, verdicts=verdicts, scores=scores, rows=self._checksum, replies=sum(replies))
        self._calls += step.calls
        self._lines.append(line_of(step))
        self._done += 1
        if monotonic() - self._synced > LOST_SECONDS:
            self._sync()

    def _write(self, name: str, data: bytes) -> None:
        self._files[name].write(data)
        if name in self._contents:
            self._contents[name].add(data)

    def _sync(self) -> None:
        """Sync the rows first, then the log lines with their sizes."""
        for row in self._rows:
            sync(self._files[row])
        if self.recording is not None:
            self.recording.sync()
        self._write(LOG, b"".join(self._lines))
        self._lines.clear()
        sync(self._files[LOG])
        self._synced = monotonic()

    def _finish(self, plan: Plan, about: Callable[[], JsonObject]) -> JsonObject:
        """Write the summary and give all files their final names."""
        self._sync()
        if self.recording is not None:
            self.recording.finish()
        record = about()
        if served := sorted(self._served - {""}):
            record["judge"]["served_models"] = served
        self.summary.about = {**record, "judge_calls": self._calls}
        summary = self.summary.result()
        data = indented(summary)
        last = {"plan.json": encode(plan), "summary.md": markdown(summary).encode(), SUMMARY: data}
        self._close()
        self.folder.commit(plan, last, self._contents)
        return summary
