"""The ids that were read and where: the first ones in memory, any number of others in a temporary database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright_runtime.errors import RuntimeFailure

if TYPE_CHECKING:
    import sqlite3

_IN_MEMORY: Final = 20_000
_ADD: Final = "INSERT OR IGNORE INTO seen VALUES (?, ?)"
_PLACE: Final = "SELECT place FROM seen WHERE id = ?"


class SeenIds:
    """Where each id was read first."""

    def __init__(self, *, in_memory: int = _IN_MEMORY) -> None:
        """Keep up to so many ids in memory."""
        self._first: dict[str, str] = {}
        self._in_memory = in_memory
        self._database: sqlite3.Connection | None = None

    def before(self, name: str, place: str) -> str | None:
        """Where the id was read before; None where it was not, and it counts as read at `place` from now on.

        Raises RuntimeFailure where the temporary database can't be written.
        """
        known = self._first.get(name)
        if known is not None:
            return known
        if len(self._first) < self._in_memory:
            self._first[name] = place
            return None
        return self._stored(*(text.encode("utf-8", "surrogatepass") for text in (name, place)))

    def _stored(self, name: bytes, place: bytes) -> str | None:
        import sqlite3  # few scans need it

        from rulewright_runtime.scratch_database import scratch_database

        try:
            if self._database is None:
                self._database = scratch_database("CREATE TABLE seen (id BLOB PRIMARY KEY, place BLOB) WITHOUT ROWID")
            if self._database.execute(_ADD, (name, place)).rowcount:
                return None
            found: tuple[bytes] = self._database.execute(_PLACE, (name,)).fetchone()
        except sqlite3.Error as error:
            raise RuntimeFailure(f"the ids that were read don't fit on the disk for temporary files: {error}") from None
        return found[0].decode("utf-8", "surrogatepass")

    def __del__(self) -> None:
        """Give the database back."""
        if self._database is not None:
            self._database.close()
