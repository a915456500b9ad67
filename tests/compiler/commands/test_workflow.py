"""The commands around runs of workflows: what they print, and how they end."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.model_server import Response, chat, model_server

from rulewright.cli import main
from rulewright.commands.workflow_status import TaskProgress, elapsed, one_line, status_table
from rulewright_runtime.workflow.run_records import StoredWorkflow

PROJECT = """
project: p
workflow:
  engine: {max_retries: 0, max_concurrent_tasks: 1}
  adapters: {default: {type: mock, script: script.json}}
"""
FLOW = """
version: "1"
name: flow
tasks:
  write: {agent: dev, outputs: [note.md]}
  check: {agent: reviewer, dependencies: [write], requires_human: true, description: Ceck it.}
"""
SCRIPT: dict[str, Any] = {
    "dev": [{"files": {"note.md": "x"}, "usage": {"cost_usd": 0.5, "tokens": 9}}],
    "reviewer": [{"summary": "fine"}],
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rulewright.yaml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "workflow.yaml").write_text(FLOW, encoding="utf-8")
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that ends with 3."""
    assert run(*words) == 3
    return capsys.readouterr().err


def test_a_changed_workflow_continues_and_first_reports_what_it_keeps(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("workflow", "run") == 2
    (project / "workflow.yaml").write_text(FLOW.replace("Ceck", "Check"), encoding="utf-8")
    assert "`--resume run-1 --changed`" in refused(capsys, "workflow", "run", "--resume")
    assert run("workflow", "run", "--resume", "run-1", "--changed", "--dry-run") == 0
    told = capsys.readouterr().out
    assert "run-1 continues with the changed workflow\n  kept          write            COMPLETED\n" in told
    assert "  restarted     check            its definition has changed\n" in told
    assert run("hil", "list") == 0
    assert "run-1-check-1" in capsys.readouterr().out  # a rehearsal changes nothing
    assert run("workflow", "run", "--resume", "run-1", "--changed") == 2
    seen = capsys.readouterr()
    assert "kept          write" in seen.err
    assert "run-1-check-2" in seen.out
    assert run("hil", "list") == 0
    assert "run-1-check-1" not in capsys.readouterr().out


def test_a_run_that_continues_without_its_sign_offs_says_which_option_changed_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("workflow", "run") == 2
    assert "`run-1` began, in its files or by `--no-hil`" in refused(capsys, "workflow", "run", "--resume", "--no-hil")


def test_what_belongs_to_resume_is_refused_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`--changed` needs `--resume`" in refused(capsys, "workflow", "run", "--changed")


def test_a_file_behind_resume_is_the_workflow(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run", "workflow.yaml") == 2
    assert "then continue with `rulewright workflow run workflow.yaml --resume run-1`" in capsys.readouterr().out
    assert run("workflow", "run", "--resume", "workflow.yaml") == 2
    assert "unknown run `run-7`" in refused(capsys, "workflow", "run", "--resume", "run-7")


def test_a_new_run_next_to_an_unfinished_one_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    assert "note:" not in capsys.readouterr().err
    assert run("workflow", "run") == 2
    said = capsys.readouterr().err
    assert "note: run-1 is WAITING: `rulewright workflow run --resume run-1` continues it" in said
    assert "`rulewright workflow cancel run-1` cancels it" in said


@pytest.mark.parametrize("move", ["resolve", "reject"])
def test_a_decision_needs_a_reason(move: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    assert "--why" in refused(capsys, "hil", move, "run-1-check-1", "--by", "ana")
    assert run("hil", "list") == 0
    assert "run-1-check-1" in capsys.readouterr().out


def test_a_decision_names_the_command_that_continues_with_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == run("workflow", "run") == 2
    capsys.readouterr()
    assert run("hil", "resolve", "run-1-check-1", "--by", "ana", "--why", "tried") == 0
    assert "continue with `rulewright workflow run --resume run-1`" in capsys.readouterr().out
    assert run("workflow", "run", "--resume", "run-1") == 0
    assert run("hil", "resolve", "run-2-check-1", "--by", "ana", "--why", "tried", "--file", "workflow.yaml") == 0
    assert "continue with `rulewright workflow run workflow.yaml --resume run-2`" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["human", "json"])
def test_an_event_log_that_can_not_be_written_is_a_warning_and_the_run_goes_on(
    project: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("workflow", "run", "--events", str(project / "gone" / "events.jsonl"), "--format", form) == 2
    seen = capsys.readouterr()
    assert "events.jsonl` can't be written: no such file or directory; events go to standard error" in seen.err
    assert seen.err.count("warning:") == 1
    kinds = [json.loads(line)["event_type"] for line in seen.err.splitlines() if line.startswith("{")]
    assert kinds == [
        "engine.started", "task.started", "context.assembled", "task.completed", "hil.created",
    ]  # fmt: skip
    assert "run-1" in seen.out


def test_without_people_a_task_that_asks_for_one_runs_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run", "--no-hil") == 0
    assert "`requires_human` is set, but `hil` is off" in capsys.readouterr().err


def test_without_people_a_t2_gate_still_waits(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence = "{acceptance: j.xml, lint: r.json, readiness: r.md}"
    gate = f"overlays: {{policy_gate: {{enabled: true, risk_tier: T2, evidence: {evidence}}}}}"
    (project / "workflow.yaml").write_text(f"tasks:\n  write:\n    agent: dev\n    {gate}\n", encoding="utf-8")
    (project / "j.xml").write_text('<testsuite><testcase name="a"/></testsuite>', encoding="utf-8")
    (project / "r.json").write_text("[]", encoding="utf-8")
    (project / "r.md").write_text("- [x] done", encoding="utf-8")
    assert run("workflow", "run", "--no-hil") == 2
    assert "t2_gate" in capsys.readouterr().out


def test_watching_shows_each_task_and_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no runs yet" in refused(capsys, "workflow", "watch")
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "watch") == 2  # nobody is at work, so it ends
    head, _, names, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("run-1 WAITING, flow, ")
    assert names.split() == ["task", "status", "at", "iteration", "confidence"]
    assert rows[0].split() == ["write", "COMPLETED", "done", "1", "–"]
    assert rows[1].split()[:2] == ["check", "HIL_PENDING"]
    assert rows[2] == "  waits for a person (run-1-check-1)"
    assert all(len(line) <= 80 for line in (head, names, *rows))


def test_watching_shows_the_limit_of_the_innermost_loop(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = "confidence_loop: {enabled: true, max_iterations: 3, metrics: [{type: checklist_completion, source: x.md}]}"
    review = "agentic_review: {enabled: true, max_iterations: 5, reviewer_agent: reviewer}"
    text = f"version: '1'\ntasks:\n  write: {{agent: dev, overlays: {{{review}, {loop}}}}}\n"
    (project / "workflow.yaml").write_text(text, encoding="utf-8")
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "watch", "--once") == 2
    assert " 3 of 3 " in capsys.readouterr().out


def test_a_check_counts_its_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "workflow.yaml").write_text(
        "version: '1'\ntasks: {a: {agent: devv}, b: {agent: de}}\n", encoding="utf-8"
    )
    assert run("workflow", "check") == 1
    assert capsys.readouterr().out.endswith("\n\n2 errors in 3 files\n")


def test_watching_a_cancelled_run_shows_nobody_waiting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    assert run("workflow", "cancel", "run-1") == 0
    capsys.readouterr()
    run("workflow", "watch", "--once")
    assert "waits for" not in capsys.readouterr().out


def test_watching_says_that_what_a_task_waits_for_has_failed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "script.json").write_text('{"dev": [{"raise": "no"}]}', encoding="utf-8")
    assert run("workflow", "run") == 1
    capsys.readouterr()
    assert run("workflow", "watch", "--once") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "  waits for write (FAILED)"


def test_the_state_of_a_run_is_available_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "watch", "run-1", "--format", "json") == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["run_id"], found["status"]) == ("run-1", "WAITING")
    assert [(task["task_id"], task["status"], task["iteration"]) for task in found["tasks"]] == [
        ("write", "COMPLETED", 1),
        ("check", "HIL_PENDING", 0),
    ]


def test_a_graph_marks_the_current_state_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "graph", "--run", "latest") == 0
    drawn = capsys.readouterr().out
    assert "style t0 fill:#dcfce7\n" in drawn
    assert "style t1 fill:#ede9fe,stroke-width:4px\n" in drawn
    assert run("workflow", "graph", "--run", "run-1", "--task", "check", "--format", "dot") == 0
    assert capsys.readouterr().out.count("penwidth=4") == 1
    assert "unknown run `run-9`" in refused(capsys, "workflow", "graph", "--run", "run-9")


def test_runs_are_listed_with_their_states(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no runs yet" in refused(capsys, "workflow", "runs")
    assert "no runs yet" in refused(capsys, "workflow", "run", "--resume", "run-9")
    assert not Path(".rulewright", "workflow.db").exists()
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "runs") == 0
    line = capsys.readouterr().out
    assert line.startswith("run-1    WAITING   flow  ")
    assert line.endswith("1 of 2 tasks COMPLETED, 0.5000 USD, waiting: run-1-check-1\n")
    assert run("workflow", "runs", "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["run_id"], row["tasks"], row["completed"], row["waiting"]) == ("run-1", 2, 1, ["run-1-check-1"])


def test_a_run_is_given_up_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("workflow", "run") == 2
    capsys.readouterr()
    assert run("workflow", "cancel", "run-1", "--why", "too dear") == 0
    assert capsys.readouterr().out == "run-1 is CANCELLED\nwithdrawn: run-1-check-1\n"
    assert run("hil", "list") == 0
    assert capsys.readouterr().out == "nothing waits for a person\n"
    assert "is CANCELLED, so it can't be cancelled" in refused(capsys, "workflow", "cancel", "run-1")
    assert run("workflow", "trace", "run-1") == 0
    assert "the run is cancelled by" in (told := capsys.readouterr().out)
    assert told.rstrip().endswith(": too dear")


def test_a_terminal_shows_progress_in_its_last_line_and_leaves_none(project: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "rulewright", "workflow", "run"]
    with subprocess.Popen(words, cwd=project, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # which is the end
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
    assert process.returncode == 2
    lines = shown.decode().replace("\r\n", "\n")
    assert "\r1 of 2 tasks, " in lines
    assert "waits for a person (run-1-check-1)" in lines
    assert all(
        line.split("\r\x1b[K")[-1].startswith(("-", "write", "check")) for line in lines.split("\n")[:-1] if line
    )
    assert lines.endswith("\r\x1b[K")


def judged_flow(project: Path) -> None:
    """Let a judge measure the work of the first task."""
    judge = "{type: llm_judge, weight: 1.0, evaluator_agent: reviewer, criteria: [good]}"
    loop = f"{{enabled: true, threshold: 0.8, max_iterations: 2, metrics: [{judge}]}}"
    flow = FLOW.replace("outputs: [note.md]", f"outputs: [note.md], overlays: {{confidence_loop: {loop}}}")
    (project / "workflow.yaml").write_text(flow, encoding="utf-8")


def test_a_judge_that_nobody_reaches_gives_no_score_and_the_run_continues_later(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_flow(project)
    with model_server(lambda *_: Response(404, b"{}")) as server:
        command = ("workflow", "run", "--judge", f"openai:m@{server.base}")
        monkeypatch.setattr("sys.argv", ["rulewright", *command])
        assert run(*command) == 3
    told = capsys.readouterr().err
    assert "then continue with `rulewright workflow run --judge openai:MODEL@URL --resume`" in told
    with model_server(lambda _, number: chat('{"score": 0.9}') if number else Response(401, b"{}")) as server:
        command = ("workflow", "run", "--judge", f"openai:m@{server.base}")
        assert run(*command) == 3
        told = capsys.readouterr().err
        assert "stopped: the endpoint answered 401" in told
        assert "--resume`" in told
        assert run(*command, "--resume") == 2  # without evidence the gate waits for a person
    told = capsys.readouterr().err
    assert "0.9" in told
    assert "counts as 0.0" not in told
    assert "note: `m` has no price in the project's `pricing`" in told


def test_the_calls_of_a_judge_with_a_price_are_in_the_cost_of_the_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged_flow(project)
    (project / "pricing.yaml").write_text("m: [1000.0, 1000.0]\n", encoding="utf-8")
    with model_server(lambda *_: chat('{"score": 0.9}')) as server:
        assert run("workflow", "run", "--judge", f"openai:m@{server.base}") == 2
        asked = len(server.requests)
    assert "has no price" not in capsys.readouterr().err
    assert run("workflow", "runs", "--format", "json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert asked > 0
    assert found["cost_usd"] == pytest.approx(1.0 + asked * 18 / 1000), "the agents' own, and 18 tokens of each call"


@pytest.mark.parametrize("text", ["m: [", "m: [one, two]\n", "m: [1.0]\n", ""])
def test_prices_that_can_not_be_read_do_not_make_a_judge_free(project: Path, text: str) -> None:
    judged_flow(project)
    (project / "pricing.yaml").write_text(text, encoding="utf-8")
    with model_server(lambda *_: chat('{"score": 0.9}')) as server:
        assert run("workflow", "run", "--judge", f"openai:m@{server.base}") == 3
        assert server.requests == []


def test_a_metric_that_can_not_be_measured_is_reported_once(project: Path) -> None:
    metrics = (
        "{type: test_coverage, weight: 1.0, source: gone.xml}, {type: lint_score, weight: 1.0, source: [gone.json]}"
    )
    loop = f"overlays: {{confidence_loop: {{enabled: true, threshold: 0.8, max_iterations: 1, metrics: [{metrics}]}}}}"
    flow = FLOW.replace("outputs: [note.md]", f"outputs: [note.md], {loop}")
    (project / "workflow.yaml").write_text(flow, encoding="utf-8")
    words = [sys.executable, "-m", "rulewright", "workflow", "run"]
    told = subprocess.run(words, cwd=project, capture_output=True, check=False, timeout=60, text=True).stderr
    assert [told.count(f"{metric} counts as 0.0: ") for metric in ("test_coverage", "lint_score")] == [1, 1]
    assert told.count("0.0: ") == 2
    again = [*words, "--format", "json"]
    told = subprocess.run(again, cwd=project, capture_output=True, check=False, timeout=60, text=True).stderr
    assert told.count("metric `test_coverage` counts as 0.0: ") == 1  # with nothing else on standard error, the log


def test_a_check_reports_a_misspelt_name_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = "{confidence_loop: {enabled: true, threshold: 0.8, max_iterations: 2, metrics: [{type: llm_juge}]}}"
    flow = FLOW.replace("outputs: [note.md]", f"outputs: [{{path: note.md}}], overlays: {loop}")
    (project / "workflow.yaml").write_text(flow, encoding="utf-8")
    assert run("workflow", "check") == 1
    assert re.findall(r"\[([a-z-]+)\]", capsys.readouterr().out) == ["unknown-value"]


def test_a_run_does_not_start_without_the_extras_that_its_check_names(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = "{policy_gate: {enabled: true, risk_tier: T1, evidence: {acceptance: junit.xml, lint: ruff.json}}}"
    gated = FLOW.replace("outputs: [note.md]}", f"outputs: [note.md], overlays: {evidence}}}")
    (project / "workflow.yaml").write_text(gated, encoding="utf-8")
    assert run("workflow", "check") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("rulewright.commands.workflow.find_spec", lambda name: None)
    assert run("workflow", "check") == 0
    said = "warning: `junit.xml` is XML, which needs defusedxml: `pip install 'rulewright[workflow]'` before a run\n"
    assert capsys.readouterr().err == said
    assert run("workflow", "run", "--dry-run") == 0
    capsys.readouterr()
    assert refused(capsys, "workflow", "run") == (
        "error: `junit.xml` is XML, which needs defusedxml: `pip install 'rulewright[workflow]'`\n"
    )
    assert not (project / ".rulewright" / "workflow.db").exists()


def test_an_unreadable_database_is_not_a_refused_decision(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".rulewright").mkdir(exist_ok=True)
    (project / ".rulewright/workflow.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert main(["hil", "resolve", "run-1-build-1", "--by", "ana", "--why", "tried"]) == 3
    assert "the database `.rulewright/workflow.db` can't be opened: " in capsys.readouterr().err


@pytest.mark.parametrize("form", ["human", "json"])
@pytest.mark.parametrize("edit", ["update runs set status = 'COMPLETED'", "update tasks set status = 'COMPLETED'"])
def test_watching_a_run_that_is_only_recorded_as_completed_is_not_a_success(
    edit: str, form: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("workflow", "run") == 2
    with sqlite3.connect(project / ".rulewright/workflow.db") as other:
        other.execute("update runs set status = 'COMPLETED'")
        other.execute(edit)
    other.close()
    capsys.readouterr()
    assert run("workflow", "watch", "--once", "--format", form) == 3
    assert "error: the database contradicts itself about task `check`: " in capsys.readouterr().err


TASKS = [
    TaskProgress("write", "COMPLETED", "COMPLETED", 1, None, None, ""),
    TaskProgress("build", "RUNNING", "WORK", 2, 5, 0.72, ""),
    TaskProgress("check", "PENDING", "PENDING", 0, None, None, "build"),
    TaskProgress("sign", "HIL_PENDING", "ASK", 0, None, None, "a person (run-1-sign-1)"),
]


def run_of(started: str, finished: str | None = None) -> StoredWorkflow:
    return StoredWorkflow(1, "run-1", "flow", b"", "", "RUNNING", started, finished, 0, 0.25, 0)


def test_a_line_says_what_is_under_way_with_iteration_confidence_and_wait() -> None:
    run = run_of("2026-01-01T10:00:00+00:00", "2026-01-01T11:02:03+00:00")
    assert one_line(TASKS, run) == (
        "1 of 4 tasks, 1:02:03; build: WORK, iteration 2 of 5, confidence 0.72; "
        "sign: ASK, waits for a person (run-1-sign-1)"
    )


def test_a_table_fits_its_columns() -> None:
    lines = status_table(TASKS, run_of("2026-01-01T10:00:00+00:00", "2026-01-01T10:00:05+00:00"), 80)
    assert lines[0] == "run-1 RUNNING, flow, 0:00:05, 0.2500 USD"
    assert max(map(len, lines)) <= 80
    assert lines[4].split() == ["build", "RUNNING", "WORK", "2", "of", "5", "0.72"]
    assert "  waits for build" in lines


def test_a_run_that_is_not_over_has_taken_until_now() -> None:
    started = datetime.now(UTC) - timedelta(hours=1, minutes=5)
    assert elapsed(run_of(started.isoformat())).startswith("1:")
