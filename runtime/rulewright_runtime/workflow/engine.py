"""The engine: runs the tasks of a workflow to their end, concurrently where the graph allows it.

Every step is committed before the next begins. A killed run resumes from its last transaction, and an interrupted
activity is repeated.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.digests import sha256
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.judging.judge import Judge
from rulewright_runtime.plan.envelope import content_hash
from rulewright_runtime.workflow.adapters import AgentAdapter, AgentError, open_adapters
from rulewright_runtime.workflow.continuation import Continuation, compare_plans, contradictions, initial_task
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.hil import OPEN, QueueItem
from rulewright_runtime.workflow.machine import TERMINAL, activity, status
from rulewright_runtime.workflow.notify import Notifier
from rulewright_runtime.workflow.run_context import RunContext, utc_now
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_records import OVER, RunStatus, StoredWorkflow
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.steps import advance, fail, watch_budget
from rulewright_runtime.workflow.workflow_plan import RunLimits, TaskPlan, WorkflowPlan, decode

LOG: Final = logging.getLogger("rulewright.workflow")


class EngineError(RuntimeFailure):
    """A run that can't start or resume."""


class Result(msgspec.Struct, frozen=True):
    """The state of a run. `waiting` holds the queue items that people have to decide, `blocked` the tasks that can't
    run because a dependency has FAILED."""

    run_id: str
    status: RunStatus
    tasks: dict[str, str]
    waiting: tuple[QueueItem, ...] = ()
    blocked: tuple[str, ...] = ()
    reasons: dict[str, str] = msgspec.field(default_factory=dict)


def run(
    plan: WorkflowPlan,
    store: Store,
    settings: RunSettings,
    *,
    resume: bool | str = False,
    changed: bool = False,
    only: str | None = None,
    one_step: bool = False,
    patient: bool = False,
    adapter: Callable[[str], AgentAdapter] | None = None,
    judge: Judge | None = None,
    publish: Callable[[Sequence[Event]], None] = lambda _: None,
    now: Callable[[], str] = utc_now,
) -> Result:
    """Run `plan`, or with `resume` continue its latest unfinished run (or the run named).

    `changed` allows the workflow to differ from the one the run began with; unchanged tasks are carried over (see
    `compare_plans`). `only` runs one task and its dependencies. `one_step` executes one activity. `patient` polls the
    queue for decisions; otherwise the run ends when only people can continue it, and is resumed later. `judge` answers
    the questions to evaluators. `publish` receives every event after it was written. Raises EngineError when there is
    nothing to run or to resume, the plan has changed, the database is in use or contradicts itself, or an agent has no
    adapter.
    """
    if not plan.tasks:
        raise EngineError(f"`{plan.name}` has no task: nothing could be COMPLETED")
    publish = _safe_publisher(publish)
    root = Path(settings.folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"the working folder `{root}` can't be created: {reason_of(error)}") from None
    on_start = partial(store.add_process, "command")
    if adapter is None:
        adapter = open_adapters(settings, root, on_start, judge)
        _check_adapters(plan, adapter)
    with store.run_lock() as locked:
        if not locked:
            raise EngineError(f"another run is using `{store.path}`")
        store.add_process("run")
        if resume and changed:
            stored, events = _resume_changed(plan, store, resume, root, now())
            publish(events)
        elif resume:
            stored = resumable(plan, store, resume)
            _check_consistency(store, stored)
            store.replan(stored.run_id, plan)
        else:
            stored = store.begin(plan, [(task.id, *initial_task(task)) for task in plan.tasks], now())
            publish(store.events(stored.run_id))
        notifier = Notifier(settings, on_start)
        run = RunContext(plan, stored.run_id, store, settings, root, adapter, now, publish, notifier.notify)
        _publish_constitution(run)
        try:
            return _Engine(run, only, patient).go(one_step=one_step)
        finally:
            notifier.close()


def _publish_constitution(run: RunContext) -> None:
    """Publish which rules the agents receive, once, and again when they have changed."""
    rules = run.settings.constitution
    if rules is None:
        return
    digest = sha256(rules.text.encode("utf-8")).hexdigest()
    details = {"file": rules.path, "sha256": digest, "characters": len(rules.text)}
    published = [event.details for event in run.store.events(run.run_id) if event.event_type == "constitution.resolved"]
    if published[-1:] != [details]:
        run.emit(EventDraft("constitution.resolved", details))


def _safe_publisher(publish: Callable[[Sequence[Event]], None]) -> Callable[[Sequence[Event]], None]:
    """Return a publisher that logs failures as warnings: the events are in the database, so the run continues."""

    def publish_safely(events: Sequence[Event]) -> None:
        try:
            publish(events)
        except Exception as error:  # it may be third-party code
            LOG.warning("events could not be published: %s: %s", type(error).__name__, error)

    return publish_safely


def _check_adapters(plan: WorkflowPlan, adapter: Callable[[str], AgentAdapter]) -> None:
    """Raise EngineError unless every agent has an adapter, before anything runs."""
    for agent in sorted({agent for task in plan.tasks for _, agent in task.roles}):
        try:
            adapter(agent)
        except AgentError as error:
            raise EngineError(f"agent `{agent}` can't be reached: {error}") from None


def resumable(plan: WorkflowPlan, store: Store, resume: bool | str, *, changed: bool = False) -> StoredWorkflow:
    """Return the run that `resume` continues: the latest unfinished one of `plan`, or the run named. Raises EngineError
    when there is none or the plan has changed. `changed` allows a changed plan, and a run that has FAILED."""
    if isinstance(resume, str):
        stored = store.run(resume)
    else:
        runs = [run for run in store.runs(plan.name) if run.status not in OVER]
        if not runs:
            raise EngineError(f"`{plan.name}` has no unfinished run to resume")
        stored = runs[-1]
    if stored.status in OVER and not (changed and stored.status == "FAILED"):
        raise EngineError(f"`{stored.run_id}` is {stored.status}, so it can't be resumed")
    if stored.workflow != plan.name:
        raise EngineError(f"`{stored.run_id}` is a run of `{stored.workflow}`, not of `{plan.name}`")
    if not changed and _work_hash(decode(stored.plan)) != _work_hash(plan):
        raise EngineError(
            f"`{plan.name}` has changed since `{stored.run_id}` began, in its files or by `--no-hil`: keep its"
            f" unchanged tasks with `--resume {stored.run_id} --changed`, or start a new run"
        )
    return stored


def _resume_changed(
    plan: WorkflowPlan, store: Store, resume: bool | str, root: Path, now: str
) -> tuple[StoredWorkflow, list[Event]]:
    """Continue the run with a changed plan; return the run and the events about what it keeps."""
    stored = resumable(plan, store, resume, changed=True)
    carried = compare_plans(store, stored, plan, root)
    records = {name: record for name, (_, record) in store.records(stored.run_id).items()}
    asked = Counter(item.task_id for item in store.items(stored.run_id))  # also about a task whose record is lost
    initial = {
        task.id: initial_task(task, records.get(task.id), asked[task.id])
        for task in plan.tasks
        if task.id not in carried.kept
    }
    details = {
        "plan": plan.hash,
        "kept": carried.kept,
        "restarted": carried.restarted,
        "removed": list(carried.removed),
    }
    event = EventDraft("engine.changed", details)
    return stored, store.change(stored.run_id, plan, initial, carried.removed, now, event)


def carried_over(
    plan: WorkflowPlan, store: Store, settings: RunSettings, resume: bool | str
) -> tuple[str, Continuation]:
    """Return the run id and what resuming it with `changed` would carry over. Raises EngineError."""
    stored = resumable(plan, store, resume, changed=True)
    return stored.run_id, compare_plans(store, stored, plan, Path(settings.folder))


def _check_consistency(store: Store, stored: StoredWorkflow) -> None:
    """Raise EngineError when the database contradicts itself about a task."""
    for name, why in contradictions(store, stored).items():
        raise EngineError(
            f"the database contradicts itself about task `{name}` of `{stored.run_id}`: {why}; repeat such tasks with"
            f" `--resume {stored.run_id} --changed`, or start a new run"
        )


def _work_hash(plan: WorkflowPlan) -> str:
    """Hash what must not change during a run: everything but the limits of time and money."""
    return content_hash(replace(plan, limits=RunLimits()))


class _Engine:
    """One session of a run."""

    def __init__(self, run: RunContext, only: str | None, patient: bool) -> None:
        self._run, self._patient = run, patient
        self._tasks = {task.id: task for task in run.plan.tasks}
        self._records = {name: record for name, (_, record) in run.store.records(run.run_id).items()}
        self._selected = set(self._tasks) if only is None else self._with_dependencies(only)

    def _with_dependencies(self, name: str) -> set[str]:
        """Return the task and everything it depends on."""
        if name not in self._tasks:
            raise EngineError(f"the workflow has no task `{name}`")
        names = {name}
        for task in reversed(self._run.plan.tasks):  # each comes after its dependencies
            names |= set(task.dependencies) if task.id in names else set()
        return names

    def go(self, *, one_step: bool) -> Result:
        run = self._run
        watch_budget(run)
        if one_step:
            ready = next(self._ready(()), None)
            if ready is not None and not run.stop.is_set():
                self._advance(ready)
        else:
            self._run_tasks()
        if run.stop.is_set() and run.plan.limits.cost_enforcement == "stop":
            for name, task in self._tasks.items():
                self._records[name] = fail(task, self._records[name], run, "the cost budget is used up")
        return self._finish()

    def _run_tasks(self) -> None:
        """Run up to `max_concurrent_tasks` tasks at a time, until only people can continue the run."""
        run, most = self._run, self._run.plan.limits.max_concurrent_tasks
        active: dict[Future[None], str] = {}
        with ThreadPoolExecutor(most, "task") as pool:
            try:
                while True:
                    for name in self._ready(active.values()):
                        if len(active) >= most or run.stop.is_set():
                            break
                        active[pool.submit(self._run_task, name)] = name
                    if not active:
                        if self._patient and self._waiting() and not run.stop.is_set():
                            run.stop.wait(max(0.05, run.settings.poll_interval_seconds))
                            continue
                        return
                    for future in wait(active, return_when=FIRST_COMPLETED).done:
                        del active[future]
                        future.result()
            except BaseException:
                run.stop.set()
                raise

    def _ready(self, busy: Collection[str]) -> Iterator[str]:
        """Yield the tasks that can advance now, in the order of the plan."""
        for name, task in self._tasks.items():
            if name in self._selected and name not in busy and self._can_advance(task):
                yield name

    def _can_advance(self, task: TaskPlan) -> bool:
        record, now = self._records[task.id], self._status(task.id)
        if now in TERMINAL:
            return False
        if now == "PENDING":
            return all(self._status(name) == "COMPLETED" for name in task.dependencies)
        if activity(task.machine, record.state) == "human":
            return record.item is not None and self._run.store.item(record.item).status not in OPEN
        return True

    def _run_task(self, name: str) -> None:
        """Advance one task until it has ended, waits for a person, or the run stops."""
        while self._can_advance(self._tasks[name]) and not self._run.stop.is_set():
            self._advance(name)

    def _advance(self, name: str) -> None:
        self._records[name] = advance(self._tasks[name], self._records[name], self._run)

    def _status(self, name: str) -> str:
        return status(self._tasks[name].machine, self._records[name].state)

    def _waiting(self) -> bool:
        return any(self._status(name) == "HIL_PENDING" for name in self._selected)

    def _finish(self) -> Result:
        """Store the state of the run and return it."""
        run = self._run
        states = {name: self._status(name) for name in self._tasks}
        blocked = self._blocked(states)
        outcome: RunStatus = "COMPLETED"
        if not all(now in TERMINAL for name, now in states.items() if name not in blocked):
            outcome = "WAITING" if self._waiting() and next(self._ready(()), None) is None else "PAUSED"
        elif set(states.values()) != {"COMPLETED"}:
            outcome = "FAILED"
        events = [self._completed(outcome, states, blocked)] if outcome in OVER else []
        run.publish(run.store.finish(run.run_id, outcome, run.now(), events))
        reasons = {name: record.reason for name, record in self._records.items() if states[name] == "FAILED"}
        waiting = tuple(run.store.items(run.run_id, waiting=True))
        return Result(run.run_id, outcome, states, waiting, blocked, reasons)

    def _completed(self, outcome: RunStatus, states: dict[str, str], blocked: tuple[str, ...]) -> EventDraft:
        """Return the last event of a run."""
        stored = self._run.store.run(self._run.run_id)
        details = {
            "status": outcome,
            "completed": [name for name, now in states.items() if now == "COMPLETED"],
            "failed": [name for name, now in states.items() if now == "FAILED"],
            "blocked": list(blocked),
            "tokens_used": stored.tokens_used,
            "estimated_cost_usd": round(stored.cost_usd, 6),
        }
        return EventDraft("engine.completed", details, "info" if outcome == "COMPLETED" else "error")

    def _blocked(self, states: dict[str, str]) -> tuple[str, ...]:
        """Return the tasks that can't run, because a dependency has FAILED or can't run."""
        failed = {name for name, now in states.items() if now == "FAILED"}
        blocked = []
        for name, task in self._tasks.items():
            if states[name] == "PENDING" and failed & set(task.dependencies):
                failed.add(name)
                blocked.append(name)
        return tuple(blocked)
