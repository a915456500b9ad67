"""Who stands at the other end of a connection from this machine to this machine, as far as the system tells."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")


class Client(NamedTuple):
    """The system's user id of a connection's other end, and the processes that hold it (none: they can't be seen)."""

    uid: int
    pids: tuple[int, ...]


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
