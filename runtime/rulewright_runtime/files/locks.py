"""Locks: allow one writer at a time. A lock ends with the process that holds it, so a killed process leaves none.

On Linux and macOS a lock is `flock` on a file; on Windows it is a locked byte of that file, which the system also
releases when the process ends. The file describes the process that holds it. Network file systems without locks are
refused.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from rulewright_runtime.errors import BusyError

_KEPT: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FLAGS: Final = os.O_RDWR | os.O_CREAT | _KEPT
_PAUSE: Final = 0.01  # seconds between two attempts
_LOCKED_BYTE: Final = 2**30  # on Windows: beyond the bytes that other processes read
_MAX_DESCRIPTION: Final = 4096  # bytes that describe the holder


class _Holder(msgspec.Struct, frozen=True):
    """The process that holds a lock, for messages."""

    pid: int
    host: str
    command: str
    since: str


def claim(path: str, what: str, patience: float = 0.0) -> int:
    """An open handle on the file at `path` that no other process can claim until it is closed. The file is created if
    needed and describes this process. Raises BusyError after `patience` seconds, which names `what` and the holder, and
    OSError."""
    end = time.monotonic() + patience
    while True:
        try:
            handle = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            error.filename = what  # the caller's name for it
            raise
        try:
            if not _locked(handle):
                if time.monotonic() >= end:
                    raise BusyError(f"`{what}` is in use: {_described(handle)}; wait for it or choose another place")
                time.sleep(_PAUSE)
            elif _is_at(handle, path):  # otherwise its previous holder has just removed or renamed the file
                with suppress(OSError, UnicodeError):  # a full disk or odd arguments must not make the lock fail
                    _describe(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def is_claimed(path: str) -> bool:
    """Whether a process has claimed the file at `path`. Raises OSError."""
    try:
        handle = os.open(path, os.O_RDONLY | _KEPT)
    except FileNotFoundError:
        return False
    try:
        return not _locked(handle, shared=True)
    finally:
        os.close(handle)


@contextmanager
def lock(path: str, what: str) -> Generator[None]:
    """Hold the lock at `path` within the block. Raises BusyError and OSError as `claim` does."""
    handle = claim(path, what)
    try:
        yield
    finally:
        release(handle, path)


@contextmanager
def lock_folder(path: str | os.PathLike[str]) -> Generator[None]:
    """Create a folder and lock it against other writers. Raises BusyError and OSError."""
    os.makedirs(path, exist_ok=True)
    with lock(os.path.join(path, ".lock"), os.fspath(path)):
        yield


@contextmanager
def lock_file(path: str | os.PathLike[str]) -> Generator[None]:
    """Lock a file that is only written at the end against other writers, and create its folder. A pipe or a device such
    as `/dev/null` is not locked. Raises BusyError and OSError."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        yield
        return
    folder, name = os.path.split(target)
    os.makedirs(folder, exist_ok=True)
    with lock(os.path.join(folder, f".{name}.lock"), os.fspath(path)):
        yield


def release(handle: int, path: str) -> None:
    """Remove a claimed file and let others claim it."""
    if sys.platform == "win32":  # there an open file can't be removed
        os.close(handle)
    with suppress(OSError):
        os.remove(path)
    if sys.platform != "win32":
        os.close(handle)


def put(handle: int, path: str, target: str) -> None:
    """Rename a claimed file to `target`, replacing any file there, and close it. If that fails, the file is removed and
    OSError is raised."""
    if sys.platform == "win32":  # there an open file can't be renamed
        os.close(handle)
    try:
        os.replace(path, target)
    except BaseException:
        with suppress(OSError):
            os.remove(path)
        raise
    finally:
        if sys.platform != "win32":
            os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _locked(handle: int, *, shared: bool = False) -> bool:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _locked(handle: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _describe(handle: int) -> None:
    words = [os.path.basename(sys.argv[0]), *sys.argv[1:2]]
    holder = _Holder(os.getpid(), _host(), " ".join(words), time.strftime("%Y-%m-%d %H:%M:%S %z"))
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, msgspec.json.encode(holder))


def _described(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        holder = msgspec.json.decode(os.read(handle, _MAX_DESCRIPTION), type=_Holder)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return "another process is writing there"
    return f"process {holder.pid} on {holder.host} (`{holder.command}`) has been writing there since {holder.since}"


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "this machine")
