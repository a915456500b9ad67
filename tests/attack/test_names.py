"""Names that are not UTF-8, as other systems write them, and a folder that is gone: they are read, or refused by a
message that shows them."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.runtime.plans import check, plan

from rulewright.cli import main
from rulewright_runtime.runs.store import run

WRONG = os.fsdecode(b"q\xff")
CHAT = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project with a chat in a file, and in a folder, whose names are not UTF-8."""
    assert main(["init", str(tmp_path / "p")]) == 0
    monkeypatch.chdir(tmp_path / "p")
    (tmp_path / "p" / WRONG).mkdir()
    for at, name in enumerate((f"{WRONG}/a.jsonl", f"{WRONG}.jsonl")):
        Path(name).write_text(json.dumps({"id": str(at), **CHAT}) + "\n", encoding="utf-8")
    return tmp_path / "p"


def test_files_of_any_name_are_judged_by_any_number_of_processes(place: Path) -> None:
    paths = [WRONG, f"{WRONG}.jsonl"]
    summaries = [run(plan(check()), paths, place / f"run{jobs}", jobs=jobs) for jobs in (1, 2)]
    assert [each["transcripts"] for each in summaries] == [2, 2]
    for name in ("scores.jsonl", "summary.json"):
        assert (place / "run1" / name).read_bytes() == (place / "run2" / name).read_bytes()


def test_a_run_in_a_folder_of_any_name_is_rescored(place: Path) -> None:
    (place / "scorecards").mkdir()
    card = "scorecard: s\nparameters: {least: {type: score, default: 1}}\noutput: {passed: 'least > 0.5'}\n"
    (place / "scorecards" / "s.yaml").write_text(card, encoding="utf-8")
    with (place / "rulewright.yaml").open("a") as project:
        project.write("\nscorecards: scorecards\n")
    out = os.path.join(WRONG, "run")
    words = ["--set", "least=0.2", "--out", os.path.join(WRONG, "again")]
    assert main(["scan", f"{WRONG}.jsonl", "--scorecard", "s", "--out", out]) == main(["rescore", out, *words])
    assert json.loads(Path(WRONG, "again", "summary.json").read_text())["rescored"]["from"] == "q\\xff/run"
    shutil.rmtree(WRONG)


@pytest.mark.parametrize(
    "words",
    [["--columns", f"user={WRONG}"], ["--set", f"least={WRONG}"], ["--set", f"{WRONG}=1"]],
)
def test_another_argument_that_is_not_utf_8_is_refused_and_shown(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["scan", f"{WRONG}.jsonl", "--out", "run", *words]) == 3
    assert "q\\udcff" in capsys.readouterr().err
    assert not (place / "run" / "summary.json").exists()


@pytest.mark.parametrize(
    "words", [["lint"], ["scan", "{}"], ["workflow", "run"], ["hil", "list"], ["score", "--cases", "{}"]]
)
def test_a_working_folder_that_was_removed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main([word.format(tmp_path) for word in words]) == 3
    assert capsys.readouterr().err == "error: the working folder has been removed; change to another one\n"
