"""What would not fit in memory: a temporary SQLite database, with the test ids and the phrases that are kept in one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

_CACHE: Final = -2048  # kilobytes, as SQLite writes it
_RECENT: Final = 100_000  # test ids
_PHRASES: Final = 30_000
_ADD_ID: Final = "INSERT OR IGNORE INTO seen VALUES (?, ?)"
_ADD_PHRASE: Final = """INSERT INTO phrases (phrase, count) VALUES (?, ?)
    ON CONFLICT (phrase) DO UPDATE SET count = count + excluded.count"""
_MOST: Final = "SELECT phrase, count FROM phrases ORDER BY count DESC, at LIMIT ?"


def scratch_database(*statements: str) -> sqlite3.Connection:
    """An empty database in one long transaction that is never kept, after `statements`."""
    database = sqlite3.connect("", isolation_level=None)  # without a name it lives as long as the connection
    for statement in (f"PRAGMA cache_size = {_CACHE}", "PRAGMA journal_mode = OFF", *statements, "BEGIN"):
        database.execute(statement)
    return database


class DuplicateIds:
    """Keys and payloads, both hashes of 64 bits: a dict while they are few, which is fastest, then a table."""

    def __init__(self, *, recent: int = _RECENT) -> None:
        """Keep up to `recent` keys in memory."""
        self._recent: dict[int, int] = {}
        self._most_recent = recent
        self._database: sqlite3.Connection | None = None

    def differs(self, key: int, payload: int) -> bool:
        """Whether `key` is known with another payload; it is known afterwards."""
        if key in self._recent or len(self._recent) < self._most_recent:
            return self._recent.setdefault(key, payload) != payload
        if self._database is None:
            self._database = scratch_database("CREATE TABLE seen (key INTEGER PRIMARY KEY, payload INTEGER)")
        if self._database.execute(_ADD_ID, (key, payload)).rowcount:
            return False
        known: tuple[int] = self._database.execute("SELECT payload FROM seen WHERE key = ?", (key,)).fetchone()
        return known[0] != payload

    def __del__(self) -> None:
        """Give the database back."""
        _close(self._database)


class TopPhrases:
    """The phrases seen most often, exactly, ties in order of first sight."""

    def __init__(self, most: int, *, in_memory: int = _PHRASES) -> None:
        """Report the `most` frequent; keep at most `in_memory` different phrases in memory."""
        self._most = most
        self._in_memory = in_memory
        self._counts: dict[str, int] = {}  # in order of first sight
        self._database: sqlite3.Connection | None = None

    def add(self, phrases: Iterable[str]) -> None:
        """Count each of `phrases` once more."""
        counts = self._counts
        for phrase in phrases:
            counts[phrase] = counts.get(phrase, 0) + 1
        if len(counts) > self._in_memory:
            self._spill()

    def _spill(self) -> sqlite3.Connection:
        if self._database is None:
            table = "CREATE TABLE phrases (at INTEGER PRIMARY KEY, phrase UNIQUE, count)"
            self._database = scratch_database(table)
        self._database.executemany(_ADD_PHRASE, self._counts.items())
        self._counts = {}
        return self._database

    def most(self) -> list[tuple[str, int]]:
        """The most frequent phrases with their counts."""
        if self._database is None:
            return sorted(self._counts.items(), key=lambda entry: -entry[1])[: self._most]
        return self._spill().execute(_MOST, (self._most,)).fetchall()

    def __del__(self) -> None:
        """Give the database back."""
        _close(self._database)


def _close(database: sqlite3.Connection | None) -> None:
    if database is not None:
        database.close()
