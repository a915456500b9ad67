"""A temporary SQLite database for data that don't fit in memory: first values of keys, and counts of phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rulewright_runtime.errors import RuntimeFailure

if TYPE_CHECKING:
    import sqlite3

Key = TypeVar("Key")
Item = TypeVar("Item")

_CACHE: Final = -2048  # kilobytes, as SQLite writes it
_PHRASES: Final = 30_000
_ADD_PHRASE: Final = """INSERT INTO phrases (phrase, count) VALUES (?, ?)
    ON CONFLICT (phrase) DO UPDATE SET count = count + excluded.count"""
_TOP: Final = "SELECT phrase, count FROM phrases ORDER BY count DESC, at LIMIT ?"


class ScratchDatabase:
    """An empty database, after `statements`, in one transaction that is never committed. Its statements raise
    RuntimeFailure if the disk is full."""

    def __init__(self, *statements: str) -> None:
        import sqlite3  # few runs need it

        self._errors = sqlite3.Error
        # Without a name it is deleted with the connection, which the garbage collector may close in another thread.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in (f"PRAGMA cache_size = {_CACHE}", "PRAGMA journal_mode = OFF", *statements, "BEGIN"):
            self.execute(statement)

    def __del__(self) -> None:
        self._connection.close()

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        return self._run(self._connection.execute, statement)

    def executemany(self, *statement: Any) -> sqlite3.Cursor:
        """Execute one statement for each of several rows."""
        return self._run(self._connection.executemany, statement)

    def _run(self, execute: Callable[..., sqlite3.Cursor], statement: tuple[Any, ...]) -> sqlite3.Cursor:
        try:
            return execute(*statement)
        except self._errors as error:
            raise RuntimeFailure(f"the disk for temporary files can't hold what was read: {error}") from None


class FirstValues(Generic[Key, Item]):
    """The first value of each key: those of the first keys in a dict, which is fastest, all others in a table."""

    def __init__(self, column: str, in_memory: int) -> None:
        """`column` is SQLite's type for the keys; up to `in_memory` of them are kept in memory."""
        self._first: dict[Key, Item] = {}
        self._in_memory = in_memory
        self._table = f"CREATE TABLE seen (key {column} PRIMARY KEY, value)"
        self._database: ScratchDatabase | None = None

    def add(self, key: Key, value: Item) -> Item | None:
        """Add a key; returns its first value, or None if it is new.

        Raises RuntimeFailure if the temporary database can't be written.
        """
        first = self._first.get(key)
        if first is None and len(self._first) < self._in_memory:
            self._first[key] = value
        elif first is None:
            return self._store(key, value)
        return first

    def _store(self, key: Key, value: Item) -> Item | None:
        if self._database is None:
            self._database = ScratchDatabase(self._table)
        if self._database.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (key, value)).rowcount:
            return None
        row: tuple[Item] = self._database.execute("SELECT value FROM seen WHERE key = ?", (key,)).fetchone()
        return row[0]


class TopPhrases:
    """The most frequent phrases with exact counts; ties are in order of first occurrence."""

    def __init__(self, most: int, *, in_memory: int = _PHRASES) -> None:
        """Report the `most` frequent phrases; keep at most `in_memory` different ones in memory."""
        self._most = most
        self._in_memory = in_memory
        self._counts: dict[str, int] = {}  # in order of first occurrence
        self._database: ScratchDatabase | None = None

    def add(self, phrases: Iterable[str]) -> None:
        """Count each of `phrases` once."""
        counts = self._counts
        for phrase in phrases:
            counts[phrase] = counts.get(phrase, 0) + 1
        if len(counts) > self._in_memory:
            self._spill()

    def _spill(self) -> ScratchDatabase:
        if self._database is None:
            table = "CREATE TABLE phrases (at INTEGER PRIMARY KEY, phrase UNIQUE, count)"
            self._database = ScratchDatabase(table)
        self._database.executemany(_ADD_PHRASE, self._counts.items())
        self._counts = {}
        return self._database

    def most(self) -> list[tuple[str, int]]:
        """The most frequent phrases with their counts."""
        if self._database is None:
            return sorted(self._counts.items(), key=lambda entry: -entry[1])[: self._most]
        return self._spill().execute(_TOP, (self._most,)).fetchall()
