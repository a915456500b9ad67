"""SQLite files that several processes share."""

import errno
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rulewright_runtime.calls.ledger import Ledger, LedgerError
from rulewright_runtime.files.shared_database import open_shared, transaction
from rulewright_runtime.workflow.database import Database, StoreError


def locked_for_a_moment(path: Path) -> threading.Thread:
    """Hold the write lock of a new database for a moment, as a process does that creates its tables."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")

    def release() -> None:
        time.sleep(0.1)
        other.execute("rollback")
        other.close()

    thread = threading.Thread(target=release)
    thread.start()
    return thread


@pytest.mark.parametrize("kind", [Ledger, Database])
def test_opening_waits_for_a_process_that_opens_the_same_new_file(
    tmp_path: Path, kind: type[Ledger] | type[Database]
) -> None:
    path = tmp_path / "new.sqlite3"
    thread = locked_for_a_moment(path)
    kind(path).close()
    thread.join()
    assert sqlite3.connect(path).execute("pragma journal_mode").fetchone() == ("wal",)


def test_a_commit_that_fails_leaves_no_open_transaction(tmp_path: Path) -> None:
    database = open_shared(tmp_path / "a.sqlite3")
    database.execute("pragma foreign_keys = on")
    database.execute("create table parent (id integer primary key)")
    database.execute("create table child (id references parent deferrable initially deferred)")
    with pytest.raises(sqlite3.IntegrityError), transaction(database):
        database.execute("insert into child values (1)")
    assert not database.in_transaction
    with transaction(database):
        database.execute("insert into parent values (7)")
    assert database.execute("select * from parent").fetchall() == [(7,)]


def test_an_error_that_ended_the_transaction_itself_is_the_error_that_is_raised(tmp_path: Path) -> None:
    database = open_shared(tmp_path / "a.sqlite3")

    def work() -> None:
        with transaction(database):
            database.execute("rollback")  # as SQLite does when the disk is full
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()


def test_a_ledger_and_a_store_that_cannot_be_written_say_so(tmp_path: Path) -> None:
    ledger, store = Ledger(tmp_path / "ledger.sqlite3"), Database(tmp_path / "store.sqlite3")
    for database in (ledger._db, store._db):
        database.execute("pragma query_only = on")
    with pytest.raises(LedgerError, match=r"the ledger `.*ledger.sqlite3` can't be written: "):
        ledger.renew()
    with pytest.raises(StoreError, match=r"the database `.*store.sqlite3` can't be written: "), store.transaction():
        store._db.execute("delete from runs")
    ledger._db.close()
    with pytest.raises(LedgerError, match=r"can't be read: "):
        ledger.rows("select 1")


@pytest.mark.parametrize(("kind", "error"), [(Ledger, LedgerError), (Database, StoreError)])
def test_a_disk_without_space_for_the_log_of_writes_is_called_full(
    tmp_path: Path, kind: type[Ledger] | type[Database], error: type[Exception]
) -> None:
    resource = pytest.importorskip("resource", reason="file sizes have no limit here")
    path = tmp_path / "a.sqlite3"
    kind(path).close()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(error, match=r"a.sqlite3` can't be opened: no space left on device"):
            kind(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is opened for writing, as on a read-only disk."""
    opened = os.open

    def refusing(path: Any, flags: int, *more: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, "read-only file system", path)
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", refusing)


@pytest.mark.parametrize("is_in_use", [False, True])
def test_what_cannot_be_written_is_read(tmp_path: Path, is_in_use: bool, request: pytest.FixtureRequest) -> None:
    ledger, store = tmp_path / "ledger.sqlite3", tmp_path / "store.sqlite3"
    writer = Database(store)
    writer._db.execute("insert into contents values ('a', x'00')")
    Ledger(ledger).close()
    if not is_in_use:
        writer.close()
    request.getfixturevalue("read_only")
    with Database(store) as database:
        assert [row["sha256"] for row in database.rows("select sha256 from contents")] == ["a"]
        assert not database.is_run_active()
        with pytest.raises(StoreError, match="can't be written"), database.transaction() as db:
            db.execute("delete from contents")
        with pytest.raises(StoreError, match=r"the lock .* can't be opened"), database.run_lock():
            pass
    assert Ledger(ledger).rows("select * from calls") == []
    writer.close()
    missing = tmp_path / "missing.sqlite3"
    with pytest.raises(StoreError, match="read-only file system"):
        Database(missing)


def test_an_unreadable_answer_in_the_ledger_is_an_error_with_words(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    ledger._db.execute("insert into calls values ('k', 'done', 'me', 0, x'7b7d', x'7b7d', ?)", (b"{broken",))
    with pytest.raises(LedgerError, match="the ledger contains an answer that can't be read"):
        ledger.answer("k")


@pytest.mark.parametrize("kind", [Ledger, Database])
def test_a_file_whose_schema_is_not_text_can_not_be_opened(tmp_path: Path, kind: type[Ledger] | type[Database]) -> None:
    path = tmp_path / "damaged.sqlite3"
    kind(path).close()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"create table", b"creat\xee table").replace(b"CREATE TABLE", b"CREAT\xee TABLE"))
    with pytest.raises((LedgerError, StoreError), match="can't be opened"):
        kind(path)
