"""A connection to a temporary SQLite database that reports a full disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rulewright_runtime.errors import RuntimeFailure


class ScratchConnection(sqlite3.Connection):
    """Its statements raise RuntimeFailure if SQLite can't carry them out, and the database ends with the object."""

    def __del__(self) -> None:
        """Close the connection."""
        self.close()

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Carry out one statement."""
        with _reported():
            return super().execute(*statement)

    def executemany(self, *statement: Any) -> sqlite3.Cursor:
        """Carry out one statement for each of several rows."""
        with _reported():
            return super().executemany(*statement)


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise RuntimeFailure(f"the disk for temporary files can't hold what was read: {error}") from None
