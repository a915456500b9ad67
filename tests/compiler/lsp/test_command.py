"""The command that an editor starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from rulewright.cli import main


def test_without_its_library_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) == 3
    assert "install it with `pip install 'rulewright[lsp]'`" in capsys.readouterr().err


def test_no_other_command_imports_the_library() -> None:
    program = (
        "import sys, rulewright.cli, importlib\n"
        "sharing = {name: home for name, (home, _) in rulewright.cli.SHARING.items()}\n"
        "names = [sharing.get(name, name.replace('-', '_')) for name in rulewright.cli.COMMANDS]\n"
        "for name in names: importlib.import_module(f'rulewright.commands.{name}')\n"
        "import rulewright.linting.lint_run, rulewright.check.project_check\n"
        "print(sorted({'pygls', 'lsprotocol', 'cattrs'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("length", ["9" * 15, "9" * 20, "9" * 5_000])
def test_a_message_longer_than_any_memory_ends_the_server_in_words(
    length: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "message").write_bytes(f"Content-Length: {length}\r\n\r\n{{}}".encode())
    with (tmp_path / "message").open() as message:
        monkeypatch.setattr(sys, "stdin", message)
        status = main(["lsp", "--stdio"])
    words = "error: the editor announced a message that is too large (`Content-Length`)\n"
    assert (status, capsys.readouterr().err) == (3, words)
