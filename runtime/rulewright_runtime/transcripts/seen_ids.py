"""The ids that were read, with their locations: the first ones in memory, all others in a temporary database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright_runtime.errors import RuntimeFailure

if TYPE_CHECKING:
    import sqlite3

_IN_MEMORY: Final = 20_000
_ADD: Final = "INSERT OR IGNORE INTO seen VALUES (?, ?)"
_SELECT: Final = "SELECT place FROM seen WHERE id = ?"


class SeenIds:
    """The location where each id was first read."""

    def __init__(self, *, in_memory: int = _IN_MEMORY) -> None:
        """Keep up to `in_memory` ids in memory."""
        self._first: dict[str, str] = {}
        self._in_memory = in_memory
        self._database: sqlite3.Connection | None = None

    def register(self, name: str, location: str) -> str | None:
        """Register an id; returns the location where it was first read, or None if it is new.

        Raises RuntimeFailure if the temporary database can't be written.
        """
        first = self._first.get(name)
        if first is not None:
            return first
        if len(self._first) < self._in_memory:
            self._first[name] = location
            return None
        return self._store(*(text.encode("utf-8", "surrogatepass") for text in (name, location)))

    def _store(self, name: bytes, location: bytes) -> str | None:
        import sqlite3  # few scans need it

        from rulewright_runtime.scratch_database import scratch_database

        try:
            if self._database is None:
                self._database = scratch_database("CREATE TABLE seen (id BLOB PRIMARY KEY, place BLOB) WITHOUT ROWID")
            if self._database.execute(_ADD, (name, location)).rowcount:
                return None
            row: tuple[bytes] = self._database.execute(_SELECT, (name,)).fetchone()
        except sqlite3.Error as error:
            raise RuntimeFailure(f"the ids that were read don't fit on the disk for temporary files: {error}") from None
        return row[0].decode("utf-8", "surrogatepass")

    def __del__(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()
