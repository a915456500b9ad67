"""Whole runs with scripted agents: order, loops, gates, people, retries, costs and resuming."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.workflow.running import GATE, bench


def test_a_plain_task_runs_and_completes(tmp_path: Path) -> None:
    run = bench(tmp_path, "tasks: {build: {agent: dev}}")
    assert run.run().status == "COMPLETED"
    assert run.places() == ["work", "done"]
    assert [event.event_type for event in run.events()] == [
        "engine.started",
        "task.started",
        "context.assembled",
        "task.completed",
        "engine.completed",
    ]


def test_a_gate_decides(tmp_path: Path) -> None:
    run = bench(tmp_path, f"tasks: {{build: {{agent: dev, overlays: {{policy_gate: {GATE}}}}}}}")
    assert run.run().status == "COMPLETED"
    assert run.store.reports("run-1")[0].verdict == "PASS"
