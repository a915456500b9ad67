"""Runs a command and ends every process it started: when it exits, and when the engine is gone, even killed.

The watchdog runs between the engine and an agent's command, as a script that imports nothing of ours:
`process_watchdog.py DESCRIPTOR COMMAND ...`. The descriptor is the reading end of a pipe from the engine: a byte starts
the command, the end of the pipe ends all processes.

Where the system permits it, the command has its own PID namespace and `/proc`: its processes can neither see nor signal
anything outside, and die with the first process of the namespace. Elsewhere on Linux the watchdog is the subreaper of
the command's processes, so that one that left its group, its session and its parent is still a descendant. On other
systems the command's process group is ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

CAN_NOT_START = 127
PAUSE = 0.005  # seconds between two checks for live processes
_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CLONE_NEWNS, _CLONE_NEWPID = 0x0002_0000, 0x2000_0000
_MS_NOSUID_NODEV_NOEXEC, _MS_REC, _MS_SLAVE = 2 | 4 | 8, 0x4000, 0x80000


class Watchdog:
    """One command and everything it starts."""

    def __init__(self, descriptor: int, command: Sequence[str]) -> None:
        """`descriptor` is the reading end of the engine's pipe."""
        self._descriptor, self._command = descriptor, command
        self._group = 0  # of the command, on systems without subreapers

    def run(self) -> int:
        """Run the command with our standard streams and return its exit code."""
        if not os.read(self._descriptor, 1):
            return CAN_NOT_START
        inner = None
        if _LINUX:
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
            inner = _in_namespace(self._command)
        threading.Thread(target=self._watch, daemon=True).start()
        code = self._run() if inner is None else _exit_code(os.waitpid(inner, 0)[1])
        self.end_all()
        return code

    def _run(self) -> int:
        """Run the command as our child, in its own session: `kill 0` in a script must not end the watchdog."""
        try:
            before = _die_with_parent if _LINUX else None
            process = subprocess.Popen(self._command, start_new_session=True, preexec_fn=before)
        except OSError as error:
            return _report_failed_start(self._command, error)
        self._group = process.pid
        code = process.wait()
        return code if code >= 0 else 128 - code

    def _watch(self) -> None:
        """Wait until the engine's end of the pipe is closed, then end all processes."""
        os.read(self._descriptor, 1)
        self.end_all()
        os._exit(CAN_NOT_START)

    def end_all(self) -> None:
        """Kill every descendant of this process. Orphans become our children, so none is missed."""
        if self._group and not _LINUX:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)
        while alive := descendants(os.getpid()):
            for pid in alive:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(PAUSE)


def descendants(ancestor: int) -> list[int]:
    """Return the ids of all descendants of `ancestor`, including zombies; empty without `/proc`."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
                children.setdefault(int(stat.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    pids: list[int] = []
    pending = [ancestor]
    while pending:
        direct = children.get(pending.pop(), [])
        pids += direct
        pending += direct
    return pids


def _in_namespace(command: Sequence[str]) -> int | None:
    """Fork a process that runs the command in a PID namespace. Returns its id, or None without the permission.

    The forked process enters the namespace and only waits, so that the watchdog itself stays outside.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(Exception):
            _enter(command, writing)
        os._exit(CAN_NOT_START)
    os.close(writing)
    entered = os.read(reading, 1)
    os.close(reading)
    if entered:
        return child
    os.waitpid(child, 0)
    return None


def _enter(command: Sequence[str], entered: int) -> None:
    """Create the namespace and wait for its first process."""
    _die_with_parent()
    if _libc().unshare(_CLONE_NEWPID | _CLONE_NEWNS) != 0:
        return
    first = os.fork()
    if first == 0:
        with suppress(Exception):
            _first(command, entered)
        os._exit(CAN_NOT_START)
    os.close(entered)
    os._exit(_exit_code(os.waitpid(first, 0)[1]))


def _first(command: Sequence[str], entered: int) -> None:
    """Run as the first process of the namespace: start the command and reap orphans. Our exit ends all others."""
    _die_with_parent()
    flags = ctypes.c_ulong
    if _libc().mount(b"none", b"/", None, flags(_MS_REC | _MS_SLAVE), None) != 0:
        return
    if _libc().mount(b"proc", b"/proc", b"proc", flags(_MS_NOSUID_NODEV_NOEXEC), None) != 0:
        return
    os.write(entered, b"1")
    os.close(entered)
    try:
        process = subprocess.Popen(command, start_new_session=True)
    except OSError as error:
        os._exit(_report_failed_start(command, error))
    while True:
        pid, status = os.wait()
        if pid == process.pid:
            os._exit(_exit_code(status))


def _report_failed_start(command: Sequence[str], error: OSError) -> int:
    print(f"`{command[0]}` can't be started: {error.strerror or error}", file=sys.stderr, flush=True)
    return CAN_NOT_START


def _die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _prctl(option: int, value: int) -> None:
    _libc().prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(Watchdog(int(sys.argv[1]), sys.argv[2:]).run())
