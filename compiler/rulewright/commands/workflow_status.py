"""The progress of a run: for each task its status, state, iteration, confidence, time, and what it waits for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from rulewright_runtime.cells import width
from rulewright_runtime.english import plural
from rulewright_runtime.report.text import number
from rulewright_runtime.terminal import WIDTH, fit, left, right
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_records import StoredWorkflow
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan

_HEADS: Final = (("iteration", 10), ("confidence", 11))


class TaskProgress(Struct, frozen=True):
    """The progress of one task. `limit` is the maximum of iterations of its innermost loop, which every iteration
    counts; None without a loop."""

    task_id: str
    status: str
    place: str
    iteration: int
    limit: int | None
    confidence: float | None
    waits_for: str


def task_progress(store: Store, run_id: str, plan: WorkflowPlan) -> list[TaskProgress]:
    """The progress of every task, in the order of the plan."""
    records = store.records(run_id)
    done = {name for name, (status, _) in records.items() if status == "COMPLETED"}
    failed = {name: f"{name} (FAILED)" for name, (status, _) in records.items() if status == "FAILED"}
    is_cancelled = store.run(run_id).status == "CANCELLED"
    found = []
    for task in plan.tasks:
        if task.id not in records:  # the run used another version of the workflow
            continue
        status, record = records[task.id]
        score = record.context.score
        missing = [failed.get(name, name) for name in task.dependencies if name not in done]
        waiting = {"PENDING": ", ".join(missing), "HIL_PENDING": f"a person ({record.item})"}
        waits_for = "" if is_cancelled else waiting.get(status, "")
        found.append(
            TaskProgress(
                task.id,
                status,
                record.state.place,
                record.iteration,
                task.machine.loops[-1].max_iterations if task.machine.loops else None,
                None if score is None else score.numerator / score.denominator,
                waits_for,
            )
        )
    return found


def elapsed(run: StoredWorkflow) -> str:
    """The duration of the run as `1:02:03`; up to now if it is unfinished."""
    end = datetime.fromisoformat(run.finished_at) if run.finished_at else datetime.now(UTC)
    seconds = max(0, round((end - datetime.fromisoformat(run.started_at)).total_seconds()))
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def one_line(tasks: list[TaskProgress], run: StoredWorkflow) -> str:
    done = sum(task.status == "COMPLETED" for task in tasks)
    active = [_active(task) for task in tasks if task.status not in ("PENDING", "COMPLETED", "FAILED")]
    return "; ".join([f"{done} of {plural(len(tasks), 'task')}, {elapsed(run)}", *active])


def _active(task: TaskProgress) -> str:
    parts = [f"{task.task_id}: {task.place}"]
    parts += [f"iteration {_iteration(task)}"] if task.iteration else []
    parts += [f"confidence {number(task.confidence)}"] if task.confidence is not None else []
    parts += [f"waits for {task.waits_for}"] if task.waits_for else []
    return ", ".join(parts)


def status_table(tasks: list[TaskProgress], run: StoredWorkflow, columns: int) -> list[str]:
    """The run as a table, no line wider than `columns`; as wide as 80 columns, or as its names need."""
    longest = max((width(text) for task in tasks for text in (task.task_id, task.place)), default=0)
    columns = min(columns, max(WIDTH, 35 + 2 * longest))
    wide = columns - 12 - sum(size for _, size in _HEADS)
    name = wide // 2
    cost = f", {run.cost_usd:.4f} USD" if run.cost_usd else ""
    lines = [fit(f"{run.run_id} {run.status}, {run.workflow}, {elapsed(run)}{cost}", columns), "─" * columns]
    heads = left("task", name) + left("status", 13) + left("at", wide - name - 1)
    lines.append(heads + "".join(right(head, size) for head, size in _HEADS))
    for task in tasks:
        row = left(task.task_id, name) + left(task.status, 13) + left(task.place, wide - name - 1)
        lines.append(row + right(_iteration(task), 10) + right(number(task.confidence), 11))
        if task.waits_for:
            lines.append(fit(f"  waits for {task.waits_for}", columns))
    return lines


def _iteration(task: TaskProgress) -> str:
    if not task.iteration:
        return "–"
    return str(task.iteration) if task.limit is None else f"{task.iteration} of {task.limit}"


def places(store: Store, run_id: str) -> Mapping[str, tuple[str, str]]:
    """The status and the state of every task."""
    return {name: (status, record.state.place) for name, (status, record) in store.records(run_id).items()}


def as_data(tasks: list[TaskProgress], run: StoredWorkflow) -> dict[str, object]:
    """The same as JSON data."""
    return {"run_id": run.run_id, "status": run.status, "elapsed": elapsed(run), "tasks": list(map(asdict, tasks))}
