"""Files written whole or not at all, whose data are on the disk before their names are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final, cast

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.locks import claim, put, release

if sys.platform == "darwin":
    from fcntl import F_FULLFSYNC, fcntl

BUFFER: Final = 2**18  # bytes that are written at once
ROOM: Final = 2**20  # bytes that are free before a question is put, so that its answer can be written
_READ_ONLY: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class DiskError(BaseException):
    """An answer could not be written down. No verifier may take it for a judge that did not answer, so it is no
    Exception; `error` says why."""

    def __init__(self, error: OSError) -> None:
        """Keep what the system said."""
        self.error = error
        super().__init__(str(error))


@contextmanager
def compressing(stream: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    """A stream into another one that compresses what is written as the ending of a path says: `.gz`, `.zst`, or not at
    all. The same data give the same bytes. Raises RuntimeFailure where the library for `.zst` is not installed."""
    if path.lower().endswith(".gz"):
        from gzip import GzipFile

        with GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield cast("IO[bytes]", packed)
    elif path.lower().endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise RuntimeFailure(f"`{path}` needs the extra `data`: `pip install rulewright[data]`") from None
        with zstandard.ZstdCompressor().stream_writer(stream, closefd=False) as packed:
            yield packed
    else:
        yield stream


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream into a file that appears at the end: whoever reads it meanwhile sees the old content or none.

    Nobody else can open the same file this way in the meantime. A file that exists keeps its mode, and a link keeps
    pointing where it does. A pipe or a device such as `/dev/null` is written to directly. Raises BusyError where
    another process is writing the file, and OSError; what is raised inside goes on to the caller and leaves nothing.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as stream:
            yield stream
        return
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name}.rulewright")  # what a killed writer left there is written over
    handle = claim(part, os.fspath(path))
    try:
        with os.fdopen(handle, "wb", BUFFER, closefd=False) as stream:
            stream.seek(0)
            yield stream
            stream.truncate()
            sync(stream)
        with suppress(FileNotFoundError):
            os.chmod(part, os.stat(target).st_mode & 0o7777)
    except BaseException:
        release(handle, part)
        raise
    put(handle, part, target)
    sync_folder(folder)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file at once, as `open_whole` does. Raises BusyError and OSError."""
    with open_whole(path) as stream:
        stream.write(data)


def write_synced(path: str, data: bytes) -> None:
    """Write a file in place and wait until the disk has it. Raises OSError."""
    with open_part(path) as stream:
        stream.write(data)
        sync(stream)


def open_part(path: str, size: int = 0) -> IO[bytes]:
    """The file at `path`, made where there is none, cut to its first `size` bytes and open for more. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        return os.fdopen(handle, "wb", BUFFER)
    except BaseException:
        os.close(handle)
        raise


def make_room(stream: IO[bytes], at: int) -> None:
    """Take room on the disk for what will be written from `at` on, where the system can do that: what costs money must
    not be lost for want of it. The file is longer then and has to be cut at its end. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), at, 2 * ROOM)


def sync(stream: IO[bytes]) -> None:
    """Write out what is buffered and wait until the disk has it. Raises OSError."""
    stream.flush()
    _sync(stream.fileno())


def sync_folder(path: str) -> None:
    """Wait until the disk has the names in a folder; Windows keeps them by itself. Raises OSError."""
    if sys.platform == "win32":
        return
    handle = os.open(path or os.curdir, _READ_ONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    if sys.platform == "darwin":  # there fsync leaves the data in the drive's cache
        fcntl(handle, F_FULLFSYNC)
    else:
        os.fsync(handle)
