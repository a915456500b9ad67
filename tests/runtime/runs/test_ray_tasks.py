"""Ray tasks: the same bytes as from one process. `make ray` runs this with the real Ray, also when a worker is killed;
elsewhere a stand-in carries out the tasks."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.runtime.runs.test_jobs import REPLIES, Killed, data, run
from tests.shipped_plans import shipped_plan

from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.runs import store
from rulewright_runtime.runs.jobs import WorkerEndedError

__all__ = ["data"]
real = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed here; `make ray` installs it")


class StandIn:
    """Carries out every task when its answer is asked for, and keeps what it was told."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.is_running = False
        self.begun = self.ended = 0
        self.exceptions = SimpleNamespace(RayError=MemoryError)

    def is_initialized(self) -> bool:
        return self.is_running

    def init(self, **settings: Any) -> None:
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        self.started.append(settings)
        self.is_running = True

    def shutdown(self) -> None:
        self.is_running = False
        self.ended = self.begun

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def put(self, value: bytes) -> bytes:
        return value

    def remote(self, *, max_retries: int) -> Callable[[Callable[..., bytes]], SimpleNamespace]:
        assert max_retries == 2

        def begin(setup: bytes, task: bytes) -> tuple[bytes, bytes]:
            assert (type(setup), type(task)) == (bytes, bytes)  # no object of ours is pickled
            self.begun += 1
            assert self.begun - self.ended <= 7
            return setup, task

        def made(function: Callable[..., bytes]) -> SimpleNamespace:
            self.function = function
            return SimpleNamespace(remote=begin)

        return made

    def get(self, reference: tuple[bytes, bytes]) -> bytes:
        self.ended += 1
        return self.function(*reference)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    made = StandIn()
    monkeypatch.setitem(sys.modules, "ray", made)
    return made


def test_a_cluster_writes_the_same_bytes(cluster: StandIn, data: Path, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", data)
    assert run(tmp_path / "here", data, ray="local", jobs=2) == whole
    assert run(tmp_path / "there", data, ray="ray://head:10001") == whole
    assert [each["address"] for each in cluster.started] == ["local", "ray://head:10001"]
    assert cluster.started[0]["num_cpus"] == 2
    assert not cluster.started[0]["include_dashboard"]
    assert "num_cpus" not in cluster.started[1]
    assert cluster.begun > 4
    assert not cluster.is_running


def test_a_cluster_that_runs_already_is_left_running(cluster: StandIn, data: Path, tmp_path: Path) -> None:
    cluster.is_running = True
    run(tmp_path / "run", data, ray="auto")
    assert cluster.started == []
    assert cluster.is_running


def test_a_run_that_was_killed_is_resumed_on_a_cluster(cluster: StandIn, data: Path, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", data)

    def kill(done: int) -> None:
        if done == 7:
            raise Killed

    with pytest.raises(Killed):
        run(tmp_path / "run", data, ray="auto", progress=kill)
    assert not cluster.is_running
    assert run(tmp_path / "run", data, ray="auto", resume=True) == whole


def test_a_cluster_that_fails_stops_the_run_and_loses_nothing(
    cluster: StandIn, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole", data)

    def failing(_: object) -> bytes:
        raise MemoryError("the worker died\nunexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(cluster, "get", failing)
        with pytest.raises(WorkerEndedError, match=r"gave no answer to a task: the worker died$"):
            run(tmp_path / "run", data, ray="auto")
    assert run(tmp_path / "run", data, resume=True) == whole


@pytest.mark.parametrize("error", [ConnectionError, RuntimeError, ValueError, Exception])
def test_a_cluster_that_can_not_be_reached_is_named_and_nothing_is_lost(
    error: type[Exception], cluster: StandIn, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(**_: object) -> None:
        raise error("the node timed out\nduring its start")

    monkeypatch.setattr(cluster, "init", unreachable)
    with pytest.raises(WorkerEndedError, match=r"`ray://head:1` can't be reached: the node timed out$"):
        run(tmp_path / "run", data, ray="ray://head:1")
    assert run(tmp_path / "run", data, resume=True) == run(tmp_path / "whole", data)


def test_what_a_cluster_can_not_do_is_refused(cluster: StandIn, data: Path, tmp_path: Path) -> None:
    for settings, reason in (({"max_calls": 3}, "one process that counts"), ({"gates_only": True}, "one process")):
        with pytest.raises(PlanError, match=reason):
            run(tmp_path / "run", data, ray="auto", **settings)
    with pytest.raises(PlanError, match="`jobs` and `ray` are for runs that ask no model"):
        store.run(shipped_plan(profile="publish"), [data], tmp_path / "run", judge=object(), ray="auto")  # type: ignore[arg-type]
    assert cluster.started == []


def test_without_ray_the_extra_is_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PlanError, match=r"pip install 'rulewright-runtime\[ray\]'"):
        run(tmp_path / "run", data, ray="local")


def workers_of_ours() -> list[int]:
    """The processes of Ray that carry out tasks and descend from this one."""
    parents: dict[int, int] = {}
    titles: dict[int, bytes] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                titles[int(entry.name)] = (entry / "cmdline").read_bytes()
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sorted(
        child for child in ours - {os.getpid()} if titles.get(child, b"").startswith((b"ray::answer_of", b"ray::IDLE"))
    )


@real
def test_the_real_ray_writes_the_same_bytes_also_when_a_worker_is_killed(data: Path, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", data)
    killed: list[int] = []

    def kill(done: int) -> None:
        if done in (2, 20):
            found = workers_of_ours()
            killed.extend(found)
            for worker in found:
                os.kill(worker, signal.SIGKILL)

    assert run(tmp_path / "run", data, ray="local", jobs=2, progress=kill) == whole
    assert killed
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


@real
def test_the_command_line_of_the_runtime_runs_on_ray(data: Path, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", data, parameters={})
    (tmp_path / "plan.json").write_bytes(encode(shipped_plan(profile="publish")))
    words = [str(tmp_path / "plan.json"), str(data), "--judge", REPLIES, "--out", str(tmp_path / "run")]
    program = [sys.executable, "-m", "rulewright_runtime", "run", *words, "--jobs", "2", "--ray", "local"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2, 3), done.stderr
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "run").iterdir())} == whole
