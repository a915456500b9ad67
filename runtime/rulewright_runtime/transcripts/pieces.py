"""Pieces: input files, and parts of large ones, that can be read independently of each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, cast

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import expanded_size, is_compressed, open_expanded, open_regular
from rulewright_runtime.transcripts import containers
from rulewright_runtime.transcripts.columnar import RowGroup, row_groups
from rulewright_runtime.transcripts.turn_lines import printable

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.chats import Chats

PIECE: Final = 2 * 2**20  # bytes of one piece of a large file
_LEAST_PACKED: Final = 2**15  # bytes; a smaller compressed or Parquet file is not split


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A file, or its bytes from `start` to `end`, which start in line `line`; `end` is 0 for a whole file.

    `size` is in bytes, 0 if unknown. The lines of a part are `chats` of any format, or native conversations; a part of
    a compressed file includes its expanded `data`. `file_size` is that of the whole file, expanded and counted up to a
    limit. Of a whole file only the conversations from `line` on belong to the piece.
    """

    file: bytes  # as the system names it, which need not be UTF-8
    start: int = 0
    end: int = 0
    line: int = 1
    size: int = 0
    chats: bool = False
    data: bytes = b""
    file_size: int = 0
    row_group: int | None = None  # of a Parquet file of chats, starting at row `line`

    @property
    def path(self) -> str:
        return os.fsdecode(self.file)

    @property
    def is_whole(self) -> bool:
        return not self.end and self.row_group is None


def split(path: str, limit: int, chats: Callable[[], Chats]) -> Iterator[Piece | InputError]:
    """Yield the pieces of a file, in order. A batch of conversations, one per line, is split at line ends, up to the
    first record that is joined with others, unless the file is too large for that. A compressed file is expanded once,
    here.

    `limit` is the maximum length of a line; `chats` makes the reader of other formats. Any other file stays whole,
    including one that can't be read.
    """
    file = os.fsencode(path)
    try:
        size = os.path.getsize(path)
        packed = size > _LEAST_PACKED and is_compressed(path)
        size = expanded_size(path, containers.MAX_DOCUMENT + 1) if packed else size
        lines = _lines_of(path, limit) if size > 2 * PIECE else None
    except OSError:
        yield Piece(file)
        return
    if lines is None:
        groups = _row_groups(path) if size > _LEAST_PACKED else []
        yield from [Piece(file, 0, 0, each.first, each.size, file_size=size, row_group=each.number) for each in groups]
        if not groups:
            yield Piece(file, size=size)
        return
    joins = chats().joins if lines == "chats" and size <= containers.MAX_DOCUMENT else None
    try:
        with open_expanded(path) as stream:
            for part in _cut(stream, path, limit, joins, packed=packed):
                whole = {"chats": lines == "chats", "file_size": size}
                yield part if isinstance(part, InputError) else replace(part, **whole)
    except OSError as error:
        yield containers.unreadable(error, printable(path))


def _lines_of(path: str, limit: int) -> Literal["turns", "chats"] | None:
    """The content of each line, judging by the first of several: a native conversation or a chat; None if lines may
    belong together."""
    if containers.kind_of(path) != "json" or containers.is_document(path, path, limit):
        return None
    with open_expanded(path) as stream:
        lines = containers.numbered_lines(stream, path, limit)
        _, first = next(lines, (0, b""))
        several = next(lines, None) is not None
    record = (
        containers.as_record(containers.decoded(first, path, 1), path, 1)
        if isinstance(first, bytes) and first
        else None
    )
    if not several or not isinstance(record, dict):
        return None
    from rulewright_runtime.transcripts.readers import (  # imports every format, so only for large files
        format_of,
        has_turns,
    )

    if has_turns(record):
        return "turns"
    format = None if "turn" in record else format_of(record)
    return "chats" if format is not None and not format.joins else None


def _row_groups(path: str) -> list[RowGroup]:
    """The row groups of a Parquet file of chats; empty for any other file and for one that can't be read."""
    if containers.kind_of(path) != "parquet":
        return []
    try:
        return row_groups(path)
    except Exception:  # reading the whole file reports the error
        return []


def _cut(
    stream: BinaryIO, path: str, limit: int, joins: Callable[[bytes], bool] | None, *, packed: bool
) -> Iterator[Piece | InputError]:
    """Yield the lines of a stream in parts, which include them if the file is compressed and can't be read again from a
    place; a line that is too long is refused here, because it must not be held in memory. From the first line that
    `joins` others on, all lines are one piece."""
    file, lines = os.fsencode(path), list[bytes]()
    start = end = 0
    number = first = 1

    def flush() -> Iterator[Piece]:
        nonlocal start, lines
        if end > start:
            yield Piece(file, start, end, first, end - start, data=b"".join(lines))
        start, lines = end, []

    try:
        while line := stream.readline(limit + 1):
            if end == start:
                first = number
            if len(line) > limit and not line.endswith(b"\n"):
                yield from flush()
                size = containers.rest_of_line(stream, line, limit)
                yield containers.too_long(size, limit, printable(path), number)
                start = end = end + size
            elif joins and not line.isspace() and joins(line):
                yield from flush()
                yield Piece(file, line=number)
                return
            else:
                blank = containers.blank_lines(stream) if line.isspace() else b""
                lines += [line, blank] if packed else []
                end += len(line) + len(blank)
                if end - start >= PIECE:
                    yield from flush()
                number += blank.count(b"\n")
            number += 1
    except OSError as error:
        yield from flush()
        yield containers.unreadable(error, printable(path))
        return
    yield from flush()


def read_bytes(piece: Piece) -> BinaryIO | None:
    """The bytes of a part of a file; None if the file has become shorter. Raises OSError."""
    data = piece.data
    if not data:
        with open_regular(piece.path) as stream:
            stream.seek(piece.start)
            data = stream.read(piece.size)
    return BufferedReader(cast("RawIOBase", BytesIO(data)), PIECE) if len(data) == piece.size else None
