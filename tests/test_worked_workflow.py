"""The worked example of a workflow: real tests, real lint, a real queue, and the commands people would type."""

import importlib
import json
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from rulewright.cli import main

EXAMPLE = Path(__file__).resolve().parents[1] / "benchmark" / "workflows"


def rulewright(*words: str) -> int:
    return main(list(words))


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".rulewright", "reports", "__pycache__"))
    project = folder / "rulewright.yaml"
    project.write_text(project.read_text(encoding="utf-8").replace("python3", sys.executable), encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_real_tools_feed_the_loop_and_the_gate_decides(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rulewright("workflow", "check") == 0
    assert rulewright("workflow", "run", "--events", "events.jsonl") == 2
    assert "waiting for a person: run-1-release-1 (t2_gate)" in printed(capsys)
    assert rulewright("hil", "list") == 0
    assert "run-1-release-1  PENDING   t2_gate" in printed(capsys)
    assert rulewright("hil", "show", "run-1-release-1") == 0
    assert "gate T2: PASS" in printed(capsys)
    assert rulewright("hil", "ack", "run-1-release-1") == 0
    assert rulewright("hil", "resolve", "run-1-release-1", "--why", "looks right", "--by", "ana") == 0
    assert rulewright("hil", "reject", "run-1-release-1", "--why", "too late") == 1
    assert rulewright("workflow", "run", "--resume", "--format", "json", "--events", "events.jsonl") == 0
    capsys.readouterr()

    assert rulewright("workflow", "trace", "--format", "json") == 0
    run = json.loads(printed(capsys))
    build = run["tasks"]["implement"]
    reports = build["gate_reports"]
    scores = [step["confidence_score"] for step in build["record"]["history"] if step["step"] == "score"]
    assert scores[0] < 0.9 < scores[1] < scores[2] == 1.0
    assert [report["verdict"] for report in reports] == ["FAIL", "PASS"]
    assert reports[0]["confidence_advisory"] == "confidence threshold met"
    assert "missing: REQ-3" in reports[0]["evidence_checks"]["requirement_coverage"]["details"]
    assert {metric["type"]: metric["value"] for metric in reports[1]["metrics"]} == {
        "test_coverage": 1.0,
        "lint_score": 1.0,
        "checklist_completion": 1.0,
        "requirement_coverage": 1.0,
    }
    assert [task["status"] for task in run["tasks"].values()] == ["COMPLETED", "COMPLETED"]

    assert rulewright("workflow", "trace", "--format", "jsonl") == 0
    lines = printed(capsys).splitlines()
    assert (example / "events.jsonl").read_text(encoding="utf-8").splitlines() == lines
    envelope = ["version", "run_id", "task_run_id", "timestamp", "level", "event_type", "workflow", "task_id", "agent"]
    assert all(list(json.loads(line)) == [*envelope, "details"] for line in lines)

    assert rulewright("workflow", "trace", "run-1") == 0
    story = printed(capsys)
    assert "the policy gate says FAIL: requirement_coverage: requirement coverage below threshold 1" in story
    assert "resolved by ana: looks right" in story
    assert "the run is COMPLETED: 2 tasks completed" in story


def test_a_rehearsal_calls_nobody(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rulewright("workflow", "run", "--dry-run") == 0
    told = printed(capsys)
    assert "implement: agent dev, adapter command" in told
    assert "implement: overlays: hil > policy_gate > confidence_loop" in told
    assert not (example / ".rulewright").exists()
    assert not (example / "work" / "src").exists()


def test_a_step_is_one_activity(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rulewright("workflow", "run", "--step") == 2
    assert "run-1 is PAUSED" in printed(capsys)
    assert not (example / "work" / "src").exists()
    assert rulewright("workflow", "run", "--resume", "--step") == 2
    assert (example / "work" / "src" / "prices.py").is_file()


def test_a_rehearsal_says_which_run_it_would_resume(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rulewright("workflow", "run", "--dry-run", "--resume") == 3
    rulewright("workflow", "run", "--step")
    printed(capsys)
    assert rulewright("workflow", "run", "--dry-run", "--resume") == 0
    assert "would continue run-1: PAUSED since " in (told := printed(capsys))
    assert ", 0 of 2 tasks COMPLETED\n" in told
    assert rulewright("workflow", "run", "--dry-run") == 0
    assert "note: run-1 is PAUSED: `rulewright workflow run --resume run-1` continues it" in printed(capsys)
    assert rulewright("workflow", "run", "--dry-run", "--resume", "run-9") == 3
    assert "unknown run `run-9`" in capsys.readouterr().err


def test_one_task_alone_decides_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapters = "{dev: {type: mock, script: script.json}}"
    (tmp_path / "rulewright.yaml").write_text(
        f"project: p\nworkflow:\n  engine: {{max_retries: 0}}\n  adapters: {adapters}\n"
    )
    (tmp_path / "script.json").write_text('{"dev": ["done"], "bad/dev": [{"raise": "no"}]}')
    (tmp_path / "workflow.yaml").write_text("tasks:\n  good: {agent: dev}\n  bad: {agent: dev}\n  rest: {agent: dev}\n")
    monkeypatch.chdir(tmp_path)
    assert rulewright("workflow", "run", "--task", "good") == 0
    assert rulewright("workflow", "run", "--resume", "--task", "bad") == 1


def test_drawings(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rulewright("workflow", "graph") == 0
    assert "flowchart TD" in printed(capsys)
    assert rulewright("workflow", "graph", "--format", "dot", "--task", "release") == 0
    assert printed(capsys).startswith("digraph")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["workflow", "run", "gone.yaml"], "workflow file not found: `gone.yaml`"),
        (["workflow", "run", "--task", "gone"], "no task `gone`"),
        (["workflow", "run", "--colour"], "unknown arguments: `--colour`\nhelp: for example `rulewright workflow run"),
        (["workflow", "trace"], "no runs yet"),
        (["workflow", "run", "--resume"], "no runs yet"),
        (["hil", "list"], "no runs yet"),
    ],
)
def test_wrong_arguments_are_refused(
    example: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rulewright(*words) == 3
    assert why in capsys.readouterr().err


def test_a_workflow_with_mistakes_does_not_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workflow = example / "workflow.yaml"
    workflow.write_text(workflow.read_text(encoding="utf-8").replace("max_iterations: 4", ""), encoding="utf-8")
    assert rulewright("workflow", "check") == 1
    assert rulewright("workflow", "run") == 3
    assert not (example / ".rulewright").exists()
    assert "max_iterations" in capsys.readouterr().err


@pytest.mark.usefixtures("interruptible")
def test_the_queue_is_served_to_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rulewright.yaml").write_text(
        "project: p\nworkflow: {file: f.yaml, adapters: {default: {type: mock, script: s.json}}}\n", encoding="utf-8"
    )
    Path("s.json").write_text('{"dev": [{"summary": "done"}]}', encoding="utf-8")
    Path("f.yaml").write_text("version: '1'\ntasks: {build: {agent: dev, requires_human: true}}\n", encoding="utf-8")
    assert rulewright("workflow", "run") == 2
    argv = [sys.executable, "-m", "rulewright", "hil", "serve", "--port", "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+", line)  # with the key that opens the page
            assert found is not None, line
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(found[0], timeout=60) as answer:
                assert "One decision is waiting" in answer.read().decode()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_python_callable_of_the_project_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("rulewright.yaml").write_text(
        "project: p\nworkflow: {file: f.yaml, adapters: {default: {type: python, callable: 'my_agents:work'}}}\n",
        encoding="utf-8",
    )
    Path("f.yaml").write_text("version: '1'\ntasks: {build: {agent: dev}}\n", encoding="utf-8")
    assert rulewright("workflow", "run") == 3
    assert "agent `dev` can't be reached" in capsys.readouterr().err
    Path("my_agents.py").write_text("def work(brief):\n    return {'summary': brief['task_id']}\n", encoding="utf-8")
    importlib.invalidate_caches()
    assert rulewright("workflow", "run") == 0
    assert "run-1 is COMPLETED" in printed(capsys)
    sys.modules.pop("my_agents")
