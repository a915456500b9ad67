"""The temporary database of what does not fit in memory."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.files.scratch_database import ScratchDatabase

FULL = "pragma max_page_count = 4"


def test_a_full_disk_for_temporary_files_is_reported() -> None:
    database = ScratchDatabase("create table seen (key)", FULL)
    with pytest.raises(RuntimeFailure, match="can't hold what was read: database or disk is full"):
        database.executemany("insert into seen values (?)", [("x" * 1000,)] * 100)
    with pytest.raises(RuntimeFailure, match="the disk for temporary files"):
        database.execute("insert into seen values (?)", ("x" * 100_000,))


def test_it_may_end_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[object] = []
    report: Callable[[object], None] = failures.append
    monkeypatch.setattr("sys.unraisablehook", report)
    with ThreadPoolExecutor(1) as pool:
        database = pool.submit(ScratchDatabase, "create table seen (key)").result()
    del database  # as the garbage collector does, in whichever thread it runs
    assert failures == []
