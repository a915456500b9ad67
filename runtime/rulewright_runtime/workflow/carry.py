"""What of a run is carried over when its workflow has changed: tasks whose definition and inputs are as they were."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rulewright_runtime.workflow.artifacts import hashes
from rulewright_runtime.workflow.machine import start, status
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan


class Carry(msgspec.Struct, frozen=True):
    """What becomes of the tasks: `kept` with the status they have, `anew` with the reason, `removed` from the workflow;
    what has not begun is in none of them."""

    kept: dict[str, str]
    anew: dict[str, str]
    removed: tuple[str, ...] = ()


def carry(old: WorkflowPlan, new: WorkflowPlan, records: Mapping[str, tuple[str, TaskRecord]], root: Path) -> Carry:
    """Compare two plans of a run. A task is done anew where its definition, its agents or the files it read have
    changed, where it has failed, and where one that it depends on is done anew."""
    kept: dict[str, str] = {}
    anew: dict[str, str] = {}
    for task in new.tasks:  # dependencies come first
        if task.id not in records or records[task.id][0] == "PENDING":
            continue
        now, record = records[task.id]
        why = _why_anew(old, new, task, now, record, root)
        before = next((name for name in task.dependencies if name not in kept), None)
        if not why and before is not None:
            why = f"it depends on `{before}`"
        if why:
            anew[task.id] = why
        else:
            kept[task.id] = now
    known = {task.id for task in new.tasks}
    return Carry(kept, anew, tuple(name for name in records if name not in known))


def begun_anew(task: TaskPlan, record: TaskRecord | None = None) -> tuple[str, TaskRecord]:
    """Status and record of a task that starts from the beginning. What it cost stays, and numbers go on, so that no
    call and no queue item bears the name of an earlier one."""
    state = start(task.machine)
    fresh = TaskRecord(state)
    if record is not None:
        kept = {name: getattr(record, name) for name in ("calls", "tokens_used", "cost_usd", "items")}
        fresh = msgspec.structs.replace(fresh, **kept)
    return status(task.machine, state), fresh


def _why_anew(old: WorkflowPlan, new: WorkflowPlan, task: TaskPlan, now: str, record: TaskRecord, root: Path) -> str:
    if now == "FAILED":
        return f"it has failed: {record.reason}" if record.reason else "it has failed"
    before = next(each for each in old.tasks if each.id == task.id)
    if _definition(old, before) != _definition(new, task):
        return "its definition has changed"
    found = hashes(root, task.inputs)
    changed = sorted(path for path in {*found, *record.inputs} if found.get(path) != record.inputs.get(path))
    return f"its input `{changed[0]}` has changed" if record.iteration and changed else ""


def _definition(plan: WorkflowPlan, task: TaskPlan) -> str:
    """The hash of everything that decides what a task does: itself and the roles of its agents."""
    agents = {name: agent for name, agent in plan.agents.items() if name in task.agents}
    return hashlib.sha256(msgspec.json.encode((task, agents), order="deterministic")).hexdigest()
