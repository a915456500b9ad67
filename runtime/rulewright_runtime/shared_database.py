"""SQLite files that several processes share: opening one, and a transaction in one."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE: Final = 30.0  # seconds to wait for other processes
PAUSE: Final = 0.01  # seconds


def open_shared(
    path: str | os.PathLike[str], *, any_thread: bool = False, permissions: int = 0o600
) -> sqlite3.Connection:
    """Open a database with write-ahead logging; a new file gets the `permissions`, less the umask.

    The connection commits by itself outside of `transaction`. Raises OSError or sqlite3.Error.
    """
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, permissions))
    database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=not any_thread)
    try:
        _write_ahead(database)
    except BaseException:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. Retries, because SQLite itself does not wait for another opening process."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(PAUSE)


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end, or roll back if the block or the commit fails. Raises sqlite3.Error."""
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:  # SQLite itself rolls back when the disk is full
            database.execute("rollback")
        raise
