"""Runs that are killed at random moments and resumed end as a run that was left alone."""

import contextlib
import json
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.rounds import rounds
from tests.runtime.workflow.running import EVIDENCE, plan_of

from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.workflow.run_database import Store

KILLS = rounds(2, 100)
ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = """
tasks:
  design:
    agent: architect
    requires_human: true
    outputs: [design.md]
    overlays:
      agentic_review: {enabled: true, coder_agent: architect, reviewer_agent: reviewer, max_iterations: 3}
  build:
    agent: dev
    dependencies: [design]
    outputs: [code.py]
    overlays:
      policy_gate:
        enabled: true
        risk_tier: T2
        evidence: {acceptance: junit.xml, lint: ruff.json, readiness: ready.md}
      confidence_loop:
        enabled: true
        threshold: 0.8
        max_iterations: 3
        metrics:
          - {type: checklist_completion, source: list.md}
          - {type: llm_judge, evaluator_agent: reviewer}
  document:
    agent: ba
    dependencies: [design]
    outputs: [manual.md]
    overlays:
      paired_workflow:
        {enabled: true, driver_agent: ba, challenger_agent: pe, max_iterations: 4, role_switch: subtask}
  ship: {agent: le, dependencies: [build, document]}
"""
SLOW = {"delay_seconds": 0.01}
SCRIPT: dict[str, Any] = {
    "architect": [{**SLOW, "files": {"design.md": "# one"}}, {**SLOW, "files": {"design.md": "# two"}}],
    "design/reviewer": [{"decision": "NO_GO", "feedback": "name it"}, {"decision": "GO"}],
    "build/reviewer": [{"text": '{"score": 0.5}'}, {"text": '{"score": 0.9}'}],
    "dev": [
        {**SLOW, "files": {"code.py": "1", "list.md": "- [x] a\n- [ ] b"}, "usage": {"cost_usd": 0.5, "tokens": 7}},
        [{"raise": "busy"}, {**SLOW, "files": {"code.py": "2", "list.md": "- [x] a\n- [x] b"}}],
    ],
    "document/ba/work": [{**SLOW, "files": {"manual.md": "ba"}}],
    "document/pe/work": [{**SLOW, "files": {"manual.md": "pe"}}],
    "document/pe/challenge": [{"approved": False, "critique": "thin"}],
    "document/ba/challenge": [{"approved": True}],
    "le": [SLOW],
}
TIMES = {"timestamp", "created_at", "evaluated_at", "started_at", "finished_at", "duration_ms", "completed_at"}
TIMES |= {"resolved_at", "acked_at"}


def prepare(folder: Path) -> Path:
    folder.mkdir()
    for name, content in EVIDENCE.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "plan.json").write_bytes(encode(plan_of(WORKFLOW, max_retries=2, max_concurrent_tasks=2)))
    (folder / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    return folder


def victim(folder: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "tests.runtime.workflow.victim", str(folder)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finished(folder: Path) -> Any:
    process = victim(folder)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()
    with Store(folder / "runs.db") as store:
        exported = timeless(store.export("run-1"))
        contents = {task: [content for *_, content in store.outputs("run-1", task)] for task in exported["tasks"]}
        names = [attempt["attempt_id"] for attempt in store.attempts("run-1")]
    assert len(names) == len(set(names))
    return exported, contents


def until(process: subprocess.Popen[bytes], folder: Path, number: int) -> None:
    """Wait until a run has written so many events, or has ended."""
    while process.poll() is None:
        with contextlib.suppress(sqlite3.Error):
            database = sqlite3.connect(f"file:{folder / 'runs.db'}?mode=ro", uri=True)
            try:
                if database.execute("select count(*) from events").fetchone()[0] >= number:
                    return
            finally:
                database.close()
        time.sleep(0.002)


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in TIMES}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = prepare(tmp_path_factory.mktemp("crash") / "undisturbed")
    return finished(folder)


def test_an_undisturbed_run_goes_everywhere(undisturbed: Any) -> None:
    exported, _ = undisturbed
    kinds = {event["event_type"] for event in exported["events"]}
    assert kinds >= {"hil.resolved", "task.retrying", "confidence.advisory", "pair.roles_switched", "artifact.locked"}
    assert {task["status"] for task in exported["tasks"].values()} == {"COMPLETED"}


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_ends_as_if_nothing_had_happened(number: int, undisturbed: Any, tmp_path: Path) -> None:
    expected = undisturbed
    total = len(expected[0]["events"])
    chance = random.Random(number)
    folder = prepare(tmp_path / "killed")
    for _ in range(chance.randint(1, 3)):
        process = victim(folder)
        until(process, folder, chance.randrange(total))
        time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        process.communicate()
    assert finished(folder) == expected
