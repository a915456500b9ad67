"""Carrying a run over to a changed workflow: tasks with unchanged definition and inputs keep their results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rulewright_runtime.workflow.artifacts import broken_lock, changed_paths, hashes
from rulewright_runtime.workflow.machine import start, status
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan


class Carry(msgspec.Struct, frozen=True):
    """The tasks of the run: `kept` maps to the status, `anew` (restarted) to the reason, `removed` are no longer in the
    workflow. Tasks that have not begun are in none of them."""

    kept: dict[str, str]
    anew: dict[str, str]
    removed: tuple[str, ...] = ()


def carry(
    old: WorkflowPlan,
    new: WorkflowPlan,
    records: Mapping[str, tuple[str, TaskRecord]],
    root: Path,
    contradictions: Mapping[str, str],
) -> Carry:
    """Compare two plans of a run. A task is restarted when its definition, its agents, the files it read or its
    approved outputs have changed, when it has failed, when the database contradicts itself about it
    (`contradictions`), and when one of its dependencies is not kept."""
    kept: dict[str, str] = {}
    anew: dict[str, str] = {}
    for task in new.tasks:  # dependencies come first
        if task.id not in records or records[task.id][0] == "PENDING":
            continue
        current_status, record = records[task.id]
        reason = contradictions.get(task.id) or _restart_reason(old, new, task, current_status, record, root)
        dependency = next((name for name in task.dependencies if name not in kept), None)
        if not reason and dependency is not None:
            reason = f"it depends on `{dependency}`"
        if reason:
            anew[task.id] = reason
        else:
            kept[task.id] = current_status
    ids = {task.id for task in new.tasks}
    return Carry(kept, anew, tuple(name for name in records if name not in ids))


def initial_task(task: TaskPlan, record: TaskRecord | None = None, asked: int = 0) -> tuple[str, TaskRecord]:
    """Return status and record of a task that starts from the beginning. Costs and counters of an earlier `record` are
    kept, so that calls and queue items never reuse an id; `asked` are its queue items so far."""
    state = start(task.machine)
    initial = TaskRecord(state, items=max(asked, 0 if record is None else record.items))
    if record is not None:
        counters = {name: getattr(record, name) for name in ("calls", "tokens_used", "cost_usd")}
        initial = msgspec.structs.replace(initial, **counters)
    return status(task.machine, state), initial


def _restart_reason(
    old: WorkflowPlan, new: WorkflowPlan, task: TaskPlan, current_status: str, record: TaskRecord, root: Path
) -> str:
    """Return why the task has to be restarted, or an empty string."""
    if current_status == "FAILED":
        return f"it has failed: {record.reason}" if record.reason else "it has failed"
    old_task = next(each for each in old.tasks if each.id == task.id)
    if _definition_hash(old, old_task) != _definition_hash(new, task):
        return "its definition has changed"
    if approved := broken_lock(record.lock, root, task.outputs):
        return f"its approved output `{approved[0]}` has changed"
    changed = changed_paths(record.inputs, hashes(root, task.inputs))
    return f"its input `{changed[0]}` has changed" if record.iteration and changed else ""


def _definition_hash(plan: WorkflowPlan, task: TaskPlan) -> str:
    """Hash everything that decides what a task does: the task and the roles of its agents."""
    agents = {name: agent for name, agent in plan.agents.items() if name in task.agents}
    return hashlib.sha256(msgspec.json.encode((task, agents), order="deterministic")).hexdigest()
