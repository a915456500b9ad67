"""`demo` replaces its own run, and no other without `--overwrite`."""

from pathlib import Path

import pytest

from rulewright.cli import main


def test_a_run_in_the_folder_that_is_named_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert main(["demo"]) == 0
    Path("runs", "demo").rename("mine")
    before = Path("mine", "manifest.json").read_bytes()
    capsys.readouterr()
    assert main(["demo", "-o", "mine"]) == 3
    assert "`mine` contains a finished run; replace it with `--overwrite`" in capsys.readouterr().err
    assert Path("mine", "manifest.json").read_bytes() == before
    assert main(["demo", "-o", "mine", "--overwrite"]) == 0
