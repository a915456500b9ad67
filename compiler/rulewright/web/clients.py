"""Identifies the process at the other end of a local connection, as far as the system allows."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from rulewright_runtime.processes.ancestry import Origin, ancestry, here
from rulewright_runtime.workflow.hil import QueueError

_PROC: Final = Path("/proc")


class Client(NamedTuple):
    """The user id of a connection's other end, and the processes that hold it (none: they are not visible)."""

    uid: int
    pids: tuple[int, ...]


def sender(connection: socket.socket, is_run_active: Callable[[], bool] = lambda: False) -> Origin:
    """Return the origin of a decision on a page: the process that sent the form, where the system shows it.

    Raises QueueError for another user of the system, and for an untraceable sender while a run is active.
    """
    page_origin, peer = here("page"), client(connection)
    if peer is None:
        return page_origin
    if peer.uid != os.getuid():
        raise QueueError("a decision is taken by the user of the system who serves this page")
    if not peer.pids and is_run_active():
        raise QueueError("a run is active, and the sender can't be traced: use `rulewright hil resolve`")
    lines = [ancestry(pid) for pid in peer.pids]
    processes = tuple(dict.fromkeys(process for line in lines for process in line))
    return msgspec.structs.replace(page_origin, terminal="", processes=processes)


def client(connection: socket.socket) -> Client | None:
    """Return the other end of an IPv4 connection; None where the system does not show it."""
    try:
        rows = (_PROC / "net/tcp").read_text(encoding="ascii").splitlines()[1:]
        ends = (_proc_address(connection.getpeername()), _proc_address(connection.getsockname()))
    except (OSError, ValueError):
        return None
    for row in rows:
        fields = row.split()
        if (fields[1], fields[2]) == ends:
            return Client(int(fields[7]), tuple(_processes_of(fields[9])))
    return None


def _proc_address(address: tuple[str, int]) -> str:
    """An address in the format of `/proc/net/tcp`: hexadecimal bytes in the machine's order."""
    number = int.from_bytes(socket.inet_aton(address[0]), byteorder=sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"


def _processes_of(inode: str) -> Iterator[int]:
    """The processes that have a socket open."""
    link = f"socket:[{inode}]"
    for name in os.listdir(_PROC):
        if not name.isdecimal():
            continue
        with suppress(OSError):
            folder = _PROC / name / "fd"
            if any(_link(folder / descriptor) == link for descriptor in os.listdir(folder)):
                yield int(name)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return ""
