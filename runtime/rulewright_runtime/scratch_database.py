"""A temporary SQLite database for data that don't fit in memory: ids with payloads, and counts of phrases."""

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
_TOP: Final = "SELECT phrase, count FROM phrases ORDER BY count DESC, at LIMIT ?"


def scratch_database(*statements: str) -> sqlite3.Connection:
    """An empty database, after `statements`, in one transaction that is never committed."""
    database = sqlite3.connect("", isolation_level=None)  # without a name it is deleted with the connection
    for statement in (f"PRAGMA cache_size = {_CACHE}", "PRAGMA journal_mode = OFF", *statements, "BEGIN"):
        database.execute(statement)
    return database


class DuplicateIds:
    """Keys with payloads, both 64-bit hashes: the first ones in a dict, which is fastest, the others in a table."""

    def __init__(self, *, recent: int = _RECENT) -> None:
        """Keep up to `recent` keys in memory."""
        self._recent: dict[int, int] = {}
        self._most_recent = recent
        self._database: sqlite3.Connection | None = None

    def differs(self, key: int, payload: int) -> bool:
        """Whether `key` was added before with a different payload; adds it if it is new."""
        if key in self._recent or len(self._recent) < self._most_recent:
            return self._recent.setdefault(key, payload) != payload
        if self._database is None:
            self._database = scratch_database("CREATE TABLE seen (key INTEGER PRIMARY KEY, payload INTEGER)")
        if self._database.execute(_ADD_ID, (key, payload)).rowcount:
            return False
        row: tuple[int] = self._database.execute("SELECT payload FROM seen WHERE key = ?", (key,)).fetchone()
        return row[0] != payload

    def __del__(self) -> None:
        """Give the database back."""
        _close(self._database)


class TopPhrases:
    """The most frequent phrases with exact counts; ties are in order of first occurrence."""

    def __init__(self, most: int, *, in_memory: int = _PHRASES) -> None:
        """Report the `most` frequent phrases; keep at most `in_memory` different ones in memory."""
        self._most = most
        self._in_memory = in_memory
        self._counts: dict[str, int] = {}  # in order of first occurrence
        self._database: sqlite3.Connection | None = None

    def add(self, phrases: Iterable[str]) -> None:
        """Count each of `phrases` once."""
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
        return self._spill().execute(_TOP, (self._most,)).fetchall()

    def __del__(self) -> None:
        """Give the database back."""
        _close(self._database)


def _close(database: sqlite3.Connection | None) -> None:
    if database is not None:
        database.close()
