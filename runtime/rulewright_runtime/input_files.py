"""Input files: read only where they are regular files, without waiting for anybody, and no further than a limit."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from gzip import GzipFile

MAX_EXPANDED: Final = 256 * 2**20  # bytes of a file that is read as a whole, of a compressed one when it is expanded
_BLOCK: Final = 2**20
_BUFFER: Final = 2**18  # bytes; lines of conversations are long
_GZIP: Final = b"\x1f\x8b"
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS: Final = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A stream of a regular file; opening and reading it never wait for another process.

    Raises OSError, also for pipes, devices and sockets: what they hold may never end.
    """
    return os.fdopen(_regular(path)[0], "rb", _BUFFER)


def _read(stream: BinaryIO | GzipFile, most: int) -> bytes:
    """At most so many bytes; asking for them at once would reserve memory for all."""
    blocks: list[bytes] = []
    while most > 0 and (block := stream.read(min(most, _BLOCK))):
        blocks.append(block)
        most -= len(block)
    return b"".join(blocks)


def read_small(path: str | os.PathLike[str], limit: int) -> bytes | None:
    """The content of a regular file of at most `limit` bytes, else None. Raises OSError as `open_regular` does."""
    handle, size = _regular(path)
    try:
        return os.read(handle, size) if size <= limit else None
    finally:
        os.close(handle)


def _regular(path: str | os.PathLike[str]) -> tuple[int, int]:
    """The descriptor and the size of a regular file."""
    handle = os.open(path, _OPEN)
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode):
        return handle, status.st_size
    os.close(handle)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "no file")
    raise OSError(errno.EINVAL, f"it is {kind}; save what it gives in a file", os.fspath(path))


def read_expanded(path: str | os.PathLike[str], limit: int = MAX_EXPANDED) -> bytes:
    """The content of a regular file, expanded where it is a gzip file; never more than `limit` bytes.

    Raises OSError, also for a file that holds more, and EOFError or zlib.error for a damaged gzip file.
    """
    with open_regular(path) as stream:
        is_compressed = stream.read(len(_GZIP)) == _GZIP
        stream.seek(0)
        if is_compressed:
            import gzip

            with gzip.GzipFile(fileobj=stream) as expanded:
                data = _read(expanded, limit + 1)
        else:
            data = _read(stream, limit + 1)
    if len(data) > limit:
        more = f"it holds more than {limit} bytes" + (" when expanded" if is_compressed else "")
        raise OSError(errno.EFBIG, more, os.fspath(path))
    return data
