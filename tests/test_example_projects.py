"""The example projects of other fields: their checks find what was planted and nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.shipped_plans import shipped_plan

from rulewright.cli import main
from rulewright_runtime.execution import execute

BENCHMARK = Path(__file__).resolve().parents[1] / "benchmark"
SIZES = {"service_desk": (12, 30), "rag": (5, 14), "coding_agent": (7, 10)}


@pytest.mark.parametrize("name", SIZES)
def test_its_checks_find_what_was_planted_and_nothing_else(name: str) -> None:
    chats = BENCHMARK / name / "chats" / "recorded.jsonl"
    records = [json.loads(line) for line in chats.read_text(encoding="utf-8").splitlines()]
    planted = {record["id"]: sorted(filter(None, record["metadata"]["planted"].split(","))) for record in records}
    results = list(execute(shipped_plan(project=name), [chats]))
    failed = {each.transcript_id: sorted(v.check_id for v in each.verdicts if v.verdict == "FAIL") for each in results}
    assert failed == planted
    assert (len(results[0].verdicts), len(results)) == SIZES[name]
    assert Counter(v.verdict for each in results for v in each.verdicts)["UNCLEAR"] == 0
    assert {label for each in planted.values() for label in each} <= {v.check_id for v in results[0].verdicts}


@pytest.mark.parametrize("name", SIZES)
def test_a_scan_of_it_fails_and_says_so(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = BENCHMARK / name
    assert main(["scan", str(project / "chats"), "--project", str(project), "--out", str(tmp_path / "run")]) == 1
    assert main(["report", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().out + (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "caregiver" not in said


@pytest.mark.parametrize(
    ("model", "code", "told"),
    [
        ("desk-large", 0, "run-1 is COMPLETED"),
        ("desk-small", 2, "first failure: balance-03.account-number-in-full"),
        ("desk-unheard-of", 1, "`rulewright scan` ended with exit code 3"),
    ],
)
def test_the_desk_is_released_only_on_a_scan_without_failures(
    model: str,
    code: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    desk = tmp_path / "desk"
    shutil.copytree(BENCHMARK / "service_desk", desk, ignore=shutil.ignore_patterns(".rulewright", "work"))
    project = desk / "rulewright.yaml"
    text = project.read_text(encoding="utf-8").replace("python3", sys.executable).replace("desk-large", model)
    project.write_text(text, encoding="utf-8")
    monkeypatch.chdir(desk)
    assert main(["workflow", "check"]) == 0
    assert main(["workflow", "run"]) == code
    assert told in capsys.readouterr().out
    assert (desk / "work" / "announcement.md").exists() == (code == 0)
