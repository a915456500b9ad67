"""One step of one task: an activity, the machine's step, and the transaction that stores both."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.activities import ACTIVITIES, changed_since_asked, definition, overlay_state, paths
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError
from rulewright_runtime.workflow.artifacts import broken_lock, changed_paths, contents, hashes
from rulewright_runtime.workflow.collectors import CollectionError
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.events import IS_EVENT, EventDraft
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.machine import MachineStep, StateEffect, activity, iterations_used, status, step
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.run_database import ActivityOutcome, TaskChange
from rulewright_runtime.workflow.task_context import TaskContext, TaskRecord, challenger, worker
from rulewright_runtime.workflow.workflow_plan import OVERLAYS, TaskPlan

LOG: Final = logging.getLogger("rulewright.workflow")
MAX_REASON: Final = 500  # characters of the reason why a task ended or a person is asked
_BUDGET_WARNING: Final = 0.8  # share of the budget
_MAX_BACKOFF: Final = 86_400.0  # seconds; each wait is twice as long as the previous one


def advance(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> TaskRecord:
    """Carry out the task's activity, take the step it leads to, and store both. Returns the new record.

    A failed call is stored, too, and is retried by the next `advance`. Raises StoreError or QueueError when nothing
    can be written; the task then stays where it was.
    """
    current = activity(task.machine, record.state)
    if current == "human" and (changed := changed_since_asked(task, record, run_context)):
        return _ask_again(task, record, run_context, changed)
    try:
        outcome = ACTIVITIES[current](task, record, run_context)
    except AgentError as failure:
        agent = _called_agent(task, record, current)
        if not failure.is_final and record.retries < run_context.max_retries(agent):
            return _retry(task, record, run_context, agent, failure)
        failed = record.with_usage(failure.usage)
        outcome = ActivityOutcome("failed", failed, failure.events, usage=failure.usage, reason=str(failure))
    return take(task, record, outcome, run_context)


def take(task: TaskPlan, stored: TaskRecord, outcome: ActivityOutcome, run_context: RunContext) -> TaskRecord:
    """Take the step that the outcome leads to, in one transaction. `stored` is the record in the database."""
    before = outcome.record
    move = step(task.machine, before.state, outcome.event, before.context.bindings())
    record, events, item = _apply(task, move, outcome, run_context)
    place = task.machine.place(move.state.place)
    if place.activity == "human" and item is None:
        record, item = _ask(
            task, record, run_context, "t2_gate", "the gate's tier is T2: a person has to sign", outcome
        )
    if item is not None:
        events.append(_asked(item))
    events += _status_events(task, record, move)
    if move.after == "RUNNING" and not record.started:
        record = replace(record, started=True, started_at=time.time())
    if move.after == "COMPLETED" and (changed := broken_lock(record.lock, run_context.root, task.outputs)):
        raise StoreError(f"task `{task.id}`: {paths(changed)} changed after the approval: restore it, then resume")
    outputs = outcome.outputs if item is None else _unstored(task, run_context, item)
    outcome = dataclasses.replace(outcome, record=record, events=(*outcome.events, *events), outputs=outputs)
    run_context.commit(TaskChange(task.id, stored, outcome, move, item))
    if outcome.usage.cost_usd:
        watch_budget(run_context)
    return record


def _apply(
    task: TaskPlan, move: MachineStep, outcome: ActivityOutcome, run_context: RunContext
) -> tuple[TaskRecord, list[EventDraft], QueueItem | None]:
    """Return the record after the step, the events of its effects, and the queue item they ask for."""
    old = outcome.record
    context = old.context.forget(move.transition.forgets)
    record = replace(old, state=move.state, context=context, retries=0)
    events: list[EventDraft] = []
    item: QueueItem | None = None
    decision = _decision(task, old, move)
    if decision is not None:
        events.append(decision)
        record = replace(record, history=(*record.history, _history(old, decision)))
    for effect in move.effects:
        if effect.kind == "ask":
            words = _with_reasons(effect.words, move, old, outcome)
            record, item = _ask(task, record, run_context, effect.subject, words, outcome)
        else:
            if effect.kind == "fail":
                effect = msgspec.structs.replace(effect, words=_with_reasons(effect.words, move, old, outcome))
            record, more = _effect(task, record, effect, outcome, run_context)
            events += more
    return record, events, item


def _with_reasons(words: str, move: MachineStep, record: TaskRecord, outcome: ActivityOutcome) -> str:
    """Append the gate's reasons when the gate led here, or what is wrong with a pair."""
    if move.transition.event == "escalated":
        return f"{words}: {outcome.reason}"
    if move.transition.source not in {"rework", "gate_again"}:
        return words
    reports = [entry["reasons"] for entry in record.history if entry["step"] == "gate"]
    reasons = outcome.report.reasons if outcome.report is not None else reports[-1] if reports else ()
    return f"{words}: {'; '.join(reasons)}"[:MAX_REASON] if reasons else words


def _effect(
    task: TaskPlan, record: TaskRecord, effect: StateEffect, outcome: ActivityOutcome, run_context: RunContext
) -> tuple[TaskRecord, list[EventDraft]]:
    if effect.kind == "advise":
        context = replace(record.context, advisory=effect.words)
        return replace(record, context=context), [_advisory(task, context, effect.words)]
    if effect.kind == "pass":
        passed = tuple(name for name in OVERLAYS if name in {*record.passed, effect.subject})
        record = replace(record, passed=passed)
        approved = effect.subject == "paired_workflow" and record.context.challenger_approved
        return _lock_outputs(task, record, run_context) if approved else (record, [])
    if effect.kind == "exceeded":
        loops = tuple(dict.fromkeys((*record.max_iterations_exceeded, effect.subject)))
        return replace(record, max_iterations_exceeded=loops), []
    if effect.kind == "lock":
        return _lock_outputs(task, record, run_context)
    if effect.kind == "swap":
        driver, challenger = record.context.challenger, record.context.driver
        context = replace(record.context, driver=driver, challenger=challenger)
        return replace(record, context=context), [
            EventDraft("pair.roles_switched", {"driver_agent": driver, "challenger_agent": challenger})
        ]
    return replace(record, reason=effect.words if outcome.event == "escalated" else outcome.reason or effect.words), []


def _lock_outputs(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> tuple[TaskRecord, list[EventDraft]]:
    """Lock the outputs as the reviewer or challenger was given them; the gate fails when they change."""
    locked = hashes(run_context.root, task.outputs) if record.seen is None else record.seen
    return replace(record, locked=locked, is_locked=True), [EventDraft("artifact.locked", {"outputs": sorted(locked)})]


def _advisory(task: TaskPlan, context: TaskContext, words: str) -> EventDraft:
    assert task.confidence is not None
    details: JsonObject = {"signal": words, "mode": task.confidence.mode, "threshold": task.confidence.threshold}
    details["confidence_score"] = None if context.score is None else float(context.score)
    details["metrics"] = {metric.type: metric.value for metric in context.metrics}
    return EventDraft("confidence.advisory", details)


def _decision(task: TaskPlan, record: TaskRecord, move: MachineStep) -> EventDraft | None:
    """Return the decision at the end of an iteration, when the step left a place that decides about a loop."""
    kind, colon, loop = move.transition.source.partition(":")
    if kind != "decide" or not colon:
        return None
    loops = {each.name: each for each in task.machine.loops}
    name = loops[loop].name  # type: ignore[index]  # the machine's places are named after its loops
    if move.transition.target == "work":
        outcome = "continue"
    else:
        exceeded = any(effect.kind == "exceeded" for effect in move.effects)
        outcome = "max_iterations_exceeded" if exceeded else "exit"
    details: JsonObject = {
        "overlay_type": loop,
        "iteration": iterations_used(task.machine, record.state, name),
        "decision": _decision_word(loop, record.context) or outcome,
        "outcome": outcome,
    }
    if loop == "confidence_loop":
        score = record.context.score
        details["confidence_score"] = None if score is None else float(score)
    if move.undecided:
        details["undecided"] = list(move.undecided)
    return EventDraft("overlay.iteration", details, "warning" if outcome == "max_iterations_exceeded" else "info")


def _decision_word(loop: str, context: TaskContext) -> str | None:
    """Return the decision of the reviewer or the challenger; None for the other loops."""
    if loop == "agentic_review":
        return context.decision
    if loop == "paired_workflow" and context.challenger_approved is not None:
        return "approved" if context.challenger_approved else "rejected"
    return None


def _history(record: TaskRecord, decision: EventDraft) -> JsonObject:
    details = {key: decision.details[key] for key in ("overlay_type", "decision", "outcome")}
    return {"iteration": record.iteration, "step": "decide", **details}


def _ask(
    task: TaskPlan, record: TaskRecord, run_context: RunContext, trigger: str, words: str, outcome: ActivityOutcome
) -> tuple[TaskRecord, QueueItem]:
    """Create a queue item with everything a reviewer needs."""
    number = record.items + 1
    reports = run_context.store.reports(run_context.run_id, task.id) + ([outcome.report] if outcome.report else [])
    item = QueueItem(
        id=f"{run_context.run_id}-{task.id}-{number}",
        task_id=task.id,
        trigger=trigger,
        reason=words,
        status="PENDING",
        context={
            "task_definition": definition(task),
            "loop_history": list(record.history),
            "overlay_state": overlay_state(task, record),
            "gate_reports": [msgspec.to_builtins(report) for report in reports],
            **({"outputs": hashes(run_context.root, task.outputs)} if record.iteration else {}),
        },
        created_at=run_context.now(),
        run_id=run_context.run_id,
        workflow=run_context.plan.name,
    )
    return replace(record, item=item.id, items=number), item


def _asked(item: QueueItem) -> EventDraft:
    return EventDraft("hil.created", {"item": item.id, "trigger": item.trigger, "reason": item.reason})


def _unstored(task: TaskPlan, run_context: RunContext, item: QueueItem) -> tuple[tuple[str, bytes], ...]:
    """Return the outputs that the item asks about and that were changed since they were stored."""
    stored = {path: digest for _, path, digest, _ in run_context.store.outputs(run_context.run_id, task.id)}
    if not changed_paths(stored, item.context.get("outputs", stored)):
        return ()
    with suppress(OSError, CollectionError):
        return tuple(contents(run_context.root, task.outputs))
    return ()


def _ask_again(task: TaskPlan, record: TaskRecord, run_context: RunContext, changed: Sequence[str]) -> TaskRecord:
    """Withdraw an approval of outputs that were changed after the question, and ask about the present ones."""
    assert record.item is not None
    approved = run_context.store.item(record.item)
    run_context.store.check_decided(approved)
    words = f"{paths(changed)} changed after the question"
    asked, item = _ask(
        task, record, run_context, approved.trigger, approved.reason, ActivityOutcome("resolved", record)
    )
    warning = EventDraft("task.warning", {"warning": f"the approval does not count: {words}"}, "warning")
    outputs = _unstored(task, run_context, item)
    outcome = ActivityOutcome("resolved", asked, (warning, _asked(item)), outputs=outputs)
    run_context.commit(TaskChange(task.id, record, outcome, item=item, withdrawn=words))
    return asked


def _status_events(task: TaskPlan, record: TaskRecord, move: MachineStep) -> list[EventDraft]:
    events: list[EventDraft] = []
    if move.before == "PENDING":
        for warning in task.warnings:
            LOG.warning("task `%s`: %s", task.id, warning, extra=IS_EVENT)
            events.append(EventDraft("task.warning", {"warning": warning}, "warning"))
    if move.after == "RUNNING" and not record.started:
        details = {"overlays": list(task.overlays), "dependencies": list(task.dependencies)}
        events.append(EventDraft("task.started", details, agent=worker(task, record)))
    if move.after == "COMPLETED":
        events.append(EventDraft("task.completed", _usage_details(record), agent=worker(task, record)))
    if move.after == "FAILED":
        details = {"reason": record.reason, "max_iterations_exceeded": bool(record.max_iterations_exceeded)}
        events.append(EventDraft("task.failed", {**details, **_usage_details(record)}, "error", worker(task, record)))
    return events


def _usage_details(record: TaskRecord) -> JsonObject:
    return {
        "duration_ms": max(0, round((time.time() - record.started_at) * 1000)) if record.started else 0,
        "tokens_used": record.tokens_used,
        "estimated_cost_usd": round(record.cost_usd, 6),
        "retry_count": record.retry_count,
        "loop_count": record.iteration,
    }


def _called_agent(task: TaskPlan, record: TaskRecord, current: str) -> str:
    if current == "challenge":
        return challenger(task, record)
    if current == "review" and task.review is not None:
        return task.review.reviewer_agent
    return worker(task, record)


def _retry(task: TaskPlan, record: TaskRecord, run_context: RunContext, agent: str, failure: AgentError) -> TaskRecord:
    """Store the failed call and wait, each time twice as long."""
    reason = str(failure)
    LOG.warning("task `%s`: agent `%s` failed and is retried: %s", task.id, agent, reason, extra=IS_EVENT)
    stored, retry = record, record.retries + 1
    record = replace(record.with_usage(failure.usage), retries=retry, retry_count=record.retry_count + 1)
    retrying = EventDraft("task.retrying", {"retry": retry, "reason": reason}, "warning", agent)
    outcome = ActivityOutcome("failed", record, (*failure.events, retrying), usage=failure.usage)
    run_context.commit(TaskChange(task.id, stored, outcome))
    if failure.usage.cost_usd:
        watch_budget(run_context)
    run_context.stop.wait(min(run_context.plan.limits.retry_backoff_seconds * 2 ** (retry - 1), _MAX_BACKOFF))
    return record


def watch_budget(run_context: RunContext) -> None:
    """Publish one event at 80 % of the budget and one at 100 %; then stop the run unless the plan only warns."""
    limits = run_context.plan.limits
    run = run_context.store.run(run_context.run_id)
    budget = limits.cost_budget_per_run_usd
    share = run.cost_usd / budget if budget else (float("inf") if run.cost_usd else 0.0)
    events: Sequence[EventDraft] = ()
    level = 2 if share >= 1 else 1 if share >= _BUDGET_WARNING else 0
    if level > run.warned:
        pct = None if share == float("inf") else round(100 * share, 1)
        details = {"current_cost": round(run.cost_usd, 6), "budget": budget, "pct_used": pct}
        events = [
            EventDraft(kind, details, "warning")
            for number, kind in ((1, "cost.budget_warning"), (2, "cost.exceeded"))
            if run.warned < number <= level
        ]
        run_context.publish(run_context.store.add_events(run_context.run_id, run_context.now(), events, warned=level))
    if level == 2 and limits.cost_enforcement != "warn":
        run_context.stop.set()


def fail(task: TaskPlan, record: TaskRecord, run_context: RunContext, reason: str) -> TaskRecord:
    """Fail a task that is RUNNING or NEEDS_REWORK, at the next place that allows it."""
    while status(task.machine, record.state) in {"RUNNING", "NEEDS_REWORK"}:
        current = activity(task.machine, record.state)
        event: Any = "decide" if current == "decide" else "failed"
        record = take(task, record, ActivityOutcome(event, record, reason=reason), run_context)
    return record
