"""Ray tasks: the rows of a run from the machines of a Ray cluster, byte-equal to those of one process.

A worker receives the plan and pieces of the input, as bytes; the files must have the same paths on every machine. Ray
gives a task whose worker ends to another worker. Only the process that locks the run's folder writes.
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
            first = str(error).strip().partition("\n")[0]
            raise WorkerEndedError(f"the Ray cluster gave no answer to a task: {first}") from None

    @contextmanager
    def _cluster(self) -> Iterator[int]:
        """Connect to the cluster, unless it is connected already; yields its number of cores."""
        ray = self._ray
        is_ours = not ray.is_initialized()
        if is_ours:
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage data is sent
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
