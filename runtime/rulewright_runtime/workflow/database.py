"""The SQLite file behind the store: its tables, transactions, and a lock held by one run.

Triggers make the tables of the log append-only.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec

from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import BusyError, RuntimeFailure
from rulewright_runtime.files.locks import claim, is_claimed, release
from rulewright_runtime.files.shared_database import open_shared, prepare, transaction
from rulewright_runtime.strict_json import UNDECODED

Kind = TypeVar("Kind")
VERSION: Final = 4

TABLES: Final = """
create table runs (
  number integer primary key,
  run_id text not null unique,
  workflow text not null,
  plan blob not null,
  plan_hash text not null,
  status text not null,
  started_at text not null,
  finished_at text,
  tokens_used integer not null default 0,
  cost_usd real not null default 0,
  warned integer not null default 0
);
create table tasks (
  run_id text not null references runs (run_id),
  task_id text not null,
  position integer not null,
  status text not null,
  record blob not null,
  primary key (run_id, task_id)
) without rowid;
create table transitions (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  source text not null,
  event text not null,
  target text not null,
  before text not null,
  after text not null,
  undecided text not null
);
create table events (
  number integer primary key,
  run_id text not null,
  task_id text,
  event_type text not null,
  body blob not null
);
create table hil_items (
  id text primary key,
  number integer not null,
  run_id text not null,
  task_id text not null,
  status text not null,
  body blob not null
);
create table gate_reports (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  body blob not null
);
create table review_log (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  body blob not null
);
create table contents (
  sha256 text primary key,
  content blob not null
) without rowid;
create table outputs (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  iteration integer not null,
  path text not null,
  sha256 text not null
);
create table attempts (
  number integer primary key,
  run_id text not null,
  task_id text not null,
  operation_id text not null,
  attempt_id text not null unique,
  session_id text not null,
  agent text not null,
  purpose text not null,
  started_at text not null
);
create table decisions (
  number integer primary key,
  item_id text not null,
  body blob not null,
  origin blob not null
);
create table processes (
  number integer primary key,
  role text not null,
  boot text not null,
  namespace text not null,
  pid integer not null,
  started text not null,
  name text not null
);
create index tasks_of_transitions on transitions (run_id, task_id);
create index tasks_of_events on events (run_id, task_id);
create index tasks_of_outputs on outputs (run_id, task_id);
create index operations_of_attempts on attempts (operation_id);
"""

APPEND_ONLY: Final = (
    "transitions", "events", "gate_reports", "review_log", "outputs", "attempts", "decisions", "processes",
)  # fmt: skip


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
            raise StoreError(f"the database `{self.path}` can't be opened: {reason_of(error)}") from None

    def _prepare(self) -> None:
        version = prepare(self._db, _schema(), VERSION)
        if version != VERSION:
            raise StoreError(
                f"schema version mismatch: the database `{self.path}` has version {version}, and this runtime reads"
                f" {VERSION}; to migrate, export its runs with the release that wrote it"
                " (`rulewright workflow trace RUN --format json`) and name another file in `workflow.state`"
            )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
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
    def run_lock(self) -> Generator[bool]:
        """Lock the database for one run. Yields whether the lock was acquired; the lock ends with the process."""
        with self._lock_errors():
            try:
                handle = claim(self._lock_path, self._lock_path, patience=0.2)  # `is_run_active` locks it for a moment
            except BusyError:
                handle = None
        try:
            yield handle is not None
        finally:
            if handle is not None:
                release(handle, self._lock_path)

    def is_run_active(self) -> bool:
        """Whether a run holds the lock of the database."""
        with self._lock_errors():
            return is_claimed(self._lock_path)

    @property
    def _lock_path(self) -> str:
        return f"{self.path.resolve()}.lock"  # of a link's target: one database has one lock

    @contextmanager
    def _lock_errors(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            path, reason = self._lock_path, reason_of(error).lower()
            raise StoreError(f"the lock `{path}` can't be opened: {reason}") from None


def _schema() -> Iterator[str]:
    """Yield the statements that create the schema in an empty database."""
    yield from filter(str.strip, TABLES.split(";\n"))
    for table in APPEND_ONLY:
        for change in ("update", "delete"):
            body = f"begin select raise(abort, '{table} is only ever added to'); end"
            yield f"create trigger no_{change}_of_{table} before {change} on {table} {body}"


def pack(value: Any) -> bytes:
    """Encode a value for a column."""
    return msgspec.json.encode(value, order="deterministic")


def unpack(data: bytes, kind: type[Kind]) -> Kind:
    """Decode a column. Raises StoreError when it can't be read."""
    with _reading():
        return msgspec.json.decode(data, type=kind)


def converted(row: sqlite3.Row, kind: type[Kind]) -> Kind:
    """A row as the structure `kind`. Raises StoreError when it can't be read."""
    with _reading():
        return msgspec.convert(dict(row), kind)


@contextmanager
def _reading() -> Generator[None]:
    try:
        yield
    except (*UNDECODED, TypeError) as error:  # a number in place of JSON is a TypeError
        raise StoreError(f"the database contains a row that can't be read: {error}") from None
