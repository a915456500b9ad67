"""Who stands at the other end of a connection from this machine to this machine, as far as the system tells."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from rulewright_runtime.workflow.hil import QueueError
from rulewright_runtime.workflow.processes import Origin, ancestry, here

_PROC: Final = Path("/proc")


class Client(NamedTuple):
    """The system's user id of a connection's other end, and the processes that hold it (none: they can't be seen)."""

    uid: int
    pids: tuple[int, ...]


def sender(connection: socket.socket, is_run_active: Callable[[], bool] = lambda: False) -> Origin:
    """Where a decision on a page comes from: the process that sent the form, as far as the system tells.

    Raises QueueError for another user of the system, and for a sender that can't be traced while agents are at work.
    """
    served, found = here("page"), client(connection)
    if found is None:
        return served
    if found.uid != os.getuid():
        raise QueueError("a decision is taken by the user of the system who serves this page")
    if not found.pids and is_run_active():
        raise QueueError("a run is at work, and the sender can't be traced: use `rulewright hil resolve`")
    lines = [ancestry(pid) for pid in found.pids]
    together = tuple(dict.fromkeys(process for line in lines for process in line))
    return msgspec.structs.replace(served, terminal="", processes=together)


def client(connection: socket.socket) -> Client | None:
    """The other end of a connection over IPv4; None where the system does not tell."""
    try:
        rows = (_PROC / "net/tcp").read_text(encoding="ascii").splitlines()[1:]
        ends = (_written(connection.getpeername()), _written(connection.getsockname()))
    except (OSError, ValueError):
        return None
    for row in rows:
        fields = row.split()
        if (fields[1], fields[2]) == ends:
            return Client(int(fields[7]), tuple(_holders(fields[9])))
    return None


def _written(address: tuple[str, int]) -> str:
    """An address as `/proc/net/tcp` writes it: the bytes in the machine's order, in hexadecimal."""
    number = int.from_bytes(socket.inet_aton(address[0]), byteorder=sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"


def _holders(inode: str) -> Iterator[int]:
    """The processes in which a socket is open."""
    wanted = f"socket:[{inode}]"
    for name in os.listdir(_PROC):
        if not name.isdecimal():
            continue
        with suppress(OSError):
            folder = _PROC / name / "fd"
            if any(_link(folder / descriptor) == wanted for descriptor in os.listdir(folder)):
                yield int(name)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return ""
