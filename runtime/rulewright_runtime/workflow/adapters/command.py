"""Agents that are commands: an argument list, the brief on standard input, files on disk, the reply on output."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rulewright_runtime.workflow.adapters.base import AdapterError, Brief, Reply, read_reply

MAX_REPLY: Final = 4 * 2**20  # bytes
_ALWAYS: Final = ("PATH",)


class CommandAdapter:
    """Runs `command` in `folder` for every call, never through a shell."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Sequence[str] = ()) -> None:
        """The command sees the variables named in `environment`, and `PATH`, and no other."""
        self._command, self._folder, self._environment = list(command), folder, (*_ALWAYS, *environment)

    def call(self, brief: Brief, timeout: float) -> Reply:
        """What the command writes. Exit codes other than 0, time-outs and too long replies are AdapterErrors."""
        code, out, err = run_command(self._command, brief.as_json(), self._folder, timeout, self._seen())
        if code != 0:
            said = err.decode(errors="replace").strip().splitlines()
            raise AdapterError(f"`{self._command[0]}` ended with exit code {code}" + (f": {said[-1]}" if said else ""))
        try:
            return read_reply(out.decode("utf-8"), brief.purpose)
        except UnicodeDecodeError:
            raise AdapterError("the reply is not UTF-8") from None

    def _seen(self) -> Mapping[str, str]:
        return {name: os.environ[name] for name in self._environment if name in os.environ}


def run_command(
    command: Sequence[str], given: bytes, folder: Path, timeout: float, environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of a command; whatever it started is ended with it. Raises AdapterError."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:  # files, so that no pipe can fill up
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise AdapterError(f"`{command[0]}` can't be started: {error.strerror or error}") from None
        try:
            process.communicate(given, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise AdapterError(f"`{command[0]}` took longer than {timeout:g} seconds") from None
        finally:
            _end(process)
        size = out.seek(0, os.SEEK_END)
        if size > MAX_REPLY:
            raise AdapterError(f"the reply has {size} bytes; at most {MAX_REPLY} are read")
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - 4000))
        return process.returncode, out.read(), err.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    except AttributeError:  # no process groups on this system
        process.kill()
    process.wait()
