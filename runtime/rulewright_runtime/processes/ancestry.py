"""Processes of this machine and their ancestors: which have ended, and which were started by a run."""

from __future__ import annotations

import getpass
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

_PROC: Final = Path("/proc")
_PS: Final = ("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "lstart=", "-o", "comm=")
_PS_ROW: Final = re.compile(r"\s*(\d+)\s+(\d+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)")

Via = Literal["command", "page", "program"]


class Process(msgspec.Struct, frozen=True):
    """A process: its id, its start time as the system writes it (ids are reused), and its program's name."""

    pid: int
    started: str
    name: str


class Host(msgspec.Struct, frozen=True):
    """The scope of process ids: one boot of one machine and one PID namespace; empty when unknown."""

    boot: str = ""
    namespace: str = ""


class Origin(msgspec.Struct, frozen=True):
    """Where a decision was taken: the system's user, the host, the terminal (empty: none), and the process with its
    ancestors, nearest first; `processes` is empty when the system does not list them."""

    via: Via
    user: str
    host: str
    terminal: str
    machine: Host
    processes: tuple[Process, ...]

    def describe(self) -> str:
        """Return user, host, terminal and programs in one line."""
        terminal = f" at {self.terminal}" if self.terminal else " without a terminal"
        programs = " < ".join(process.name for process in self.processes)
        suffix = f" ({programs})" if programs else ""
        return f"system user {self.user} on {self.host}{terminal}, by {self.via}{suffix}"


def here(via: Via) -> Origin:
    """Return the origin of this process."""
    return Origin(via, _user(), socket.gethostname(), _terminal(), machine(), ancestry())


def machine() -> Host:
    """Return the boot and the PID namespace of this process."""
    boot = namespace = ""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = os.readlink(_PROC / "self/ns/pid")
    return Host(boot or socket.gethostname(), namespace)


def ancestry(pid: int | None = None) -> tuple[Process, ...]:
    """Return the process `pid` (default: this one) and its ancestors; empty when the system does not list them."""
    if not (_PROC / "self/stat").exists():
        return tuple(_ancestors_in(_process_table(), os.getpid() if pid is None else pid))
    processes: list[Process] = []
    name = "self" if pid is None else str(pid)
    with suppress(OSError, ValueError, IndexError):
        while name != "0":
            parent, process = _stat(name)
            processes.append(process)
            name = str(parent)
    return tuple(processes)


def started(pid: int) -> str:
    """Return when a process was started, as the system writes it; empty when it has ended or is not known."""
    with suppress(OSError, ValueError, IndexError):
        return _stat(str(pid))[1].started
    return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid()) if hasattr(os, "getuid") else ""


def _terminal() -> str:
    for descriptor in (0, 1, 2):
        with suppress(OSError):
            return os.ttyname(descriptor)
    return ""


def _stat(name: str) -> tuple[int, Process]:
    """Return the parent's id and the process at `/proc/NAME`."""
    text = (_PROC / name / "stat").read_text(encoding="utf-8", errors="replace")
    number, _, rest = text.partition(" (")
    program, _, fields = rest.rpartition(") ")
    values = fields.split()
    return int(values[1]), Process(int(number), values[19], program)


def _process_table() -> dict[int, tuple[int, Process]]:
    """Return each process id with its parent's id and process, as `ps` lists them; empty when `ps` fails."""
    try:
        listing = subprocess.run(_PS, capture_output=True, text=True, timeout=10, check=True, env={"LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = filter(None, map(_PS_ROW.fullmatch, listing.stdout.splitlines()))
    return {int(row[1]): (int(row[2]), Process(int(row[1]), row[3], row[4].strip())) for row in rows}


def _ancestors_in(table: dict[int, tuple[int, Process]], pid: int) -> Iterator[Process]:
    seen: set[int] = set()
    while pid in table and pid not in seen:
        seen.add(pid)
        pid, process = table[pid]
        yield process
