"""The engine: brings every task of a workflow to its end, side by side where the graph allows it.

Whatever it does is written down before the next thing begins; a run that was killed goes on from its last transaction.
An activity that was under way then is done again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.plan.envelope import content_hash
from rulewright_runtime.workflow.adapters import AgentAdapter, AgentError, open_adapters
from rulewright_runtime.workflow.carry import Carry, begun_anew, carry
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.hil import OPEN, QueueItem
from rulewright_runtime.workflow.machine import TERMINAL, activity, status
from rulewright_runtime.workflow.notify import Notifier
from rulewright_runtime.workflow.run_context import RunContext, utc_now
from rulewright_runtime.workflow.run_database import (
    OVER,
    RunStatus,
    Store,
    StoredWorkflow,
)
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.steps import advance, fail, watch_budget
from rulewright_runtime.workflow.workflow_plan import RunLimits, TaskPlan, WorkflowPlan, decode

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge

LOG: Final = logging.getLogger("rulewright.workflow")


class EngineError(RuntimeFailure):
    """A run that can't begin or go on."""


class Result(msgspec.Struct, frozen=True):
    """How a run stands. `waiting` are the queue items that people have to decide, `blocked` the tasks that never run
    because one before them has FAILED."""

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
    """Run `plan`, or with `resume` go on with its latest unfinished run (or the run named).

    With `changed` the run goes on although its workflow is another: what is as it was is carried over (see `carry`).
    `only` names a task that is brought to its end, with what it depends on, and nothing else. `one_step` does a single
    activity. `patient` waits for people, looking at the queue every few seconds; else the run ends when only people can
    go on, and is resumed later. `judge` answers what evaluators are asked. `publish` hears every event after it was
    written. Raises EngineError where there is nothing to run or to resume, the plan has changed, the database is in
    use, or nobody answers for an agent.
    """
    if not plan.tasks:
        raise EngineError(f"`{plan.name}` has no task: nothing could be COMPLETED")
    publish = _unfailing(publish)
    root = Path(settings.folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"the working folder `{root}` can't be made: {error.strerror}") from None
    if adapter is None:
        adapter = open_adapters(settings, root, lambda pid: store.started("command", pid), judge)
        _reach(plan, adapter)
    with store.at_work() as ours:
        if not ours:
            raise EngineError(f"another run is at work on `{store.path}`")
        store.started("run")
        if resume and changed:
            found = _changed(plan, store, resume, root, now, publish)
        elif resume:
            found = resumable(plan, store, resume)
            store.replan(found.run_id, plan)
        else:
            found = _begun(plan, store, now, publish)
        _publish_constitution(store, found.run_id, settings, now, publish)
        notifier = Notifier(settings, lambda pid: store.started("command", pid))
        run_context = RunContext(
            plan=plan,
            run_id=found.run_id,
            store=store,
            settings=settings,
            root=root,
            adapter=adapter,
            now=now,
            publish=publish,
            notify=notifier.notify,
        )
        try:
            return _Engine(run_context, only, patient).go(one_step=one_step)
        finally:
            notifier.close()


def _publish_constitution(
    store: Store, run_id: str, settings: RunSettings, now: Callable[[], str], publish: Callable[[Sequence[Event]], None]
) -> None:
    """Say which rules the agents are given, once, and again where they have changed."""
    rules = settings.constitution
    if rules is None:
        return
    details = {
        "file": rules.path,
        "sha256": hashlib.sha256(rules.text.encode("utf-8")).hexdigest(),
        "characters": len(rules.text),
    }
    published = [event.details for event in store.events(run_id) if event.event_type == "constitution.resolved"]
    if published[-1:] != [details]:
        publish(store.note(run_id, now(), [EventDraft("constitution.resolved", details)]))


def _unfailing(publish: Callable[[Sequence[Event]], None]) -> Callable[[Sequence[Event]], None]:
    """A listener whose failures are a warning: what happened is in the database, and a run does not end of it."""

    def publish_safely(events: Sequence[Event]) -> None:
        try:
            publish(events)
        except Exception as error:  # it may be anybody's code
            LOG.warning("events could not be published: %s: %s", type(error).__name__, error)

    return publish_safely


def _reach(plan: WorkflowPlan, adapter: Callable[[str], AgentAdapter]) -> None:
    """Nothing begins while an agent can't be reached."""
    for agent in sorted({agent for task in plan.tasks for _, agent in task.roles}):
        try:
            adapter(agent)
        except AgentError as error:
            raise EngineError(f"agent `{agent}` can't be reached: {error}") from None


def _begun(
    plan: WorkflowPlan, store: Store, now: Callable[[], str], publish: Callable[[Sequence[Event]], None]
) -> StoredWorkflow:
    records = [(task.id, *begun_anew(task)) for task in plan.tasks]
    begun = store.begin(plan, records, now())
    publish(store.events(begun.run_id))
    return begun


def resumable(plan: WorkflowPlan, store: Store, resume: bool | str = True, *, changed: bool = False) -> StoredWorkflow:
    """The run that `resume` would go on with: the latest unfinished one of `plan`, or the run named. Raises EngineError
    where there is none, or the plan has changed; with `changed` it may, and a run that has FAILED may go on."""
    if isinstance(resume, str):
        found = store.run(resume)
    else:
        runs = [run for run in store.runs(plan.name) if run.status not in OVER]
        if not runs:
            raise EngineError(f"there is no unfinished run of `{plan.name}` to resume")
        found = runs[-1]
    if found.status in OVER and not (changed and found.status == "FAILED"):
        raise EngineError(f"`{found.run_id}` is {found.status}: there is nothing to resume")
    if found.workflow != plan.name:
        raise EngineError(f"`{found.run_id}` is a run of `{found.workflow}`, not of `{plan.name}`")
    if not changed and _work(decode(found.plan)) != _work(plan):
        raise EngineError(
            f"`{plan.name}` has changed since `{found.run_id}` began: go on with what is as it was by"
            f" `--resume {found.run_id} --changed`, or start a new run"
        )
    return found


def _changed(
    plan: WorkflowPlan,
    store: Store,
    resume: bool | str,
    root: Path,
    now: Callable[[], str],
    publish: Callable[[Sequence[Event]], None],
) -> StoredWorkflow:
    """The run that goes on with a changed plan, and what is carried over written down."""
    found = resumable(plan, store, resume, changed=True)
    records = store.records(found.run_id)
    carried = carry(decode(found.plan), plan, records, root)
    anew = {
        task.id: begun_anew(task, records[task.id][1] if task.id in records else None)
        for task in plan.tasks
        if task.id not in carried.kept
    }
    details = {"plan": plan.hash, "kept": carried.kept, "anew": carried.anew, "removed": list(carried.removed)}
    publish(store.change(found.run_id, plan, anew, carried.removed, now(), EventDraft("engine.changed", details)))
    return found


def carried_over(plan: WorkflowPlan, store: Store, settings: RunSettings, resume: bool | str) -> tuple[str, Carry]:
    """What a run that is resumed with `changed` would carry over; the value is the run and that. Raises EngineError."""
    found = resumable(plan, store, resume, changed=True)
    return found.run_id, carry(decode(found.plan), plan, store.records(found.run_id), Path(settings.folder))


def _work(plan: WorkflowPlan) -> str:
    """What must not change while a run is under way; how it spends time and money may."""
    return content_hash(replace(plan, limits=RunLimits()))


class _Engine:
    """One session of a run."""

    def __init__(self, run_context: RunContext, only: str | None, patient: bool) -> None:
        self._desk, self._patient = run_context, patient
        self._tasks = {task.id: task for task in run_context.plan.tasks}
        self._records = {name: record for name, (_, record) in run_context.store.records(run_context.run_id).items()}
        self._chosen = set(self._tasks) if only is None else self._needed(only)

    def _needed(self, name: str) -> set[str]:
        """The task and everything it depends on."""
        if name not in self._tasks:
            raise EngineError(f"the workflow has no task `{name}`")
        found, pending = set(), [name]
        while pending:
            each = pending.pop()
            if each not in found:
                found.add(each)
                pending += self._tasks[each].dependencies
        return found

    def go(self, *, one_step: bool) -> Result:
        run_context = self._desk
        watch_budget(run_context)
        if one_step:
            ready = next(self._ready(()), None)
            if ready is not None and not run_context.stop.is_set():
                self._records[ready] = advance(self._tasks[ready], self._records[ready], run_context)
        else:
            self._drive()
        if run_context.stop.is_set() and run_context.plan.limits.cost_enforcement == "stop":
            for name, task in self._tasks.items():
                self._records[name] = fail(task, self._records[name], run_context, "the cost budget is used up")
        return self._finish()

    def _drive(self) -> None:
        """Keep as many tasks going as are allowed, until nothing can go on without a person."""
        run_context = self._desk
        active: dict[Future[None], str] = {}
        with ThreadPoolExecutor(run_context.plan.limits.max_concurrent_tasks, "task") as pool:
            try:
                while True:
                    for name in self._ready(active.values()):
                        if len(active) >= run_context.plan.limits.max_concurrent_tasks or run_context.stop.is_set():
                            break
                        active[pool.submit(self._bring, name)] = name
                    if not active:
                        if self._patient and self._waiting() and not run_context.stop.is_set():
                            run_context.stop.wait(max(0.05, run_context.settings.poll_interval_seconds))
                            continue
                        return
                    for done in wait(active, return_when=FIRST_COMPLETED).done:
                        del active[done]
                        done.result()
            except BaseException:
                run_context.stop.set()
                raise

    def _ready(self, busy: Collection[str]) -> Iterator[str]:
        """The tasks that can go on now, in the order of the plan."""
        for name, task in self._tasks.items():
            if name in self._chosen and name not in busy and self._can_go_on(task):
                yield name

    def _can_go_on(self, task: TaskPlan) -> bool:
        record = self._records[task.id]
        now = status(task.machine, record.state)
        if now in TERMINAL:
            return False
        if now == "PENDING":
            return all(self._status(name) == "COMPLETED" for name in task.dependencies)
        if activity(task.machine, record.state) == "human":
            return record.item is not None and self._desk.store.item(record.item).status not in OPEN
        return True

    def _bring(self, name: str) -> None:
        """Advance one task until it has ended, waits for a person, or the run is to stop."""
        task = self._tasks[name]
        while self._can_go_on(task) and not self._desk.stop.is_set():
            self._records[name] = advance(task, self._records[name], self._desk)

    def _status(self, name: str) -> str:
        return status(self._tasks[name].machine, self._records[name].state)

    def _waiting(self) -> list[str]:
        return [name for name in self._tasks if name in self._chosen and self._status(name) == "HIL_PENDING"]

    def _finish(self) -> Result:
        """Write down how the run stands."""
        run_context = self._desk
        states = {name: self._status(name) for name in self._tasks}
        blocked = tuple(self._blocked(states))
        stuck = all(now in TERMINAL for name, now in states.items() if name not in blocked)
        if all(now == "COMPLETED" for now in states.values()):
            outcome: RunStatus = "COMPLETED"
        elif stuck:
            outcome = "FAILED"
        else:
            outcome = "WAITING" if self._waiting() and next(self._ready(()), None) is None else "PAUSED"
        events = []
        if outcome in {"COMPLETED", "FAILED"}:
            run = run_context.store.run(run_context.run_id)
            counts = {now: [name for name in states if states[name] == now] for now in ("COMPLETED", "FAILED")}
            details = {
                "status": outcome,
                "completed": counts["COMPLETED"],
                "failed": counts["FAILED"],
                "blocked": list(blocked),
                "tokens_used": run.tokens_used,
                "estimated_cost_usd": round(run.cost_usd, 6),
            }
            events.append(EventDraft("engine.completed", details, "info" if outcome == "COMPLETED" else "error"))
        run_context.publish(run_context.store.finish(run_context.run_id, outcome, run_context.now(), events))
        reasons = {name: record.reason for name, record in self._records.items() if states[name] == "FAILED"}
        waiting = tuple(run_context.store.items(run_context.run_id, waiting=True))
        return Result(run_context.run_id, outcome, states, waiting, blocked, reasons)

    def _blocked(self, states: dict[str, str]) -> Iterator[str]:
        """The tasks that never run, because one they depend on has FAILED or never runs."""
        lost = {name for name, now in states.items() if now == "FAILED"}
        for name, task in self._tasks.items():
            if states[name] == "PENDING" and lost & set(task.dependencies):
                lost.add(name)
                yield name


__all__ = ["EngineError", "Result", "StoreError", "carried_over", "run"]
