"""Standard streams that are closed, full or left by their reader: commands end quietly, and none of them with a success
that nobody could see."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from tests.compiler import small_project
from tests.folders import turns_of, write_lines
from tests.rounds import part

PASSING, FAILING = "Hello.", "You must leave."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a gate, a talk that passes it and one that does not, and a compiled plan."""
    folder = tmp_path_factory.mktemp("streams")
    parts = {"route": "lexicon_only", "routing": "deterministic_precheck: words"}
    of_safety, of_compliance = (small_project.check(bucket=bucket, **parts) for bucket in "AB")
    checks = {"checks/W-1.yaml": of_safety, "checks/X-1.yaml": of_compliance.replace("W-1", "X-1")}
    small_project.write(folder, checks)
    for name, said in (("passing", PASSING), ("failing", FAILING)):
        row = {"transcript_id": name, "scenario_id": "night", "model": "m", "turns": turns_of("Hello", said)}
        write_lines(folder / f"{name}.jsonl", [row])
    (folder / "bad.yaml").write_text("id: [\n")
    compiled = ["compile", "--project", str(folder), "--profile", "smoke", "-o", str(folder / "plan.json")]
    assert run(folder, [sys.executable, "-m", "rulewright", *compiled], "")[0] == 0
    return folder


def run(folder: Path, words: list[str], redirection: str) -> tuple[int, str]:
    """The exit status of a command whose streams go elsewhere, and what it says on those that do not."""
    shell = ["bash", "-c", f'"$@" {redirection}', "bash", *words]
    done = subprocess.run(shell, capture_output=True, encoding="utf-8", cwd=folder, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


SCAN = ["-m", "rulewright", "scan", "{0}.jsonl", "--project", ".", "--profile", "smoke", "--out", "{0}-{1}"]
RUNTIME = ["-m", "rulewright_runtime", "run", "plan.json", "{0}.jsonl", "--out", "r-{0}-{1}"]
LINT = ["-m", "rulewright", "lint", "bad.yaml", "--no-cache"]
EVAL = ["-m", "rulewright", "eval", "1 + 1"]
REDIRECTIONS = (">&-", "2>&-", ">&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full")


COMMANDS = (
    ([each.format("passing", "{}") for each in SCAN], 0, True),
    ([each.format("failing", "{}") for each in SCAN], 1, True),
    ([each.format("failing", "{}") for each in RUNTIME], 1, False),
    (LINT, 1, True),
    (EVAL, 0, True),
)


@pytest.mark.parametrize(("command", "redirection"), part(list(product(COMMANDS, REDIRECTIONS)), 6))
def test_a_command_whose_streams_are_closed_or_full_ends_quietly(
    place: Path, command: tuple[list[str], int, bool], redirection: str
) -> None:
    words, usual, prints = command
    number = REDIRECTIONS.index(redirection)
    status, said = run(place, [sys.executable, *(word.replace("{}", str(number)) for word in words)], redirection)
    lost = prints and redirection.startswith(">/dev/full")
    assert status == (3 if lost else usual), said
    assert "Traceback" not in said
    assert "Exception" not in said
    if lost and "2>" not in redirection:
        assert said == "error: the standard output can't be written: no space left on device\n"


def test_a_closed_output_stream_is_not_a_success(place: Path) -> None:
    words = [sys.executable, "-m", "rulewright", "explain", "--format", "json"]
    status, said = run(place, words, "| head -c 5; exit ${PIPESTATUS[0]}")
    assert status in (0, 141)  # what fits into the pipe may have been written before the reader went
    assert "Traceback" not in said
    status, said = run(place, words, "| (exec 0<&-; sleep 1); exit ${PIPESTATUS[0]}")
    assert (status, said) == (141, "")


def test_no_opened_file_becomes_a_standard_stream(place: Path) -> None:
    """With the standard output closed, the first file opened would get its number, and a child would write into it."""
    code = "from rulewright.cli import main; import os; main(['eval', '1']); os.write(1, b'lost')"
    status, said = run(place, [sys.executable, "-c", code], ">&- 2>&-")
    assert (status, said) == (0, "")


def test_a_demo_that_does_not_fit_on_the_disk_says_so(tmp_path: Path) -> None:
    status, said = run(tmp_path, ["bash", "-c", f"ulimit -f 4; {sys.executable} -B -m rulewright demo -o here"], "")
    assert (status, said.splitlines()[-1]) == (3, "error: can't write `here`: file too large")
    assert "Traceback" not in said
