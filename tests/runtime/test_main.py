"""The runtime's own door, as a process: exit status, messages, and life without the compiler's libraries."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.folders import write_turns
from tests.runtime.plans import asked, check, plan, reply

from rulewright_runtime.__main__ import VALUED, main
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.scan import Plan

WITHOUT_COMPILER = """
import runpy, sys
for name in ("lark", "yaml", "jsonschema", "jinja2", "rulewright", "rulewright_grammar"):
    sys.modules[name] = None
sys.argv = ["rulewright_runtime", *sys.argv[1:]]
runpy.run_module("rulewright_runtime", run_name="__main__")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_turns(tmp_path / "m__s.jsonl", "hello", "I promise")
    (tmp_path / "replies.json").write_text(json.dumps({"m__s": {"X2": [[reply("PASS")]]}}))
    save(plan(check(), asked(name="X2")))
    return tmp_path


def save(compiled: Plan) -> None:
    Path("plan.json").write_bytes(encode(compiled))


def run(*words: str) -> int:
    return main(["run", "plan.json", "m__s.jsonl", "--out", "out", *words])


def test_a_plan_runs_where_the_compiler_s_libraries_can_not_be_imported(place: Path) -> None:
    words = ["run", "plan.json", "m__s.jsonl", "--judge", "replay:replies.json", "--out", "out"]
    done = subprocess.run([sys.executable, "-c", WITHOUT_COMPILER, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")  # no gate looks, so the FAIL decides
    verdicts = [json.loads(line)["verdict"] for line in (place / "out" / "verdicts.jsonl").read_text().splitlines()]
    assert verdicts == ["FAIL", "PASS"]


def test_a_run_that_asks_nobody_loads_neither_formats_of_chats_nor_functions_nor_the_reading_of_replies(
    place: Path,
) -> None:
    save(plan(check()))
    formats = ["rulewright_runtime.transcripts.chats", "rulewright_runtime.transcripts.readers"]
    functions = ["rulewright_runtime.functions.texts", "rulewright_runtime.functions.strings"]
    slow = [*formats, *functions, "rulewright_runtime.judging.evidence", "shutil", "signal", "zoneinfo"]
    stopped = "".join(f"sys.modules[{name!r}] = None\n" for name in slow)
    program = WITHOUT_COMPILER.replace("sys.argv =", f"{stopped}sys.argv =")
    words = ["run", "plan.json", "m__s.jsonl", "--out", "out"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_run_imports_msgspec_without_what_it_prefers_to_typing(place: Path) -> None:
    save(plan(check()))
    (place / "typing_extensions.py").write_text("raise SystemExit('imported')\n")
    words = ["-m", "rulewright_runtime", "run", "plan.json", "m__s.jsonl", "--out", "out"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    other = subprocess.run([sys.executable, "-c", "import msgspec"], capture_output=True, text=True, check=False)
    assert "imported" in other.stderr  # else it would prefer nothing


def test_a_refused_input_is_named_and_makes_the_exit_status_three(place: Path, capsys: Any) -> None:
    (place / "n__s.jsonl").write_text('{"turn": 1, "role": "robot", "content": ""}\n')
    save(plan(check()))
    assert run("n__s.jsonl") == 3
    assert capsys.readouterr().err == "n__s.jsonl:1: the role is `robot`; expected `user` or `assistant`\n"
    assert json.loads((place / "out" / "summary.json").read_text())["transcripts"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the plan needs a judge for the check `X2`, and none was given"),
        (["--judge", "oracle"], "unknown judge `oracle`; expected `replay:FILE`"),
        (["--judge=replay:none.json"], "the recorded replies `none.json` can't be read"),
        (["--set", "x=1", "--judge=replay:replies.json"], "unknown parameter `x`"),
        (["--judge"], "`--judge` needs a value"),
        (["--max-calls", "many"], "`--max-calls` needs a whole number, not `many`"),
        (["--fast"], "unknown option `--fast`"),
    ],
)
def test_what_stops_a_run_is_said_in_one_line(place: Path, capsys: Any, words: list[str], message: str) -> None:
    assert run(*words) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"error: {message}")
    assert said.count("\n") == 1
    assert words or not (place / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "plan.json"], "a run needs a plan, transcripts and `--out RUN`"),
        (["scan"], "unknown command `scan`; expected `run`"),
        (["run", "none.json", "m__s.jsonl", "--out", "out"], "No such file"),
        (["run", "m__s.jsonl", "m__s.jsonl", "--out", "out"], "the plan can't be decoded"),
        (["run", "plan.json", "m__s.jsonl", "--out", "plan.json", "--judge=replay:replies.json"], "File exists"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    place: Path, capsys: Any, words: list[str], message: str
) -> None:
    assert main(words) == 3
    assert message in capsys.readouterr().err


def test_help_is_printed(capsys: Any) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    parts = dict(zip(VALUED, re.split(r"^(?:run|play|score) ", shown, flags=re.MULTILINE)[1:], strict=True))
    assert all(f"--{name}" in parts[command] for command, names in VALUED.items() for name in names)
    assert max(map(len, shown.splitlines())) <= 80
    assert main([]) == 3


def test_an_internal_error_does_not_exit_as_a_failed_gate(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def fail(_: object) -> dict[str, Any]:
        raise KeyError("what nobody expected")

    monkeypatch.setattr("rulewright_runtime.__main__._parse", fail)
    assert main(["run"]) == 3
    assert "KeyError: 'what nobody expected'" in capsys.readouterr().err
