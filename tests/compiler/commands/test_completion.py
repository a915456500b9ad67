"""Completion in shells: bash offers what the parsers know, and the other scripts name the same."""

import subprocess

import pytest

from rulewright.cli import COMMANDS, main
from rulewright.commands.completion import options_of


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["sc"], ["scan", "score"]),
        (["lint", "--ou"], ["--output-file"]),
        (["explain", "--format", ""], ["human", "json"]),
        (["completion", "f"], ["fish"]),
        (["workflow", "ch"], ["check"]),
        (["nothing", "--x"], []),
    ],
)
def test_bash_offers_what_the_parsers_know(
    line: list[str], offered: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = " ".join(f"'{word}'" for word in ["rulewright", *line])
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(line)}; _rulewright; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    command = ["bash", "-c", f"{script('bash', capsys)}\n{ask}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered
    assert done.stderr == ""


def test_every_option_is_in_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    fish, zsh = script("fish", capsys), script("zsh", capsys)
    assert zsh.startswith("autoload -U +X bashcompinit")
    for name in COMMANDS:
        assert f"-a {name} -d" in fish
        for option in options_of(name):
            for word in option.names:
                assert word in zsh
                assert f"from {name}'" in fish
                assert f" -l {word[2:]}" in fish or f" -s {word[1:]}" in fish
