"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from rulewright_runtime.errors import BusyError
from rulewright_runtime.files.atomic import open_part, open_whole, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"old")
    write_whole(tmp_path / "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_keeps_pointing_where_it_does(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_bytes() == b"new"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left") as failed:
        write_whole(tmp_path / "a", b"new")
    assert failed.value.filename == str(tmp_path / "a")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_what_breaks_off_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def half() -> None:
        with open_whole(tmp_path / "a") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_what_a_killed_writer_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".a.rulewright").write_bytes(b"half of something that was longer")
    write_whole(tmp_path / "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


def test_of_two_writers_the_second_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with open_whole(tmp_path / "a") as stream:
        with pytest.raises(BusyError, match=r"a` is in use: process"):
            write_whole(tmp_path / "a", b"second")
        stream.write(b"first")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"first")]


def test_a_file_that_cannot_be_made_is_called_as_the_caller_did(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "none" / "a", b"new")
    assert caught.value.filename == str(tmp_path / "none" / "a")


def test_a_path_that_is_not_a_file_is_written_to_directly() -> None:
    write_whole(os.devnull, b"anything")
    assert not list(Path(os.devnull).parent.glob(f".{Path(os.devnull).name}.*"))


def test_a_file_of_a_like_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.new").write_bytes(b"somebody's")
    write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a.new").read_bytes() == b"somebody's"


def test_what_is_appended_to_a_file_is_not_appended_to_a_hard_link_of_it(tmp_path: Path) -> None:
    path, snapshot = tmp_path / "rows.jsonl", tmp_path / "snapshot.jsonl"
    path.write_bytes(b"one\ntwo\n")
    os.link(path, snapshot)
    with open_part(str(path), 4) as stream:
        stream.write(b"three\n")
    assert path.read_bytes() == b"one\nthree\n"
    assert snapshot.read_bytes() == b"one\ntwo\n"
    assert {each.name for each in tmp_path.iterdir()} == {"rows.jsonl", "snapshot.jsonl"}
