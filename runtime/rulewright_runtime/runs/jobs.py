"""Jobs: the rows of a run from several worker processes or the machines of a Ray cluster, in the order of the inputs,
byte-equal to those of one process.

A worker that ends is replaced, and its task is given to another. The workers of a cluster receive the plan and pieces
of the input, as bytes; the files must have the same paths on every machine. Only the process that locks the run's
folder writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from queue import SimpleQueue
from threading import Lock
from typing import Any, Final, TypeVar

import msgspec

from rulewright_runtime.errors import InputError, PlanError, RuntimeFailure
from rulewright_runtime.report.summary import Summary
from rulewright_runtime.runs.log import Log, refused_step, step_of
from rulewright_runtime.runs.run_rows import Row, Setup, count
from rulewright_runtime.runs.worker import Answer, PieceTask, Worker, next_frame, put_frame
from rulewright_runtime.transcripts.pieces import Piece
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.transcripts.turn_lines import printable

TASK_BYTES: Final = 2**20  # of input that are judged together
TASK_FILES: Final = 256
AHEAD: Final = 3  # tasks per worker that are started before the next result is due
ATTEMPTS: Final = 3  # workers that may end on the same task


Begun = TypeVar("Begun")


class WorkerEndedError(RuntimeFailure):
    """Several workers ended without an answer to the same task."""


def in_order(
    tasks: Iterable[PieceTask | InputError],
    begin: Callable[[PieceTask], Begun],
    end: Callable[[Begun], Answer],
    most: int,
) -> Iterator[Answer]:
    """Yield an answer for each task: `begin` starts one, `end` waits for its answer; at most `most` tasks are ahead.

    Raises PlanError for a failure that ends the run.
    """
    started: deque[Begun | InputError] = deque()

    def next_answer() -> Answer:
        first = started.popleft()
        answer = _refused(first) if isinstance(first, InputError) else end(first)
        if answer.failure:
            raise PlanError(answer.failure)
        return answer

    for task in tasks:
        started.append(begin(task) if isinstance(task, PieceTask) else task)
        if len(started) > most:
            yield next_answer()
    while started:
        yield next_answer()


class Workers:
    """Worker processes, started on demand."""

    def __init__(self, setup: Setup, jobs: int) -> None:
        self._setup = msgspec.msgpack.encode(setup)
        self._jobs = jobs
        self._idle: SimpleQueue[subprocess.Popen[bytes] | None] = SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        self._starting = Lock()
        self._ended = False
        for _ in range(jobs):
            self._idle.put(None)

    def answers(self, tasks: Iterable[PieceTask | InputError]) -> Iterator[Answer]:
        """Yield an answer for each task, in order. An InputError is a refused input.

        Raises WorkerEndedError, and PlanError for a failure that ends the run.
        """
        executor = ThreadPoolExecutor(self._jobs)

        def begin(task: PieceTask) -> Future[Answer]:
            return executor.submit(self._answer, task)

        try:
            yield from in_order(tasks, begin, lambda begun: begun.result(), AHEAD * self._jobs)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            self._end()
            executor.shutdown()

    def _answer(self, task: PieceTask) -> Answer:
        message = msgspec.msgpack.encode(task)
        for _ in range(ATTEMPTS):
            worker = self._idle.get()
            reply = None
            try:
                worker = worker or self._start()
                reply = _ask(worker, message)
            finally:  # a worker without an answer is replaced
                self._idle.put(worker if reply is not None else None)
            if reply is not None:
                return msgspec.msgpack.decode(reply, type=Answer)
        where = printable(task.pieces[0].path)
        raise WorkerEndedError(f"{ATTEMPTS} worker processes ended without an answer, at `{where}` or after it")

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "rulewright_runtime.runs.worker"]
        with self._starting:
            if self._ended:
                raise WorkerEndedError("the run is ending")
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._started.append(worker)
        _send(worker, self._setup)
        return worker

    def _end(self) -> None:
        with self._starting:
            self._ended = True
        for worker in self._started:
            worker.kill()  # workers write no files
            worker.communicate()


def _send(worker: subprocess.Popen[bytes], message: bytes) -> bool:
    assert worker.stdin is not None
    try:
        put_frame(worker.stdin, message)
    except OSError:  # it ended
        return False
    return True


def _ask(worker: subprocess.Popen[bytes], message: bytes) -> bytes | None:
    assert worker.stdout is not None
    return next_frame(worker.stdout) if _send(worker, message) else None


def _refused(error: InputError) -> Answer:
    return Answer((Row(refused_step(step_of(error), error)),))


def judged(
    answers: Callable[[Iterable[PieceTask | InputError]], Iterator[Answer]],
    pieces: Iterable[tuple[Piece, int] | InputError],
    log: Log,
    summary: Summary,
    source: Reader,
) -> Iterator[Row]:
    """Yield the rows of the inputs in `pieces`, as `Log.skip_done_pieces` gives them; each is in `summary` when it is
    yielded. The columns that their records had, and the names that were read as text, are added to `source`.

    `answers` is the method of `Workers` or of Ray's tasks, whose errors are raised.
    """
    reader = Reader()
    for step in log.steps:
        if step.conversation:
            reader.register_id(step.input, step.path, step.line)
    for answer in answers(_tasks(pieces)):
        source.used_columns.update(answer.columns)
        source.labels.update(answer.labels)
        rows = [_unique(row, reader) for row in answer.rows]
        if answer.summary and all(row is original for row, original in zip(rows, answer.rows, strict=True)):
            summary.merge(msgspec.msgpack.decode(answer.summary, type=Summary))
        else:
            for row in rows:
                count(summary, row.step, row.verdicts, row.scores)
        yield from rows


def _unique(row: Row, reader: Reader) -> Row:
    """The row, or the refusal of a transcript whose id was read before."""
    step = row.step
    if not step.conversation:  # it is refused already
        return row
    error = reader.register_id(step.input, step.path, step.line)
    return row if error is None else _refused(error).rows[0]


def _tasks(pieces: Iterable[tuple[Piece, int] | InputError]) -> Iterator[PieceTask | InputError]:
    """Group the pieces into tasks of about the same size."""
    batch: list[Piece] = []
    size = done = 0
    for item in pieces:
        ends = isinstance(item, InputError) or item[1] > 0
        if batch and (ends or size >= TASK_BYTES or len(batch) >= TASK_FILES):
            yield PieceTask(tuple(batch), done)
            batch, size, done = [], 0, 0
        if isinstance(item, InputError):
            yield item
            continue
        done = done or item[1]
        batch.append(item[0])
        size += item[0].size
    if batch:
        yield PieceTask(tuple(batch), done)


HERE: Final = "local"  # the address that starts a cluster on this machine for the duration of the run


class RayTasks:
    """The tasks of a run as tasks of a Ray cluster."""

    def __init__(self, setup: Setup, address: str, jobs: int) -> None:
        """`address` is one of `ray.init`, or `local`, which runs `jobs` tasks at a time on this machine.

        Raises PlanError if Ray is not installed.
        """
        try:
            import ray  # takes seconds to load
        except ImportError:
            raise PlanError("Ray is not installed: `pip install 'rulewright-runtime[ray]'`") from None
        self._ray: Any = ray
        self._setup, self._address, self._jobs = msgspec.msgpack.encode(setup), address, jobs

    def answers(self, tasks: Iterable[PieceTask | InputError]) -> Iterator[Answer]:
        """Yield an answer for each task, in order. An InputError is a refused input.

        Raises WorkerEndedError, and PlanError for a failure that ends the run.
        """
        ray = self._ray
        try:
            with self._cluster() as cores:
                setup = ray.put(self._setup)
                judge = ray.remote(max_retries=ATTEMPTS - 1)(answer_of)
                yield from in_order(
                    tasks,
                    lambda task: judge.remote(setup, msgspec.msgpack.encode(task)),
                    lambda reference: msgspec.msgpack.decode(ray.get(reference), type=Answer),
                    AHEAD * cores,
                )
        except ray.exceptions.RayError as error:
            raise WorkerEndedError(f"the Ray cluster gave no answer to a task: {_first_line(error)}") from None

    @contextmanager
    def _cluster(self) -> Generator[int]:
        """Connect to the cluster, unless it is connected already; yields its number of cores. Raises
        WorkerEndedError."""
        ray = self._ray
        is_ours = not ray.is_initialized()
        if is_ours:
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage data is sent
            settings: dict[str, object] = {"logging_level": "ERROR", "log_to_driver": False}
            if self._address == HERE:
                settings |= {"num_cpus": self._jobs, "include_dashboard": False}
            try:
                ray.init(address=self._address, **settings)
            except Exception as error:  # Ray raises errors of any type, also plain ones
                raise WorkerEndedError(
                    f"the Ray cluster `{self._address}` can't be reached: {_first_line(error)}"
                ) from None
        try:
            yield max(1, int(ray.cluster_resources().get("CPU", 1)))
        finally:
            if is_ours:
                ray.shutdown()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def answer_of(setup: bytes, task: bytes) -> bytes:
    """The answer to a task; arguments and result are MessagePack."""
    try:
        answer = _worker(setup).answer(msgspec.msgpack.decode(task, type=PieceTask))
    except RuntimeFailure as failure:
        answer = Answer(failure=str(failure))
    return msgspec.msgpack.encode(answer)


@lru_cache(maxsize=1)
def _worker(setup: bytes) -> Worker:
    """The worker of this process, prepared once."""
    return Worker(msgspec.msgpack.decode(setup, type=Setup))
