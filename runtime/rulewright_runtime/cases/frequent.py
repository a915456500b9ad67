"""Counting phrases, however many different ones there are: what does not fit in memory goes to temporary files."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import IO, Final

import msgspec

_IN_MEMORY: Final = 100_000
_Entry = tuple[str, int, int]  # phrase, when it was first seen, how often


class Frequent:
    """The phrases seen most often, exactly, ties in order of first sight."""

    def __init__(self, most: int, *, in_memory: int = _IN_MEMORY) -> None:
        """Report the `most` frequent; keep at most `in_memory` different phrases in memory."""
        self._most = most
        self._in_memory = in_memory
        self._counts: dict[str, int] = {}  # in order of first sight
        self._seen = 0  # phrases that have left memory
        self._spilled: list[IO[bytes]] = []

    def __del__(self) -> None:
        """Give the files back."""
        for file in self._spilled:
            file.close()

    def add(self, phrases: list[str]) -> None:
        """Count each of `phrases` once more."""
        counts = self._counts
        for phrase in phrases:
            counts[phrase] = counts.get(phrase, 0) + 1
        if len(counts) > self._in_memory:
            self._spill()

    def _spill(self) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        for entry in self._in_order():
            file.write(msgspec.json.encode(entry) + b"\n")
        self._spilled.append(file)
        self._seen += len(self._counts)
        self._counts = {}

    def _entries(self) -> Iterator[_Entry]:
        for at, (phrase, count) in enumerate(self._counts.items(), self._seen):
            yield phrase, at, count

    def _in_order(self) -> Iterator[_Entry]:
        return iter(sorted(self._entries()))

    def most(self) -> list[tuple[str, int]]:
        """The most frequent phrases with their counts."""
        entries = self._merged() if self._spilled else self._entries()
        best = heapq.nsmallest(self._most, entries, key=lambda entry: (-entry[2], entry[1]))
        return [(phrase, count) for phrase, _, count in best]

    def _merged(self) -> Iterator[_Entry]:
        sources = [_read(file) for file in self._spilled]
        for phrase, group in groupby(heapq.merge(*sources, self._in_order(), key=itemgetter(0)), key=itemgetter(0)):
            parts = list(group)
            yield phrase, min(first for _, first, _ in parts), sum(count for _, _, count in parts)


def _read(file: IO[bytes]) -> Iterator[_Entry]:
    file.seek(0)
    decoder = msgspec.json.Decoder(_Entry)
    for line in file:
        yield decoder.decode(line)
