"""Ray tasks: the rows of a run from the machines of a Ray cluster, the same as from one process.

A worker is sent the plan and pieces of the input, as bytes; the files have to lie at the same paths on every machine. A
task whose worker ends is given to another one by Ray. Only the process that has the run's folder writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import msgspec

from rulewright_runtime.errors import InputError, PlanError, RuntimeFailure
from rulewright_runtime.runs.jobs import AHEAD, ATTEMPTS, WorkerEndedError, in_order
from rulewright_runtime.runs.worker import Answer, PieceTask, Setup, Worker

HERE: Final = "local"  # the address that starts a cluster on this machine, for the time of the run


class RayTasks:
    """The tasks of a run as tasks of a Ray cluster."""

    def __init__(self, setup: Setup, address: str, jobs: int) -> None:
        """At an `address` as `ray.init` takes it; on this machine alone (`local`) so many `jobs` run at a time.

        Raises PlanError where Ray is not installed.
        """
        try:
            import ray  # loads for seconds
        except ImportError:
            raise PlanError("Ray is not installed: `pip install 'rulewright-runtime[ray]'`") from None
        self._ray: Any = ray
        self._setup, self._address, self._jobs = msgspec.msgpack.encode(setup), address, jobs

    def answers(self, tasks: Iterable[PieceTask | InputError]) -> Iterator[Answer]:
        """An answer for each task, in their order. What is no task is a refused input.

        Raises WorkerEndedError, and PlanError for what a worker says that the run can't go on for.
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
            first = str(error).strip().partition("\n")[0]
            raise WorkerEndedError(f"the Ray cluster gave no answer to a task: {first}") from None

    @contextmanager
    def _cluster(self) -> Iterator[int]:
        """The number of cores of the cluster, which is left as it was found."""
        ray = self._ray
        is_ours = not ray.is_initialized()
        if is_ours:
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent to anybody
            quiet = {"logging_level": "ERROR", "log_to_driver": False}
            if self._address == HERE:
                ray.init(address=HERE, num_cpus=self._jobs, include_dashboard=False, **quiet)
            else:
                ray.init(address=self._address, **quiet)
        try:
            yield max(1, int(ray.cluster_resources().get("CPU", 1)))
        finally:
            if is_ours:
                ray.shutdown()


def answer_of(setup: bytes, task: bytes) -> bytes:
    """The answer to a task; all three are MessagePack."""
    try:
        answer = _worker(setup).answer(msgspec.msgpack.decode(task, type=PieceTask))
    except RuntimeFailure as failure:
        answer = Answer(failure=str(failure))
    return msgspec.msgpack.encode(answer)


@lru_cache(maxsize=1)
def _worker(setup: bytes) -> Worker:
    """The plan made ready once in a process."""
    return Worker(msgspec.msgpack.decode(setup, type=Setup))
