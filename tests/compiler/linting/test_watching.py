"""Watching lints again after every change of a dependency, and only then."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rulewright import dependencies
from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.linting import watching
from rulewright.linting.watching import watch
from rulewright.load import load_file
from rulewright_runtime.terminal import CLEAR_SCREEN, SafeStream


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def aged(folder: Path) -> None:
    """Give all files an old time stamp, so that none seems to have changed while it was read."""
    for path in [folder, *folder.iterdir()]:
        os.utime(path, (0, path.stat().st_mtime - 1000))


def printed(folder: Path, changes: list[Callable[[], object]], output: io.StringIO) -> list[str]:
    """What is printed when each of the changes happens between two looks."""

    def once() -> str:
        texts = [
            load_file(folder / name).source.text for name, _ in dependencies.names_in(folder) if name[1:] == ".txt"
        ]
        if "broken" in texts:
            raise UsageError("what is broken can't be read|")
        return f"{'+'.join(texts)}{' locked' if dependencies.exists(folder / 'lock') else ''}|"

    pending = iter(changes)

    def wait(seconds: float) -> None:
        assert 0 < seconds < 1
        next(pending, lambda: None)()
        aged(folder)

    aged(folder)
    assert watch(once, SafeStream(output, is_output=True), wait=wait, rounds=len(changes) + 1) == 0
    return output.getvalue().replace("\n", "").split("|")[:-1]


def write(folder: Path, name: str, text: str) -> Callable[[], object]:
    return lambda: (folder / name).write_text(text, encoding="utf-8")


def test_a_round_follows_every_change(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "one")()
    changes = [
        write(tmp_path, "a.txt", "two"),
        write(tmp_path, "b.txt", "three"),
        (tmp_path / "a.txt").unlink,
        write(tmp_path, "lock", ""),
    ]
    assert printed(tmp_path, changes, io.StringIO()) == ["one", "two", "two+three", "three", "three locked"]


def test_a_project_that_is_broken_for_a_moment_does_not_end_the_watch(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "one")()
    changes = [write(tmp_path, "a.txt", "broken"), write(tmp_path, "a.txt", "whole")]
    assert printed(tmp_path, changes, io.StringIO()) == ["one", "error: what is broken can't be read", "whole"]


def test_a_terminal_is_cleared_before_each_round(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "one")()
    assert printed(tmp_path, [write(tmp_path, "a.txt", "two")], Terminal()) == [
        f"{CLEAR_SCREEN}one",
        f"{CLEAR_SCREEN}two",
    ]


def test_a_change_during_a_round_starts_another_round(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one", encoding="utf-8")
    shown: list[str] = []

    def once() -> str:
        shown.append(load_file(path).source.text)
        path.write_text("two", encoding="utf-8")
        return ""

    watch(once, SafeStream(io.StringIO(), is_output=True), wait=lambda seconds: None, rounds=3)
    assert shown == ["one", "two"]


def test_the_command_watches_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "X1.yaml"
    path.write_text("just: text\n", encoding="utf-8")

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watching, "sleep", interrupt)
    assert main(["lint", "--watch", str(path)]) == 130
    assert "unknown-document" in capsys.readouterr().out


def test_watching_excludes_options_that_end_after_one_round() -> None:
    for word in ("--fix", "--diff", "-"):
        assert main(["lint", "--watch", word]) == 3
