"""One table of exit codes: every command is in it, every help shows it, and the reference page holds it."""

from pathlib import Path

import pytest

from rulewright.cli import COMMANDS, main
from rulewright.exit_codes import EXIT_CODES, REFUSED, table
from rulewright_runtime.__main__ import main as runtime

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "exit-codes.md"
NAMES = list(COMMANDS)


def test_the_table_holds_every_command_in_the_order_of_the_overview() -> None:
    assert list(EXIT_CODES) == [name for name in NAMES if name in EXIT_CODES]
    assert set(EXIT_CODES) == set(NAMES)


def test_the_reference_page_holds_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", NAMES)
def test_bad_usage_is_3_in_every_command(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # without runs, the latest of which would be named first
    assert main([command, "--no-such-option"]) == REFUSED
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("command", NAMES)
def test_help_shows_the_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f" {code} {meaning}" in shown for code, meaning in EXIT_CODES[command].items())


def test_the_starter_project_does_not_exit_as_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert main(["lint"]) == 0
    assert main(["scan", "transcripts", "--out", "run"]) == 1


def test_code_that_is_called_does_not_choose_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaves(_: object) -> int:
        raise SystemExit(0)

    monkeypatch.setattr("rulewright.commands.eval.run", leaves)
    assert main(["eval", "1"]) == 3
    monkeypatch.setattr("rulewright_runtime.commands.run.run_command", leaves)
    assert runtime(["run", "plan.json", "--out", "run"]) == 3
