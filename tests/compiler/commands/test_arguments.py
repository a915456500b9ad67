"""Arguments are declared without what runs a command: help, version and completion start at once."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rulewright.arguments import run_them, write_rules
from rulewright.arguments.command_parser import EXAMPLES, parser_of
from rulewright.arguments.shared_options import existing, existing_file, existing_or_standard_input
from rulewright.categories import MEANINGS
from rulewright.cli import COMMANDS, main
from rulewright.cli import parser_of as command
from rulewright_runtime.transcripts.readers import FORMATS

HELPING = """
import contextlib, io, json, sys
from rulewright.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    for words in json.loads(sys.argv[1]):
        assert main(words) == 0, words
print(json.dumps(sorted(name for name in sys.modules if not name.startswith("_"))))
"""
LIGHT = (
    "rulewright.arguments",
    "rulewright.cli",
    "rulewright.exit_codes",
    "rulewright_runtime.cells",
    "rulewright_runtime.english",
    "rulewright_runtime.processes.process_end",
    "rulewright_runtime.terminal",
)


def loaded(*commands: list[str]) -> set[str]:
    program = [sys.executable, "-c", HELPING, json.dumps(commands)]
    return set(json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout))


def test_help_version_and_completion_import_nothing_that_runs_a_command() -> None:
    found = loaded(["--help"], ["--version"], *([name, "--help"] for name in COMMANDS if name != "lint"))
    found |= loaded(["completion", "bash"], ["completion", "fish"])
    ours = {name for name in found if name.startswith("rulewright.") or name.startswith("rulewright_")}
    light = {name for name in ours if name.startswith(LIGHT)}
    assert ours - light == {
        "rulewright.commands",
        "rulewright.commands.completion",
        "rulewright_runtime",
        "rulewright_runtime.processes",
    }
    assert not found & {"asyncio", "jinja2", "jsonschema", "lark", "msgspec", "re2", "yaml"}


def test_every_command_that_writes_a_file_or_folder_takes_o_for_out(capsys: pytest.CaptureFixture[str]) -> None:
    helps = {}
    for name in ("compile", "diff", "gold", "plan", "record", "report", "rescore", "scan", "export"):
        assert main([name, "--help"]) == 0
        helps[name] = capsys.readouterr().out
    assert [name for name, shown in helps.items() if not re.search(r"\[?-o [A-Z]+\]?", shown)] == []


def test_the_help_of_lint_imports_no_linter() -> None:
    found = loaded(["lint", "--help"], ["lint", "-h"])
    assert not found & {"lark", "msgspec", "rulewright.linting.lint_run", "rulewright.rules", "yaml"}


def imported_with(module: str) -> set[str]:
    program = f"import sys, {module}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {*done.stdout.split()}


def test_a_run_imports_nothing_that_asks_a_model_or_reads_a_project() -> None:
    asking = {"anyio", "asyncio", "http.client", "sqlite3", "ssl", "rulewright_runtime.calls.scheduler"}
    project = {"jinja2", "jsonschema", "lark", "yaml", "rulewright.project"}
    assert not (asking | project) & imported_with("rulewright.commands.scan")


@pytest.mark.parametrize("words", [["leaderboard", "run"], ["why", "run", "chat"], ["scan", "chats"]])
def test_a_command_imports_msgspec_without_what_it_prefers_to_typing(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "typing_extensions.py").write_text("raise SystemExit('imported')\n")
    command = [sys.executable, "-m", "rulewright", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 3
    assert "imported" not in done.stderr


def test_compiling_a_project_imports_nothing_that_writes_pages_or_runs_workflows() -> None:
    others = {"jinja2", "rulewright.reporting.overview", "rulewright_runtime.workflow.machine"}
    assert not others & imported_with("rulewright.commands.chosen_project")
    assert not others & imported_with("rulewright.commands.score")  # until a page is asked for


def test_the_words_of_options_are_those_of_what_they_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(MEANINGS) == write_rules.CATEGORIES
    assert main(["inspect-data", "--help"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert [each.name for each in FORMATS if f" {each.name} " not in page] == []


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_is_not_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = parser_of("scan", run_them.scan_arguments).format_help()
    *prose, examples, codes = text.split("\n\n")
    assert codes.startswith("exit codes:\n  0  ")
    widest = max(len(line) for part in (*prose[1:], codes) for line in part.splitlines())
    assert examples.startswith("examples:\n  rulewright scan ")
    assert columns - 25 < widest <= columns


def test_every_line_of_every_help_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("usage: ")
        assert [line for line in shown.splitlines() if len(line) > 80] == [], name


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["scan", ".", "--projct", "x"], "--project"),
        (["scan", ".", "--ovewrite"], "--overwrite"),
        (["scan", ".", "--projct=x"], "--project"),
        (["lint", "--format", "jsn"], "json"),
        (["lint", "--format", "pdf"], None),
        (["scan", ".", "--fail_on", "S3"], "--fail-on"),
        (["lint", "--fromat", "json"], "--format"),
        (["hil", "resolve", "x", "--bye", "ana"], "--by"),
        (["workflow", "rnu", "--file", "x"], "run"),
        (["scan", ".", "--dry-run"], "rulewright plan"),
        (["scan", ".", "--baseline", "runs/1"], "rulewright diff BEFORE AFTER"),
    ],
)
def test_a_misspelt_option_or_choice_is_guessed(
    words: list[str], meant: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 3
    told = capsys.readouterr().err
    assert (f"help: did you mean `{meant}`? `rulewright" in told) is (meant is not None)


@pytest.mark.parametrize(
    ("path", "guess"),
    [
        ("data/chat.jsonl", "; did you mean `data/chats.jsonl`?"),
        ("data\\chats.jsonl", "; did you mean `data/chats.jsonl`?"),
        ("data/other.csv", ""),
        ("data/*.jsonl", "; patterns are not expanded here: name its folder"),
        ("data/*.csv", "; no file fits the pattern"),
        ("nowhere/chats.jsonl", ""),
    ],
)
@pytest.mark.parametrize("command", [["scan"], ["run", "plan.json"], ["questions", "-o", "q"], ["plan"], ["lint"]])
def test_files_that_are_not_there_are_refused_before_anything_runs(
    command: list[str],
    path: str,
    guess: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "chats.jsonl").touch()
    assert main([*command, path]) == 3
    assert f"no such file or folder: `{path}`{guess}\n" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_shows_examples_that_the_command_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    parser = command(name)
    assert (parser.description or "").endswith("."), "a whole sentence before the options"
    for action in parser._actions:
        action.type = None if action.type in (existing, existing_file, existing_or_standard_input) else action.type
    for example in EXAMPLES[name]:
        assert f"\n  rulewright {example}\n" in shown
        assert len(example) <= 67
        first, *words = shlex.split(example)
        assert first == name
        parser.parse_args(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "chat.yaml", "chat.yaml"], "`chat.yaml`: the plan can't be decoded: "),
        (["run", "chat.yaml", "chat.yaml"], "; `rulewright compile` writes plans\n"),
        (["init", "new", "--from", "chat.yml"], "no such file or folder: `chat.yml`; did you mean `chat.yaml`?\n"),
        (["serve", "nowhere"], "folder not found: `nowhere`; name a run, or a folder that contains runs"),
        (["scan", "chat.yaml", "--judge", "plugin:x"], "provides `x` (rulewright.judges); none is installed"),
    ],
)
def test_a_refused_word_is_named_with_what_to_do(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text("a: 1\n", encoding="utf-8")
    Path("rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    Path("checks").mkdir()
    Path("checks", "brief.yaml").write_text("id: brief\neach: reply\nfail: size(turn.content) > 9\n", encoding="utf-8")
    assert main(words) == 3
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message", "example"),
    [
        (["cache"], "missing argument: `ACTION`; expected `stats`, `export` or `prune`", "cache stats"),
        (["cache", "prune"], "`--transcript` or `--older-than` is missing", ""),
        (["completion"], "missing argument: `shell`; expected `bash`, `fish` or `zsh`", "completion bash"),
        (["convert"], "missing arguments: `IN`, `OUT`", "convert logs/today.eval today.jsonl"),
        (["hil", "resolve", "x"], "missing argument: `--why`", 'hil resolve run-1-write-1 --by ana --why "tried it"'),
    ],
)
def test_missing_arguments_are_named_with_an_example(
    words: list[str], message: str, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 3
    error, help = capsys.readouterr().err.splitlines()
    assert error == f"error: {message}"
    assert help.startswith(f"help: for example `rulewright {example}`; " if example else "help: `rulewright ")
