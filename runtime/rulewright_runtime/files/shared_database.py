"""SQLite files that several processes share: opening one, and a transaction in one."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PATIENCE: Final = 30.0  # seconds to wait for other processes
PAUSE: Final = 0.01  # seconds
_READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def open_shared(
    path: str | os.PathLike[str], *, any_thread: bool = False, permissions: int = 0o600
) -> sqlite3.Connection:
    """Open a database with write-ahead logging; a new file gets the `permissions`, less the umask. A file that exists
    but can't be written is opened for reading.

    The connection commits by itself outside of `transaction`. Raises OSError or sqlite3.Error.
    """
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    is_writable = _made(path, permissions)
    options = "" if is_writable else _to_read(Path(path))
    address = Path(path).absolute().as_uri() + options
    database = sqlite3.connect(
        address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=not any_thread
    )
    try:
        if is_writable:
            _write_ahead(database)
        database.execute("select 1 from sqlite_master").fetchone()  # reads the schema
    except UnicodeDecodeError:  # SQLite's message quotes a schema that is not text
        database.close()
        raise sqlite3.DatabaseError("malformed database schema") from None
    except BaseException:
        database.close()
        raise
    return database


def _made(path: str | os.PathLike[str], permissions: int) -> bool:
    """Whether the file can be written; a missing one is created."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, permissions))
    except OSError as error:
        if error.errno not in _READ_ONLY or not os.path.isfile(path):
            raise
        return False
    return os.access(os.path.dirname(path) or ".", os.W_OK)


def _to_read(path: Path) -> str:
    """The options for reading: a database without a log of writes has no writer, and needs none of its files."""
    is_closed = not path.with_name(path.name + "-wal").exists()
    return "?mode=ro&immutable=1" if is_closed else "?mode=ro"


def prepare(database: sqlite3.Connection, statements: Iterable[str], version: int) -> int:
    """Create the tables of an empty database by `statements`. Returns its format's version. Raises sqlite3.Error."""
    if not _version(database):
        with transaction(database):
            if not _version(database):  # another process may have been faster
                for statement in statements:
                    database.execute(statement)
                database.execute(f"pragma user_version = {version}")
    return _version(database)


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("pragma user_version").fetchone()[0])


def _write_ahead(database: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. Retries, because SQLite itself does not wait for another opening process."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_IOERR_SHMSIZE:  # SQLite calls it "disk I/O error"
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(PAUSE)


@contextmanager
def transaction(database: sqlite3.Connection) -> Generator[None]:
    """Commit at the end, or roll back if the block or the commit fails. Raises sqlite3.Error."""
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:  # SQLite itself rolls back when the disk is full
            database.execute("rollback")
        raise
