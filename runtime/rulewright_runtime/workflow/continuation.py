"""What a resumed run compares: whether the records of its tasks fit its logs, as rows edited or removed past Rulewright
do not, and which tasks of a changed workflow keep their results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import StateError
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.activities import shows_task
from rulewright_runtime.workflow.artifacts import broken_lock, changed_paths, hashes
from rulewright_runtime.workflow.hil import OPEN, STATUS_AFTER, QueueError, QueueItem
from rulewright_runtime.workflow.machine import MachineTransition, TaskState, start
from rulewright_runtime.workflow.machine import status as status_in
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_records import StoredWorkflow
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan, decode


class Continuation(msgspec.Struct, frozen=True):
    """The tasks of the run: `kept` maps to the status, `restarted` to the reason, `removed` have left the
    workflow. Tasks that have not begun are in none of them."""

    kept: dict[str, str]
    restarted: dict[str, str]
    removed: tuple[str, ...] = ()


def compare_plans(store: Store, stored: StoredWorkflow, new: WorkflowPlan, root: Path) -> Continuation:
    """Compare the plan of a run with a new one. A task is restarted when its definition, its agents, the files it read
    or its approved outputs have changed, when it has failed, when the database contradicts itself about it, and when
    one of its dependencies is not kept."""
    old, records = decode(stored.plan), store.records(stored.run_id)
    contradicted = contradictions(store, stored)
    kept: dict[str, str] = {}
    restarted: dict[str, str] = {}
    for task in new.tasks:  # dependencies come first
        if task.id not in records or records[task.id][0] == "PENDING":
            continue
        current_status, record = records[task.id]
        reason = contradicted.get(task.id) or _restart_reason(old, new, task, current_status, record, root)
        dependency = next((name for name in task.dependencies if name not in kept), None)
        if not reason and dependency is not None:
            reason = f"it depends on `{dependency}`"
        if reason:
            restarted[task.id] = reason
        else:
            kept[task.id] = current_status
    ids = {task.id for task in new.tasks}
    return Continuation(kept, restarted, tuple(name for name in records if name not in ids))


def initial_task(task: TaskPlan, record: TaskRecord | None = None, asked: int = 0) -> tuple[str, TaskRecord]:
    """Return status and record of a task that starts from the beginning. Costs and counters of an earlier `record` are
    kept, so that calls and queue items never reuse an id; `asked` are its queue items so far."""
    state = start(task.machine)
    initial = TaskRecord(state, items=max(asked, 0 if record is None else record.items))
    if record is not None:
        counters = {name: getattr(record, name) for name in ("calls", "tokens_used", "cost_usd")}
        initial = msgspec.structs.replace(initial, **counters)
    return status_in(task.machine, state), initial


def _restart_reason(
    old: WorkflowPlan, new: WorkflowPlan, task: TaskPlan, current_status: str, record: TaskRecord, root: Path
) -> str:
    """Return why the task has to be restarted, or an empty string."""
    if current_status == "FAILED":
        return f"it has failed: {record.reason}" if record.reason else "it has failed"
    old_task = next(each for each in old.tasks if each.id == task.id)
    if _definition_hash(old, old_task) != _definition_hash(new, task):
        return "its definition has changed"
    if approved := broken_lock(record.locked, root, task.outputs):
        return f"its approved output `{approved[0]}` has changed"
    changed = changed_paths(record.inputs, hashes(root, task.inputs))
    return f"its input `{changed[0]}` has changed" if record.iteration and changed else ""


def _definition_hash(plan: WorkflowPlan, task: TaskPlan) -> str:
    """Hash everything that decides what a task does: the task and the roles of its agents."""
    agents = {name: agent for name, agent in plan.agents.items() if name in task.agents}
    return sha256(msgspec.json.encode((task, agents), order="deterministic")).hexdigest()


def contradictions(store: Store, stored: StoredWorkflow) -> dict[str, str]:
    """Return the tasks whose record, transitions, gate reports and decisions contradict each other, with the reason.

    A task that has passed a question needs its decision on record, and one that has passed its gate a report with PASS.
    """
    run_id = stored.run_id
    records = store.records(run_id)
    changes = [event.details for event in store.events(run_id) if event.event_type == "engine.changed"]
    restarted = {name for details in changes for name in details.get("restarted", ())}
    found = dict.fromkeys(records, "the workflow has no such task")
    items, verdicts = defaultdict(list), defaultdict(list)
    for item in store.items(run_id):
        items[item.task_id].append(item)
    for report in store.reports(run_id):
        verdicts[report.task_id].append(report.verdict)
    for task in decode(stored.plan).tasks:
        found.pop(task.id, None)
        if task.id not in records:
            found[task.id] = "it has no record"
            continue
        try:
            steps = _steps_to_record(task, *records[task.id], store.transitions(run_id, task.id), task.id in restarted)
            _check_gates(steps, verdicts[task.id])
            _check_questions(store, task, records[task.id][1], steps, items[task.id])
        except (StateError, QueueError) as error:
            found[task.id] = str(error)
    return found


def _steps_to_record(
    task: TaskPlan, status: str, record: TaskRecord, log: Sequence[JsonObject], restarted: bool
) -> list[MachineTransition]:
    """Return the steps that led to a task's record since its last start. Raises StateError when they do not."""
    machine = task.machine
    if status_in(machine, record.state) != status:
        raise StateError(f"its status is {status}, and its record says {status_in(machine, record.state)}")
    if record.state == start(machine):
        if log and not restarted:
            raise StateError("it has steps, and its record says that it has not begun")
        return []
    first = max((number for number, each in enumerate(log) if each["source"] == machine.places[0].name), default=0)
    return _steps(task, log[first:], record.state)


def _steps(task: TaskPlan, log: Sequence[JsonObject], state: TaskState) -> list[MachineTransition]:
    """Return the transitions that the log names. Raises StateError unless they lead from the start to `state`."""
    machine = task.machine
    place, counts = machine.places[0].name, {loop.name: 0 for loop in machine.loops}
    steps: list[MachineTransition] = []
    for each in log:
        possible = machine.transitions_on(place, each["event"])
        taken = next((one for one in possible if (one.source, one.target) == (each["source"], each["target"])), None)
        if taken is None:
            raise StateError(f"no step leads from `{place}` by `{each['event']}` to `{each['target']}`")
        place = taken.target
        counts = {name: used + (name in taken.counts) for name, used in counts.items()}
        steps.append(taken)
    if TaskState(place, tuple(counts.values())) != state:
        raise StateError(
            f"its record says `{state.place}` {state.used}, its steps lead to `{place}` {(*counts.values(),)}"
        )
    return steps


def _check_gates(steps: Sequence[MachineTransition], verdicts: Sequence[str]) -> None:
    """Raise StateError unless every step after a gate has the report that it follows from."""
    gated = [any(effect.subject == "policy_gate" for effect in step.effects) for step in steps if step.event == "gated"]
    own = verdicts[len(verdicts) - len(gated) :] if gated else []
    if [verdict == "PASS" for verdict in own] != gated:
        raise StateError("its gate reports are not those that its steps follow from")


def _check_questions(
    store: Store, task: TaskPlan, record: TaskRecord, steps: Sequence[MachineTransition], items: list[QueueItem]
) -> None:
    """Raise QueueError unless every question that the steps passed has its decision on record, and the one that the
    task waits for exists, with its decision if it has one. The latest questions are looked at first: earlier ones may
    be those of a restarted task."""
    asked = [item for item in items if item.status != "WITHDRAWN"]
    if record.item is not None:
        item = asked.pop() if asked else None
        if item is None or item.id != record.item:
            raise QueueError(f"it waits for `{record.item}`, which is not its last question")
        if item.status not in OPEN:
            store.check_decided(item)
    for entered, left in reversed(list(pairwise(steps))):
        if task.machine.place(left.source).activity != "human":
            continue
        item = asked.pop() if asked else None
        trigger = next((effect.subject for effect in entered.effects if effect.kind == "ask"), "")
        expected = STATUS_AFTER["resolve" if left.event == "resolved" else "reject"]
        if item is None or (item.status, item.trigger) != (expected, trigger):
            raise QueueError(f"it has passed the question `{trigger}`, and no such decision is on record")
        if not shows_task(item, task):
            raise QueueError(f"the question `{item.id}` shows another definition of the task")
        store.check_decided(item)
