"""Which test ids stood before, however many there are: a file remembers what would not fit in memory."""

from __future__ import annotations

import os
import struct
import tempfile
from typing import IO, Final

_FEW: Final = 100_000
_SLOT: Final = struct.Struct("=qq")  # a key, which is never 0 where the slot is taken, and its payload
_PIECE: Final = 4096  # slots that are read at once when the table grows


class Seen:
    """A table of keys and payloads, both hashes of 64 bits: a dict while they are few, then slots of a temporary file.

    A slot is found by its key, so looking one up reads 16 bytes and the memory stays what it was.
    """

    def __init__(self, *, few: int = _FEW) -> None:
        """Keep up to `few` keys in memory."""
        self._few = few
        self._recent: dict[int, int] = {}
        self._file: IO[bytes] | None = None
        self._size = self._count = 0

    def __del__(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()

    def differs(self, key: int, payload: int) -> bool:
        """Whether `key` is known with another payload; it is known afterwards."""
        if self._file is None:
            if len(self._recent) < self._few:
                return self._recent.setdefault(key, payload) != payload
            self._move()
        if 3 * self._count > 2 * self._size:
            self._grow()
        return self._put(key or 1, payload)

    def _move(self) -> None:
        """From memory into the file."""
        self._size = 1 << (3 * self._few).bit_length()
        self._file = _empty(self._size)
        for key, payload in self._recent.items():
            self._put(key or 1, payload)
        self._recent = {}

    def _grow(self) -> None:
        old, size = self._file, self._size
        assert old is not None
        self._size, self._count = 2 * size, 0
        self._file = _empty(self._size)
        for start in range(0, size, _PIECE):
            for key, payload in _SLOT.iter_unpack(os.pread(old.fileno(), _PIECE * _SLOT.size, start * _SLOT.size)):
                if key:
                    self._put(key, payload)
        old.close()

    def _put(self, key: int, payload: int) -> bool:
        """Whether another payload stands there already; a free slot is taken."""
        assert self._file is not None
        handle, at = self._file.fileno(), key & (self._size - 1)
        while True:
            known, other = _SLOT.unpack(os.pread(handle, _SLOT.size, at * _SLOT.size))
            if known == key:
                return bool(other != payload)
            if not known:
                os.pwrite(handle, _SLOT.pack(key, payload), at * _SLOT.size)
                self._count += 1
                return False
            at = (at + 1) & (self._size - 1)


def _empty(size: int) -> IO[bytes]:
    """A file of free slots; it takes room as they are taken."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with its table
    file.truncate(size * _SLOT.size)
    return file
