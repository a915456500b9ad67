"""The SQLite file behind the store: schema, transactions, and a lock held by one run."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.shared_database import open_shared, transaction
from rulewright_runtime.strict_json import UNDECODED
from rulewright_runtime.workflow import database_schema as tables

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

Kind = TypeVar("Kind")


class StoreError(RuntimeFailure):
    """A database that can't be opened, written or read."""


class Database:
    """An open database, safe to share between threads and processes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the database at `path`. Raises StoreError."""
        self.path = Path(path)
        self._lock = threading.RLock()
        try:
            self._db = open_shared(self.path, any_thread=True, permissions=0o666)
            self._db.row_factory = sqlite3.Row
            self._db.execute("pragma synchronous = full")
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"the database `{self.path}` can't be opened: {error}") from None

    def _prepare(self) -> None:
        with self.transaction():
            version = self._db.execute("pragma user_version").fetchone()[0]
            if version == 0:
                for statement in tables.statements():
                    self._db.execute(statement)
            elif version != tables.VERSION:
                raise StoreError(
                    f"schema version mismatch: the database `{self.path}` has version {version}, and this runtime reads"
                    f" {tables.VERSION}; to migrate, export its runs with the release that wrote it"
                    " (`rulewright workflow trace RUN --format json`) and name another file in `workflow.state`"
                )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        """The database itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit at the end, or roll back on an error. Raises StoreError when the database can't be written."""
        with self._lock:
            if self._db.in_transaction:  # nested: the outer transaction commits
                yield self._db
                return
            try:
                with transaction(self._db):
                    yield self._db
            except sqlite3.Error as error:
                raise StoreError(f"the database `{self.path}` can't be written: {error}") from error

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query. Raises StoreError when the database can't be read."""
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"the database `{self.path}` can't be read: {error}") from error

    @contextmanager
    def run_lock(self) -> Iterator[bool]:
        """Lock the database for one run. Yields whether the lock was acquired; it ends with the process at the latest.

        Without `fcntl` there is no lock, and the result is True.
        """
        handle = self._lock_file()
        if handle is None:
            yield True
            return
        try:
            yield _lock(handle, patience=0.2)  # `is_run_active` holds the lock for a moment
        finally:
            os.close(handle)

    def is_run_active(self) -> bool:
        """Whether a run holds the lock of the database."""
        handle = self._lock_file()
        if handle is None:
            return False
        try:
            return not _lock(handle, shared=True)
        finally:
            os.close(handle)

    def _lock_file(self) -> int | None:
        if fcntl is None:
            return None
        target = self.path.resolve()  # of a link: one database has one lock
        path = target.with_name(target.name + ".lock")
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)  # less the umask, as the database
        except OSError as error:
            raise StoreError(f"the lock `{path}` can't be opened: {(error.strerror or str(error)).lower()}") from None


def _lock(handle: int, *, shared: bool = False, patience: float = 0.0) -> bool:
    """Lock a file, exclusively unless `shared`, within `patience` seconds. Returns whether the lock was acquired."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.01)
        else:
            return True


def pack(value: Any) -> bytes:
    """Encode a value for a column."""
    return msgspec.json.encode(value, order="deterministic")


def unpack(data: bytes, kind: type[Kind]) -> Kind:
    """Decode a column. Raises StoreError when it can't be read."""
    try:
        return msgspec.json.decode(data, type=kind)
    except UNDECODED as error:
        raise StoreError(f"the database holds a row that can't be read: {error}") from None
