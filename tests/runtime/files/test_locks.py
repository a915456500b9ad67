"""Locks: who holds one is reported, and a place that is not a file needs none."""

import os
from pathlib import Path

import pytest

from rulewright_runtime.errors import BusyError
from rulewright_runtime.files.locks import claim, lock, lock_file, lock_folder


def test_a_lock_names_its_holder_and_leaves_nothing(tmp_path: Path) -> None:
    with lock_folder(tmp_path / "run"):
        with (
            pytest.raises(BusyError, match=f"run` is in use: process {os.getpid()} on "),
            lock_folder(tmp_path / "run"),
        ):
            pass
        assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
    assert list((tmp_path / "run").iterdir()) == []


def test_a_holder_without_a_name_is_another_process(tmp_path: Path) -> None:
    handle = claim(str(tmp_path / "lock"), "it")
    os.ftruncate(handle, 0)
    with (
        pytest.raises(BusyError, match="`it` is in use: another process is writing there"),
        lock(str(tmp_path / "lock"), "it"),
    ):
        pass
    os.close(handle)


def test_a_lock_file_that_nobody_holds_locks_nothing(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("left by a killed process")
    with lock_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match=f"{tmp_path}'"), lock_folder(tmp_path):
        pass
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_path_that_is_not_a_file_is_not_locked() -> None:
    with lock_file(os.devnull), lock_file(os.devnull):
        pass
    assert not os.path.exists(f"{os.path.dirname(os.devnull)}/.null.lock")
