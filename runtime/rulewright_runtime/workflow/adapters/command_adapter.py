"""Agents that are commands: the brief on standard input, files on disk, the reply on standard output."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from rulewright_runtime.english import reason_of
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply, Brief, OnStart, read_reply
from rulewright_runtime.workflow.adapters.process_watchdog import CAN_NOT_START

MAX_REPLY: Final = 4 * 2**20  # bytes
MAX_ERRORS: Final = 64 * 2**20  # bytes on standard error, of which the last line is shown
PAUSE: Final = 0.5  # seconds between looks at what a command has written
PATIENCE: Final = 10.0  # seconds for the watchdog to end a command's processes
_ALWAYS: Final = ("PATH",)  # environment variables that every command sees
_WATCHDOG: Final = str(Path(__file__).with_name("process_watchdog.py"))

LOG: Final = logging.getLogger("rulewright.workflow")


class CommandAdapter:
    """Runs `command` in `folder` for every call, never through a shell."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Sequence[str] = (), on_start: OnStart = lambda _: None
    ) -> None:
        """The command sees only `PATH` and the variables named in `environment`."""
        self._command, self._folder, self._environment = list(command), folder, (*_ALWAYS, *environment)
        self._on_start = on_start

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the command's reply. Raises AgentError for an exit code other than 0, a timeout, or a reply that is
        too long or can't be used."""
        variables = {name: os.environ[name] for name in self._environment if name in os.environ}
        code, out, err = run_command(self._command, brief.as_json(), self._folder, timeout, variables, self._on_start)
        if code != 0:
            lines = err.decode(errors="replace").strip().splitlines()
            if code == CAN_NOT_START and lines and lines[-1].startswith(f"`{self._command[0]}` can't be started"):
                raise AgentError(lines[-1], is_final=True)
            raise AgentError(f"`{self._command[0]}` ended with exit code {code}" + (f": {lines[-1]}" if lines else ""))
        try:
            return read_reply(out.decode("utf-8"), brief.purpose)
        except UnicodeDecodeError:
            raise AgentError("the reply is not UTF-8") from None


def run_command(
    command: Sequence[str],
    data: bytes,
    folder: Path,
    timeout: float,
    environment: Mapping[str, str],
    on_start: OnStart = lambda _: None,
) -> tuple[int, bytes, bytes]:
    """Run a command with `data` on standard input. Returns exit code, standard output and standard error.

    All processes that it started end with it. Raises AgentError, and what `on_start` raises, before the command starts.
    """
    with ExitStack() as stack:  # files, so that no pipe can fill up
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(data)
        given.seek(0)
        with _watchdog_process(command, folder, environment, (given, out, err), on_start) as process:
            _wait(process, timeout, command[0], (out, err))
        _check_sizes((out, err))
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - 4000))
        return process.returncode, out.read(), err.read()


def _wait(process: subprocess.Popen[bytes], timeout: float, name: str, written: Sequence[IO[bytes]]) -> None:
    """Wait for the end. Raises AgentError after `timeout` seconds, or when too much is written: an endless reply must
    not fill the disk."""
    end = time.monotonic() + timeout
    while True:
        try:
            process.wait(max(0.0, min(PAUSE, end - time.monotonic())))
            return
        except subprocess.TimeoutExpired:
            _check_sizes(written)
            if time.monotonic() >= end:
                raise AgentError(f"`{name}` took longer than {timeout:g} seconds") from None


def _check_sizes(written: Sequence[IO[bytes]]) -> None:
    for stream, kind, limit in zip(written, ("reply", "error output"), (MAX_REPLY, MAX_ERRORS), strict=True):
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise AgentError(f"the {kind} has {size} bytes; at most {limit} are read")


@contextmanager
def _watchdog_process(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    on_start: OnStart,
) -> Generator[subprocess.Popen[bytes]]:
    """Run the command under its watchdog, and end all of its processes at exit."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _WATCHDOG, str(reading), *command],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            cwd=folder,
            env=dict(environment),
            pass_fds=(reading,),
            start_new_session=True,
        )
    except OSError as error:
        os.close(writing)
        raise AgentError(f"`{command[0]}` can't be started: {reason_of(error)}") from None
    finally:
        os.close(reading)
    try:
        on_start(process.pid)
        os.write(writing, b"1")
        yield process
    finally:
        os.close(writing)
        _end(process, command[0])


def _end(process: subprocess.Popen[bytes], name: str) -> None:
    """Wait until the watchdog has ended all processes, which it does when its pipe is closed."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        LOG.warning("processes that `%s` started could not be ended", name)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
