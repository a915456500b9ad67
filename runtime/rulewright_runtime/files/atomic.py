"""Atomic file writes: a file is written whole or not at all, and its data are on disk before its name."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import IO, Final, cast

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.files.locks import claim, put, release

if sys.platform == "darwin":
    from fcntl import F_FULLFSYNC, fcntl

BUFFER: Final = 2**18  # bytes of a stream's buffer
ROOM: Final = 2**20  # bytes that are preallocated before a request is sent, so that its reply can be written
_READ_ONLY: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class DiskError(BaseException):
    """A reply could not be stored; `error` says why. It is not an Exception, so that no verifier treats it as a failed
    judge."""

    def __init__(self, error: OSError) -> None:
        self.error = error
        super().__init__(str(error))


@contextmanager
def compressing(stream: IO[bytes], path: str) -> Generator[IO[bytes]]:
    """A stream that compresses into another one by the suffix of a path: `.gz`, `.zst`, or any other for none. The same
    data give the same bytes. Raises RuntimeFailure if the library for `.zst` is not installed."""
    if path.lower().endswith(".gz"):
        from gzip import GzipFile

        with GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield cast("IO[bytes]", packed)
    elif path.lower().endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise RuntimeFailure(f"`{path}` needs the extra `data`: `pip install 'rulewright[data]'`") from None
        with zstandard.ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False) as packed:
            yield packed
    else:
        yield stream


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """A stream to a file that is replaced at the end: until then readers see the old content or no file.

    No other process can open the same file this way in the meantime. An existing file keeps its mode, and a link its
    target. A pipe or a device such as `/dev/null` is written directly. Raises BusyError if another process is writing
    the file, and OSError; an exception inside the block is propagated and leaves the file unchanged.
    """
    target = os.path.realpath(path)
    is_device = os.path.exists(target) and not os.path.isfile(target)
    try:
        with open(target, "wb") if is_device else _open_replaced(target, os.fspath(path)) as stream:
            yield stream
    except OSError as error:
        if error.filename is None:  # as of a write to a full disk
            error.filename = os.fspath(path)
        raise


@contextmanager
def _open_replaced(target: str, path: str) -> Generator[IO[bytes]]:
    folder, name = os.path.split(target)
    part = os.path.join(folder, f".{name}.rulewright")  # overwrites the file of a killed writer
    handle = claim(part, path)
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
    """Write a file atomically, as `open_whole` does. Raises BusyError and OSError."""
    with open_whole(path) as stream:
        stream.write(data)


def write_synced(path: str, data: bytes) -> None:
    """Write a file in place and wait until it is on disk. Raises OSError."""
    with open_part(path) as stream:
        stream.write(data)
        sync(stream)


def open_part(path: str, size: int = 0) -> IO[bytes]:
    """Open the file at `path`, created if needed and truncated to `size` bytes, for appending. Hard links of it, as in
    a snapshot of its folder, keep their content. Raises OSError."""
    if os.path.isfile(path) and os.stat(path).st_nlink > 1:
        with open_whole(path) as own, open(path, "rb") as shared:
            while block := shared.read(BUFFER):
                own.write(block)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        return os.fdopen(handle, "wb", BUFFER)
    except BaseException:
        os.close(handle)
        raise


def make_room(stream: IO[bytes], at: int) -> None:
    """Preallocate disk space from offset `at`, if the system supports it, so that a paid reply is not lost on a full
    disk. The file becomes longer and must be truncated at its end. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), at, 2 * ROOM)


def sync(stream: IO[bytes]) -> None:
    """Flush the stream and wait until its data are on disk. Raises OSError."""
    stream.flush()
    _sync(stream.fileno())


def sync_folder(path: str) -> None:
    """Wait until a folder's entries are on disk; Windows does this by itself. Raises OSError."""
    if sys.platform == "win32":
        return
    handle = os.open(path or os.curdir, _READ_ONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    if sys.platform == "darwin":  # fsync leaves the data in the drive's cache
        fcntl(handle, F_FULLFSYNC)
    else:
        os.fsync(handle)
