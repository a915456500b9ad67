"""Input files: reads only regular files, without blocking, and up to a size limit.

Compressed data are expanded while they are read, piece by piece, and must be complete: truncated data are refused,
because the missing part is unknown.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from contextlib import suppress
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, cast

from rulewright_runtime.english import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from _typeshed import WriteableBuffer

MAX_EXPANDED: Final = 256 * 2**20  # bytes, when expanded, of a file that is read as a whole
_KINDS_SHOWN: Final = 5  # of files that are not read
_BLOCK: Final = 2**20
_BUFFER: Final = 2**18  # bytes; lines of conversations are long
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_ZSTD: Final = b"(\xb5/\xfd"
_PACKED: Final = 512  # compressed bytes that are expanded at once; 4 bytes of zstd can expand to 128 KiB
ENDINGS: Final = (".gz", ".zst")
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS: Final = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A stream of a regular file; opening and reading it never block on another process.

    Raises OSError, also for pipes, devices and sockets, whose data may never end.
    """
    return os.fdopen(_regular(path)[0], "rb", _BUFFER)


def open_expanded(path: str | os.PathLike[str]) -> BinaryIO:
    """A stream of a regular file's content, expanded if it is a gzip or zstd file, whatever its name.

    Raises OSError as `open_regular` does; reading raises OSError if the data are damaged or end early.
    """
    stream = open_regular(path)
    try:
        begin = _expander(stream.read(len(_ZSTD)))
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    if begin is None:
        return stream
    return cast("BinaryIO", BufferedReader(_Expanded(stream, begin), _BUFFER))


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Whether a regular file is a gzip or zstd file. Raises OSError."""
    with open_regular(path) as stream:
        return stream.read(len(_ZSTD)).startswith((_GZIP, _ZSTD))


def expanded_size(path: str | os.PathLike[str], most: int) -> int:
    """The size of a regular file in bytes; for a compressed one the expanded size, counted up to `most` and as far as
    it can be expanded. Raises OSError."""
    if not is_compressed(path):
        handle, size = _regular(path)
        os.close(handle)
        return size
    size = 0
    with open_expanded(path) as stream, suppress(OSError):
        while size < most and (block := stream.read(_BLOCK)):
            size += len(block)
    return size


class _Expander(Protocol):
    """Expands one member of a compressed file; `eof` is true at the member's end, once its checksum is verified."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _expander(head: bytes) -> Callable[[], _Expander] | None:
    """A factory of expanders for a file with these first bytes; None if it is not compressed."""
    if head.startswith(_GZIP):
        return lambda: zlib.decompressobj(16 + zlib.MAX_WBITS)
    if head != _ZSTD:
        return None
    try:
        import zstandard
    except ImportError:
        message = "it is a zstd file, which needs the extra `data`: `pip install 'rulewright[data]'`"
        raise OSError(errno.ENOTSUP, message) from None
    return lambda: zstandard.ZstdDecompressor().decompressobj()


class _Expanded(RawIOBase):
    """The expanded content of a compressed file, member after member."""

    def __init__(self, packed: BinaryIO, begin: Callable[[], _Expander]) -> None:
        self._packed, self._begin = packed, begin
        self._member: _Expander | None = None
        self._left = memoryview(b"")
        self._damage: OSError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        into = memoryview(buffer).cast("B")
        while not self._left and (more := self._more()) is not None:
            self._left = memoryview(more)
        size = min(len(into), len(self._left))
        into[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _more(self) -> bytes | None:
        """The next data, which may be empty; None at the end."""
        if self._damage is not None:
            raise self._damage
        data = self._packed.read(_PACKED)
        if not data:
            if self._member is not None:
                raise OSError(errno.EIO, "the compressed data end early")
            return None
        blocks = []
        while data:
            self._member = self._member or self._begin()
            try:
                blocks.append(self._member.decompress(data))
            except Exception as error:  # each library has its own errors
                self._damage = OSError(errno.EIO, f"the compressed data are damaged ({error})")
                break  # the data before the damage are valid
            data = self._member.unused_data
            if self._member.eof:
                self._member = None
        return b"".join(blocks)


def read_small(path: str | os.PathLike[str], limit: int) -> bytes | None:
    """The content of a regular file of at most `limit` bytes; None for a larger one. Raises OSError."""
    handle, size = _regular(path)
    try:
        return os.read(handle, size) if size <= limit else None
    finally:
        os.close(handle)


def member_names(path: str) -> list[str]:
    """The names of the files in a zip archive, as `zip_members.member_names` returns them; none for any other file."""
    begins = b""
    with suppress(OSError), open_regular(path) as stream:
        begins = stream.read(len(_ZIP))
    names: list[str] = _zip_members().member_names(path) if begins == _ZIP else []
    return names


def _zip_members() -> ModuleType:
    from rulewright_runtime.files import zip_members  # takes as long to import as a short scan

    return zip_members


def _regular(path: str | os.PathLike[str]) -> tuple[int, int]:
    """The descriptor and the size of a regular file, or of a member of a zip archive."""
    try:
        handle = os.open(path, _OPEN)
    except (NotADirectoryError, FileNotFoundError):
        member = _zip_members().open_member(os.fspath(path))
        if member is None:
            raise
        handle = member
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode):
        return handle, status.st_size
    os.close(handle)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "no file")
    raise OSError(errno.EINVAL, f"it is {kind}; save its content in a file", os.fspath(path))


def read_expanded(path: str | os.PathLike[str], limit: int = MAX_EXPANDED) -> bytes:
    """The content of a regular file, expanded if it is a gzip or zstd file; at most `limit` bytes.

    Raises OSError, also for a larger file and for damaged data.
    """
    blocks, left = [], limit
    with open_expanded(path) as stream:
        while left >= 0 and (block := stream.read(min(left + 1, _BLOCK))):  # one read would allocate memory for all
            blocks.append(block)
            left -= len(block)
    if left < 0:
        more = f"it contains more than {limit} bytes" + (" when expanded" if is_compressed(path) else "")
        raise OSError(errno.EFBIG, more, os.fspath(path))
    return b"".join(blocks)


def unread_note(unread: Mapping[str, int], read_as: str = "chats") -> list[str]:
    """A line that says how many files of the folders are not read, and which kinds; none if all are."""
    count = sum(unread.values())
    if not count:
        return []
    kinds = sorted(unread.items(), key=lambda kind: (-kind[1], kind[0]))
    named = [f"{number} {kind}" for kind, number in kinds[:_KINDS_SHOWN]]
    more = [f"{plural(len(kinds) - _KINDS_SHOWN, 'more kind')}"] if len(kinds) > _KINDS_SHOWN else []
    return [f"note: {count} file{'s' * (count != 1)} not read as {read_as}: {', '.join([*named, *more])}"]
