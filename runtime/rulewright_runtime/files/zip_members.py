"""Members of zip archives: their names, and their content, expanded from deflate or zstd up to a size limit.

A member is opened under the path of its archive and its name, `export.zip/day.json`, as a file in a folder.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from functools import lru_cache
from typing import BinaryIO, Final

MAX_MEMBER: Final = 64 * 2**20  # bytes, when expanded
ZSTD: Final = 93  # the compression method's number in zip archives
DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError,
)  # fmt: skip
_SIGNATURE: Final = b"PK\x03\x04"
_HEADER: Final = struct.Struct("<4s5H3I2H")  # of a member, up to its name


class MemberError(Exception):
    """A member can't be read; the message says why."""


def member_names(path: str) -> list[str]:
    """The names of the files in a zip archive, without those that a Mac adds; none for any other file, and for an
    archive that can't be opened."""
    try:
        archive = _archive_at(path)
    except (OSError, *DAMAGED):
        return []
    names = (each.filename for each in archive.infolist() if not each.is_dir())
    return [name for name in names if not name.startswith("__MACOSX/")]


def open_member(path: str) -> int | None:
    """The descriptor of a file with the content of the member at this path; None if no part of the path is an archive.
    Raises OSError."""
    around = os.path.dirname(path)
    while around and not os.path.isfile(around):
        around = "" if around == os.path.dirname(around) else os.path.dirname(around)
    try:
        archive = _archive_at(around)
        member = archive.getinfo(path[len(around) + 1 :].replace(os.sep, "/"))
    except (OSError, KeyError, *DAMAGED):
        return None
    try:
        data = expanded(archive.fp, archive, member)  # type: ignore[arg-type]
    except (MemberError, *DAMAGED) as error:
        raise OSError(errno.EIO, str(error), path) from None
    with tempfile.TemporaryFile() as copy:
        copy.write(data)
        copy.seek(0)
        return os.dup(copy.fileno())


def _archive_at(path: str) -> zipfile.ZipFile:
    """The archive. Raises OSError, and BadZipFile for any other file."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
        raise zipfile.BadZipFile("it is not a file")
    with open(path, "rb") as stream:
        if stream.read(len(_SIGNATURE)) != _SIGNATURE:
            raise zipfile.BadZipFile("it is not a zip archive")
    return _archive(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _archive(path: str, changed: int, size: int) -> zipfile.ZipFile:
    """The archive, kept open: its list of members may be long."""
    return zipfile.ZipFile(path)


def expanded(stream: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a member of the archive in the stream. Raises MemberError, or an error of `DAMAGED`."""
    if member.flag_bits & 1:
        raise MemberError("it is encrypted")
    if member.compress_type == ZSTD:
        data = _expanded_zstd(stream, member)
    else:
        with archive.open(member) as opened:
            data = opened.read(MAX_MEMBER + 1)
    if len(data) > MAX_MEMBER:
        raise MemberError(f"it contains more than {MAX_MEMBER} bytes when expanded")
    return data


def _expanded_zstd(stream: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """The content of a member that the standard library can't expand."""
    try:
        import zstandard
    except ImportError:
        raise MemberError("it is compressed by zstd, which needs `pip install 'rulewright[data]'`") from None
    stream.seek(member.header_offset)
    header = _HEADER.unpack(stream.read(_HEADER.size))
    if header[0] != _SIGNATURE:
        raise zipfile.BadZipFile("no member is where the archive says")
    stream.seek(header[9] + header[10], 1)
    packed = stream.read(min(member.compress_size, MAX_MEMBER))
    try:
        with zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(packed) as opened:
            data: bytes = opened.read(MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise MemberError(f"it is damaged: {error}") from None
    if len(data) <= MAX_MEMBER and zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile("its checksum does not match")
    return data
