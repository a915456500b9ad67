"""The store: a run as a folder of files, written so that a killed run can be resumed to the same bytes.

    plan.json       the plan that ran
    inputs.jsonl    who judged, and a line for each input: what was read, and how far the next two files are good
    verdicts.jsonl  a line for each transcript and check
    scores.jsonl    a line for each transcript
    replies.jsonl   what the judge answered, where that is not recorded elsewhere
    manifest.json   the run's id, and every file with its size and hash
    summary.json    what was judged, refused and found; summary.md says it to people

See `runs.folder` for how they come to be, and `runs.recording` for what is done for the judge's answers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final
from zlib import crc32

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import BatchJudge, Engine, execute, needs_judge, prompts_of
from rulewright_runtime.files import DiskError, open_part, sync, sync_folder
from rulewright_runtime.input_files import MAX_EXPANDED
from rulewright_runtime.judging.judge import AnsweredElsewhere, Judge, LimitedJudge, identity, open_judge, who_judged
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.runs.folder import LOG, REPLIES, ROWS, SUMMARY, RunFolder
from rulewright_runtime.runs.log import Header, Log, LogStep, damaged, line_of, read_log
from rulewright_runtime.runs.recording import RecordingJudge
from rulewright_runtime.runs.rows import Row, RowWriter, count, summary_of
from rulewright_runtime.runs.worker import Setup
from rulewright_runtime.strict_json import Json, JsonMapping, JsonObject
from rulewright_runtime.transcripts.transcript_reader import MAX_LINE, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rulewright_runtime.calls.scheduler import Scheduler
    from rulewright_runtime.plan.scan import Plan
    from rulewright_runtime.report.summary import Summary
    from rulewright_runtime.runs.jobs import Executor

# What a kill may undo of the work that no judge was asked for: this much of it, in seconds.
LOST_SECONDS: Final = 0.5


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
    """Judge the transcripts in `paths`, write the folder `out`, and return what its `summary.json` holds.

    With `resume` the run in `out` is continued: inputs that are done are not judged again, and no question that the
    judge answered is put again. With `overwrite` a new run takes the place of the one in `out`; a finished one lies in
    `out/previous` until the new one is finished. With neither, a folder that holds a run is refused. No more than
    `max_calls` questions are put to the judge over all, longer lines than `max_line` bytes are refused, and so are
    recorded replies of more than `max_expanded` bytes. `columns` says which columns of a CSV file hold what.
    So many `jobs`, processes, judge, where the judge is recorded replies or nobody, or the tasks of the Ray cluster at
    the address `ray` do (`local`: one on this machine for `jobs` tasks at a time); the bytes are the same for any
    number and on any cluster. `progress` is given the number of inputs that are done, `watch` the scheduler of a live
    judge and the summary so far, at any news.

    Raises PlanError where a limit is negative, the plan can't run, `out` holds a run, or another one than is resumed,
    JudgeError where the judge can't be opened, BusyError where another process writes to `out`, OSError where `out`
    can't be written; of a live judge BudgetError and OutageError, where it may not or can't answer any more. What was
    done until then can be resumed.
    """
    _refuse_limits(max_calls=(max_calls, 0), max_line=(max_line, 1), max_expanded=(max_expanded, 1), jobs=(jobs, 1))
    is_spread = jobs > 1 or ray is not None
    if is_spread:
        _refuse_jobs(judge, max_calls, gates_only=gates_only)
    replayed = judge if isinstance(judge, str) else None
    judge, who = _opened(judge, max_expanded or MAX_EXPANDED, is_spread=is_spread)
    also = [*([columns] if columns else []), *(["gates_only"] if gates_only else [])]
    header = Header(plan.hash, who, _settings([parameters, max_calls, max_line, *also]))
    reader = Reader(plan.scenarios, max_line or MAX_LINE, columns)
    folder = RunFolder(out)
    with folder.locked():
        folder.recover()
        if not (resume or overwrite):
            _refuse_to_overwrite(folder)
        log = _log(folder, header, resume)
        fresh = _fresh(log, reader, paths, is_spread=is_spread)
        if folder.is_finished and log.steps:
            if (first := next(fresh, None)) is None:
                return _summary(folder)
            fresh = chain([first], fresh)
        recording = _recording(judge, folder, resume, max_calls)
        summary = summary_of(plan)
        writer = _Writer(folder, log, recording, summary, keeps_exchanges=isinstance(judge, BatchJudge))
        made = RowWriter(summary)
        if is_spread:
            setup = Setup(encode(plan), max_line or MAX_LINE, max_expanded, replayed, parameters, columns)
            rows = _by_workers(_executor(plan, setup, jobs, ray), fresh, log, summary)
        elif isinstance(judge, BatchJudge):
            engine, place = Engine(plan, parameters, gates_only=gates_only), os.path.abspath(out)
            results = judge.results(engine, made.noted(fresh), place, lambda scheduler: watch(scheduler, summary))
            rows = map(made.row, results)
        else:
            answering = recording or _limited(judge, log, max_calls)
            results = execute(plan, made.noted(fresh), answering, parameters=parameters, gates_only=gates_only)
            rows = map(made.row, results)
        if log.steps:
            folder.reopen()
        else:
            folder.clear(keep_replies=resume)
        try:
            with writer:
                writer.add_all(rows, progress)
                return writer.finish(plan, lambda: _about(plan, parameters, judge, gates_only=gates_only))
        except DiskError as stopped:
            raise stopped.error from None


def _settings(settings: Sequence[Json]) -> str:
    """What else determines the bytes of a run, as its log keeps it."""
    return msgspec.json.encode(settings, order="deterministic").decode()


def _executor(plan: Plan, setup: Setup, jobs: int, ray: str | None) -> Executor:
    """Who judges: so many processes, or a Ray cluster. Raises PlanError for a plan that can't run."""
    Engine(plan, setup.parameters)  # it is refused before anything is written
    if ray is None:
        from rulewright_runtime.runs.jobs import Workers

        return Workers(setup, jobs)
    from rulewright_runtime.runs.ray_tasks import RayTasks

    return RayTasks(setup, ray, jobs)


def _by_workers(executor: Executor, fresh: Iterator[Any], log: Log, summary: Summary) -> Iterator[Row]:
    """The rows of other processes."""
    from rulewright_runtime.runs.jobs import judged

    return judged(executor, fresh, log, summary)


def _opened(
    judge: Judge | BatchJudge | str | None, max_expanded: int, *, is_spread: bool
) -> tuple[Judge | BatchJudge | None, str]:
    """The judge, and who it is. Raises JudgeError where it can't be opened, PlanError where it needs one process."""
    if judge is None:
        return None, ""
    opened = open_judge(judge, max_expanded) if isinstance(judge, str) else judge
    if is_spread and isinstance(opened, AnsweredElsewhere):
        raise PlanError("`jobs` and `ray` are for recorded replies; one process reads answers to exported questions")
    return opened, identity(opened)


def _refuse_jobs(judge: Judge | BatchJudge | str | None, calls: int | None, *, gates_only: bool) -> None:
    """Raise PlanError where several processes can't judge."""
    if gates_only:
        raise PlanError("`gates_only` needs one process; leave it out, or `jobs` and `ray`")
    if judge is not None and not isinstance(judge, str):
        raise PlanError(
            "`jobs` and `ray` are for runs that ask no model; one process asks a model many questions at a time"
        )
    if calls is not None:
        raise PlanError("`max_calls` needs one process that counts the calls; leave it out, or `jobs` and `ray`")


def _fresh(log: Log, reader: Reader, paths: Iterable[str | os.PathLike[str]], *, is_spread: bool) -> Iterator[Any]:
    """What is not done yet: inputs, or for other processes pieces of them."""
    if not is_spread:
        return log.skip_done(reader.read(paths))
    from rulewright_runtime.runs.jobs import left

    return left(reader, paths, log)


def _refuse_to_overwrite(folder: RunFolder) -> None:
    """Raise PlanError where the folder holds a run."""
    if folder.log is None and folder.replies is None and not folder.is_of_an_earlier_version:
        return
    state, cure = (
        ("a finished run", "replace it with `--overwrite`")
        if folder.is_finished
        else ("a run that is not finished", "continue it with `--resume`, replace it with `--overwrite`")
    )
    raise PlanError(f"`{folder.path}` holds {state}; {cure} or choose another folder")


def _log(folder: RunFolder, header: Header, resume: bool) -> Log:
    """What is done already."""
    if not resume:
        return Log(header)
    if folder.log is not None:
        return read_log(folder.log, header)
    if folder.is_of_an_earlier_version:
        raise PlanError(f"an earlier version began the run in `{folder.path}`; replace the run with `--overwrite`")
    return Log(header)


def _recording(
    judge: Judge | BatchJudge | None, folder: RunFolder, resume: bool, calls: int | None
) -> RecordingJudge | None:
    """The judge with its answers written down, unless they are recorded already."""
    if judge is None or isinstance(judge, BatchJudge) or getattr(judge, "recorded", False):
        return None
    return RecordingJudge(judge, folder.replies if resume else None, calls)


def _limited(judge: Judge | None, log: Log, calls: int | None) -> Judge | None:
    if judge is None or calls is None:
        return judge
    return LimitedJudge(judge, calls - sum(step.calls for step in log.steps))


def _refuse_limits(**given: tuple[int | None, int]) -> None:
    """Raise PlanError for a limit that is smaller than the least that makes sense."""
    for option, (limit, least) in given.items():
        if limit is not None and limit < least:
            raise PlanError(f"`{option}` is {limit}; expected at least {least}")


def _about(
    plan: Plan, parameters: JsonMapping | None, judge: Judge | BatchJudge | None, *, gates_only: bool
) -> JsonObject:
    scorecard = plan.scorecard.name if plan.scorecard is not None else None
    about = {"profile": plan.profile, "scorecard": scorecard, "semantics": plan.semantics}
    given: dict[str, object] = {"parameters": dict(sorted(parameters.items()))} if parameters else {}
    given |= {"gates_only": True} if gates_only else {}
    given |= {"price": price} if (price := getattr(judge, "price", None)) is not None and needs_judge(plan) else {}
    return {**about, "language": plan.language, "plan": plan.hash, **given, "judge": _judge(plan, judge)}


def _judge(plan: Plan, judge: Judge | BatchJudge | None) -> dict[str, object] | None:
    """Who judged; None where the plan asks nobody."""
    if judge is None or not needs_judge(plan):
        return None
    record: dict[str, object] = msgspec.to_builtins(who_judged(judge, prompts_of(plan)))
    return record


def _summary(folder: RunFolder) -> dict[str, object]:
    """What a finished run said. Raises PlanError where somebody damaged it."""
    with open(folder.at(SUMMARY), "rb") as stream:
        try:
            return msgspec.json.decode(stream.read(), type=JsonObject)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise damaged(folder.at(SUMMARY)) from None


class _Served(msgspec.Struct):
    """What a recount needs of an exchange."""

    model: str = ""


class _Writer:
    """Writes the parts of one run, and knows how far they are good."""

    def __init__(
        self, folder: RunFolder, log: Log, recording: RecordingJudge | None, summary: Summary, *, keeps_exchanges: bool
    ) -> None:
        self._folder, self._log = folder, log
        self._recording = recording
        self._streams: dict[str, IO[bytes]] = {}
        self._lines: list[bytes] = []  # steps that wait until the disk has their rows
        self._synced = monotonic()
        last = log.steps[-1] if log.steps else LogStep("", "", 0, 0, 0, 0)
        self._rows = (*ROWS, REPLIES) if keeps_exchanges else ROWS
        self._sizes, self._checksum = [last.verdicts, last.scores, last.replies][: len(self._rows)], last.rows
        self._calls = sum(step.calls for step in log.steps)
        self._served: set[str] = set()  # the models that answered, by the names the endpoint gave
        self.done = len(log.steps)
        self.summary = summary

    def __enter__(self) -> _Writer:
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is not None and self._streams:  # what is done is not to be lost; where it can't be written, less is
            with suppress(OSError):
                self._sync()
        self._close()

    def _close(self) -> None:
        for stream in (*self._streams.values(), *([self._recording] if self._recording else ())):
            with suppress(OSError):
                stream.close()
        self._streams.clear()

    def _open(self) -> None:
        """Take up the parts where the log says they are good."""
        for row, size in zip(self._rows, self._sizes, strict=True):
            path = self._folder.part(row)
            if size and (not os.path.exists(path) or os.path.getsize(path) < size):
                raise damaged(path)
        self._recount()
        for row, size in zip(self._rows, self._sizes, strict=True):
            self._streams[row] = open_part(self._folder.part(row), size)
        self._streams[LOG] = open_part(self._folder.part(LOG), self._log.size)
        if not self._log.steps:
            self._streams[LOG].write(line_of(self._log.header))
            self._streams[LOG].flush()
        if self._recording is not None:
            self._recording.open(self._folder.part(REPLIES))
        sync_folder(self._folder.path)

    def _recount(self) -> None:
        """Take what is done into the summary. Raises PlanError where its rows are not those that were written."""
        if not self._log.steps:
            return
        if REPLIES in self._rows:
            with open(self._folder.part(REPLIES), "rb") as stream:
                for line in stream.read(self._sizes[2]).splitlines():
                    self._served.add(msgspec.json.decode(line, type=_Served).model)
        with open(self._folder.part(ROWS[0]), "rb") as verdicts, open(self._folder.part(ROWS[1]), "rb") as scores:
            checksum, before = 0, (0, 0)
            for step in self._log.steps:
                found = verdicts.read(step.verdicts - before[0]), scores.read(step.scores - before[1])
                checksum, before = crc32(found[1], crc32(found[0], checksum)), (step.verdicts, step.scores)
                if checksum != step.rows:
                    raise damaged(self._folder.part(ROWS[0]))
                count(self.summary, _row_of(step, *found))

    def add_all(self, rows: Iterable[Row], progress: Callable[[int], None]) -> None:
        """Write down every row; `progress` is given the number of those that are done."""
        for row in rows:
            self.add(row)
            progress(self.done)

    def add(self, row: Row) -> None:
        """Write down one row. It is done when the log says so, a moment later."""
        for at, data in enumerate((row.verdicts, row.scores)):
            self._sizes[at] += self._streams[ROWS[at]].write(data)
            self._checksum = crc32(data, self._checksum)
        replies = 0
        if REPLIES in self._rows:
            self._sizes[2] += self._streams[REPLIES].write(row.replies)
            self._served.update(row.served)
            replies = self._sizes[2]
        self._calls += row.calls
        step = LogStep(
            row.input,
            row.digest,
            self._sizes[0],
            self._sizes[1],
            self._checksum,
            row.calls,
            row.refused,
            row.harness,
            replies,
            row.path,
            row.line,
            row.said,
        )
        self._lines.append(line_of(step))
        self.done += 1
        if monotonic() - self._synced > LOST_SECONDS:
            self._sync()

    def _sync(self) -> None:
        """First the rows, then the lines that say how far they are good."""
        for row in self._rows:
            sync(self._streams[row])
        if self._recording is not None:
            self._recording.sync()
        self._streams[LOG].write(b"".join(self._lines))
        self._lines.clear()
        sync(self._streams[LOG])
        self._synced = monotonic()

    def finish(self, plan: Plan, about: Callable[[], JsonObject]) -> JsonObject:
        """Write the summary and give all files their names."""
        self._sync()
        if self._recording is not None:
            self._recording.finish()
        told = about()
        if served := sorted(self._served - {""}):
            told["judge"]["served_models"] = served
        self.summary.about = {**told, "judge_calls": self._calls}
        summary = self.summary.result()
        shown = msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"
        last = {"plan.json": encode(plan), "summary.md": markdown(summary).encode(), SUMMARY: shown}
        self._close()
        self._folder.commit(plan, last)
        return summary


def _row_of(step: LogStep, verdicts: bytes, scores: bytes) -> Row:
    """The row that a step of the log stands for."""
    about = (step.input, step.digest, step.said, step.path, step.line)
    return Row(*about, step.refused, step.harness, step.calls, verdicts, scores)
