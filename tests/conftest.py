"""No test reads or writes the cache folder of the person who runs it, or depends on how fast the machine is."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO

import pytest
from hypothesis import HealthCheck, settings
from tests.browser import Browser, open_browser
from tests.rounds import rounds

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads next to other tests' took ten times as long

settings.register_profile(
    "any machine", deadline=None, max_examples=rounds(20, 100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


NUMBERS = count()


@pytest.hookimpl(optionalhook=True)  # `make ray` has no xdist
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: hundreds of tests wait for a process, a server or a pause."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collecting makes many objects and little garbage. The first worker compiles every module, and the others wait
    for what it writes: compiling takes three times as long as all the rest of collecting."""
    gc.disable()
    with Path(__file__).open() as lock:
        _take_turns(lock)
        return (yield)


if sys.platform == "win32":

    def _take_turns(lock: IO[str]) -> None:
        """Without `flock` all compile at once."""

else:
    import fcntl

    def _take_turns(lock: IO[str]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What was collected stays, and tests leave few cycles: looking for them as often as Python does took a sixth of
    all tests' time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def nobody_waits_for_the_disk() -> Iterator[None]:
    """No test ends with a power cut, but for those that note what was flushed and when (`tests/attack/disk.py`)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # of a file that is closed it is an error, too
        yield


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the folders of the tests: `mktemp` lists all its earlier folders each time it makes one."""
    return tmp_path_factory.mktemp("tests")


@pytest.fixture
def tmp_path(folders: Path) -> Path:
    """A new folder for each test."""
    folder = folders / str(next(NUMBERS))
    folder.mkdir()
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts this process and those that it starts: one that a shell runs in the background ignores it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests: it takes seconds to start."""
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def own_cache_folder(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for each test, made by the first that writes to it; other processes of the test use it too."""
    folder = folders / f"{next(NUMBERS)}-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "rulewright" / "lint"
