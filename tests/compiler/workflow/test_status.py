"""How a run stands, in a line and in a table: iterations with their limit, the confidence so far, and the wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rulewright.commands.workflow_status import TaskProgress, elapsed, one_line, status_table
from rulewright_runtime.workflow.run_records import StoredWorkflow

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
