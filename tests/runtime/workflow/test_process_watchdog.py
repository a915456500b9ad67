"""Whatever a command starts ends with it, wherever it hides; with and without the right to a PID namespace."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.workflow.test_adapters import brief

from rulewright_runtime.workflow.adapters import AgentError
from rulewright_runtime.workflow.adapters import command_adapter as commands
from rulewright_runtime.workflow.adapters.command_adapter import CommandAdapter, run_command

fcntl = pytest.importorskip("fcntl", reason="a process holds no such lock here")

# Holds a lock until it ends, so that a test sees its end whatever its process id means elsewhere.
HOLD = """
import fcntl, time
held = open('held', 'w')
fcntl.flock(held, fcntl.LOCK_EX)
open('begun', 'w')
time.sleep(60)
"""
WAYS_OUT = {
    "child": "import subprocess, sys\nsubprocess.Popen([sys.executable, 'hold.py'])\n",
    "own session": "import subprocess, sys\nsubprocess.Popen([sys.executable, 'hold.py'], start_new_session=True)\n",
    "orphan in a session of its own, without environment": (
        "import os, sys\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        os.execve(sys.executable, [sys.executable, 'hold.py'], {})\n    os._exit(0)\n"
    ),
}
UNTIL_BEGUN = "import os, time\nwhile not os.path.exists('begun'): time.sleep(0.01)\n"
WITHOUT_NAMESPACE = """
import sys
sys.path.insert(0, {folder!r})
import process_watchdog
process_watchdog._in_namespace = lambda _: None
sys.exit(process_watchdog.Watchdog(int(sys.argv[1]), sys.argv[2:]).run())
"""


@pytest.fixture(params=["as permitted", "without namespace"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "hold.py").write_text(HOLD, encoding="utf-8")
    if request.param == "without namespace":
        watchdog = tmp_path / "watchdog.py"
        where = str(Path(commands.__file__).parent)
        watchdog.write_text(WITHOUT_NAMESPACE.format(folder=where), encoding="utf-8")
        monkeypatch.setattr(commands, "_WATCHDOG", str(watchdog))
    return tmp_path


def agent(code: str, folder: Path) -> CommandAdapter:
    return CommandAdapter([sys.executable, "-c", code], folder)


def ended(folder: Path) -> bool:
    with (folder / "held").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60  # four processes of Python start one after the other
    while not holds():
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.02)


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_process_that_outlived_its_command_is_ended(folder: Path, way: str) -> None:
    agent(WAYS_OUT[way] + UNTIL_BEGUN + "print('done')", folder).call(brief(), 60)
    assert ended(folder)


def test_a_command_that_takes_too_long_ends_with_all_it_started(folder: Path) -> None:
    code = WAYS_OUT["orphan in a session of its own, without environment"] + UNTIL_BEGUN + "time.sleep(60)"
    with pytest.raises(AgentError, match="longer than 1 seconds"):
        agent(code, folder).call(brief(), 1)
    assert ended(folder)


def test_everything_ends_when_its_parent_is_killed(folder: Path) -> None:
    code = WAYS_OUT["own session"] + "import time; time.sleep(60)"
    starter = (
        "from pathlib import Path\nimport sys\n"
        "from rulewright_runtime.workflow.adapters import command_adapter as command\n"
        f"command._WATCHDOG = {commands._WATCHDOG!r}\n"
        f"command.run_command([sys.executable, '-c', {code!r}], b'', Path('.'), 60, {{}})"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], cwd=folder)
    wait_until((folder / "begun").exists)
    process.kill()
    process.wait()
    wait_until(lambda: ended(folder))


def test_a_script_that_signals_its_whole_group_ends_as_it_meant_to(folder: Path) -> None:
    code, out, _ = run_command(["sh", "-c", "trap '' TERM; kill 0; echo done"], b"", folder, 60, dict(os.environ))
    assert (code, out) == (0, b"done\n")


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("exit 199", 199), ("kill -9 $$", 137), ("true", 0)])
def test_the_exit_code_is_that_of_the_command(folder: Path, script: str, code: int) -> None:
    assert run_command(["sh", "-c", script], b"", folder, 60, dict(os.environ))[0] == code


def test_a_command_does_not_start_before_its_process_is_known(folder: Path) -> None:
    def refuse(_: int) -> None:
        raise AgentError("nobody wrote it down")

    with pytest.raises(AgentError, match="nobody wrote it down"):
        run_command(["touch", "started"], b"", folder, 60, dict(os.environ), refuse)
    assert not (folder / "started").exists()


def test_an_unread_brief_does_not_block(folder: Path) -> None:
    assert run_command(["true"], b"x" * 2**20, folder, 60, dict(os.environ))[0] == 0


def test_a_process_reads_its_own_entry_in_proc(folder: Path) -> None:
    code = "import os\nprint(os.getpid() == int(open('/proc/self/stat').read().split()[0]))"
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system has no /proc")
    assert agent(code, folder).call(brief(), 60).summary == "True"
