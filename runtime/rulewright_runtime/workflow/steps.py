"""One step of one task: an activity, the machine's step, and the transaction that stores both."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow import machine
from rulewright_runtime.workflow.activities import ACTIVITIES, MAX_REASON, paths, question, why_not_decided
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError
from rulewright_runtime.workflow.artifacts import broken_lock, changed_paths, contents
from rulewright_runtime.workflow.collectors import CollectionError
from rulewright_runtime.workflow.database import StoreError
from rulewright_runtime.workflow.events import IS_EVENT, EventDraft
from rulewright_runtime.workflow.machine import Event, MachineStep, StateEffect, activity, iterations_used, status
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.task_context import TaskContext, TaskRecord
from rulewright_runtime.workflow.task_step import TaskStep
from rulewright_runtime.workflow.workflow_plan import OVERLAYS, TaskPlan

LOG: Final = logging.getLogger("rulewright.workflow")
_BUDGET_WARNING: Final = 0.8  # share of the budget


def advance(task: TaskPlan, record: TaskRecord, run: RunContext) -> TaskRecord:
    """Execute the task's activity, take the step it leads to, and store both. Returns the new record.

    A failed call is stored, too, and is retried by the next `advance`. Raises StoreError or QueueError when nothing
    can be written; the task then stays where it was.
    """
    current, step = activity(task.machine, record.state), TaskStep.of(task, record, run)
    if current == "human" and (why := why_not_decided(step)):
        return _ask_again(step, why)
    try:
        event = ACTIVITIES[current](step)
    except AgentError as failure:
        failed = TaskStep.of(task, record, run, str(failure))
        failed.write(events=step.made.events, usage=step.made.usage)
        if not failure.is_final and record.retries < run.max_retries(step.asked):
            return _retry(failed, step.asked)
        step, event = failed, "failed"
    return _take(step, event)


def _take(step: TaskStep, event: Event) -> TaskRecord:
    """Take the step that the event leads to, in one transaction."""
    task = step.task
    before = step.record.with_usage(step.made.usage)
    move = machine.step(task.machine, before.state, event, before.context.bindings())
    context = before.context.forget(move.transition.forgets)
    step.write(record=before, move=move)
    step.change(state=move.state, context=context, retries=0)
    _decide_loop(step, before, move)
    for effect in move.effects:
        _EFFECTS[effect.kind](step, effect, event)
    _report_status(step, move)
    if move.after == "RUNNING" and not step.record.started:
        step.change(started=True, started_at=time.time())
    if move.after == "COMPLETED" and (changed := broken_lock(step.record.locked, step.run.root, task.outputs)):
        raise StoreError(f"task `{task.id}`: {paths(changed)} changed after the approval: restore it, then resume")
    return _commit(step)


def _commit(step: TaskStep) -> TaskRecord:
    step.run.commit(step.made)
    if step.made.usage.cost_usd:
        watch_budget(step.run)
    return step.record


def _ask(step: TaskStep, trigger: str, reason: str) -> None:
    """Ask a person. Outputs that the question is about and that were changed since they were stored are stored, too."""
    item = question(step, trigger, reason)
    step.write(item=item, outputs=())
    step.change(item=item.id, items=step.record.items + 1)
    step.emit(EventDraft("hil.created", {"item": item.id, "trigger": trigger, "reason": reason}))
    stored = {each.path: each.sha256 for each in step.run.store.outputs(step.run.run_id, step.task.id)}
    if changed_paths(stored, item.context.get("outputs", stored)):
        with suppress(OSError, CollectionError):
            step.write(outputs=contents(step.run.root, step.task.outputs))


def _ask_again(step: TaskStep, why: str) -> TaskRecord:
    """Withdraw a decision about outputs, evidence or a task that differ from those of the question, and ask about the
    present ones."""
    assert step.record.item is not None
    approved = step.run.store.item(step.record.item)
    step.run.store.check_decided(approved)
    step.write(withdrawn=why)
    step.warn(f"the decision does not count: {why}")
    _ask(step, approved.trigger, approved.reason)
    return _commit(step)


# effects


def _advise(step: TaskStep, effect: StateEffect, _: Event) -> None:
    assert step.task.confidence is not None
    step.change_context(advisory=effect.words)
    context, scoring = step.record.context, step.task.confidence
    details: JsonObject = {"signal": effect.words, "mode": scoring.mode, "threshold": scoring.threshold}
    details["confidence_score"] = None if context.score is None else float(context.score)
    details["metrics"] = {metric.type: metric.value for metric in context.metrics}
    step.emit(EventDraft("confidence.advisory", details))


def _pass(step: TaskStep, effect: StateEffect, event: Event) -> None:
    step.change(passed=tuple(name for name in OVERLAYS if name in {*step.record.passed, effect.subject}))
    if effect.subject == "paired_workflow" and step.record.context.challenger_approved:
        _lock(step, effect, event)


def _lock(step: TaskStep, _: StateEffect, __: Event) -> None:
    """Lock the outputs as the reviewer or challenger was given them; the gate fails when they change."""
    locked = step.hashes() if step.record.seen is None else step.record.seen
    step.change(locked=locked)
    step.emit(EventDraft("artifact.locked", {"outputs": sorted(locked)}))


def _swap(step: TaskStep, _: StateEffect, __: Event) -> None:
    driver, challenger = step.record.context.challenger, step.record.context.driver
    step.change_context(driver=driver, challenger=challenger)
    step.emit(EventDraft("pair.roles_switched", {"driver_agent": driver, "challenger_agent": challenger}))


def _exceed(step: TaskStep, effect: StateEffect, _: Event) -> None:
    loops = dict.fromkeys((*step.record.max_iterations_exceeded, effect.subject))
    step.change(max_iterations_exceeded=tuple(loops))


def _fail(step: TaskStep, effect: StateEffect, event: Event) -> None:
    reason = _with_reasons(step, effect.words, event)
    step.change(reason=reason if event == "escalated" else step.reason or reason)


_EFFECTS: Final[Mapping[str, Callable[[TaskStep, StateEffect, Event], None]]] = {
    "advise": _advise,
    "pass": _pass,
    "exceeded": _exceed,
    "ask": lambda step, effect, event: _ask(step, effect.subject, _with_reasons(step, effect.words, event)),
    "lock": _lock,
    "swap": _swap,
    "fail": _fail,
}


def _with_reasons(step: TaskStep, words: str, event: Event) -> str:
    """Append the gate's reasons when the gate led here, or what is wrong with a pair."""
    if event == "escalated":
        return f"{words}: {step.reason}"
    if step.made.move is None or step.made.move.transition.source not in {"rework", "gate_again"}:
        return words
    reports = [entry["reasons"] for entry in step.record.history if entry["step"] == "gate"]
    return f"{words}: {'; '.join(reports[-1])}"[:MAX_REASON] if reports and reports[-1] else words


# events


def _decide_loop(step: TaskStep, before: TaskRecord, move: MachineStep) -> None:
    """Add the decision at the end of an iteration, when the step left a place that decides about a loop."""
    kind, _, loop = move.transition.source.partition(":")
    names = [each.name for each in step.task.machine.loops if each.name == loop]
    if kind != "decide" or not names:
        return
    outcome = "continue" if move.transition.target == "work" else "exit"
    if any(effect.kind == "exceeded" for effect in move.effects):
        outcome = "max_iterations_exceeded"
    decision = _decision_word(loop, before.context) or outcome
    iteration = iterations_used(step.task.machine, before.state, names[0])
    details: JsonObject = {"overlay_type": loop, "iteration": iteration, "decision": decision, "outcome": outcome}
    if loop == "confidence_loop":
        score = before.context.score
        details["confidence_score"] = None if score is None else float(score)
    if move.undecided:
        details["undecided"] = list(move.undecided)
    level: Any = "warning" if outcome == "max_iterations_exceeded" else "info"
    step.emit(EventDraft("overlay.iteration", details, level))
    step.remember("decide", overlay_type=loop, decision=decision, outcome=outcome)


def _decision_word(loop: str, context: TaskContext) -> str | None:
    """Return the decision of the reviewer or the challenger; None for the other loops."""
    if loop == "agentic_review":
        return context.decision
    if loop == "paired_workflow" and context.challenger_approved is not None:
        return "approved" if context.challenger_approved else "rejected"
    return None


def _report_status(step: TaskStep, move: MachineStep) -> None:
    """Add the events of a status that was entered."""
    task, record = step.task, step.record
    if move.before == "PENDING":
        for warning in task.warnings:
            LOG.warning("task `%s`: %s", task.id, warning, extra=IS_EVENT)
            step.warn(warning)
    if move.after == "RUNNING" and not record.started:
        details: JsonObject = {"overlays": list(task.overlays), "dependencies": list(task.dependencies)}
        step.emit(EventDraft("task.started", details, agent=step.worker))
    if move.after == "COMPLETED":
        step.emit(EventDraft("task.completed", _usage_details(record), agent=step.worker))
    if move.after == "FAILED":
        details = {"reason": record.reason, "max_iterations_exceeded": bool(record.max_iterations_exceeded)}
        step.emit(EventDraft("task.failed", {**details, **_usage_details(record)}, "error", step.worker))


def _usage_details(record: TaskRecord) -> JsonObject:
    return {
        "duration_ms": max(0, round((time.time() - record.started_at) * 1000)) if record.started else 0,
        "tokens_used": record.tokens_used,
        "estimated_cost_usd": round(record.cost_usd, 6),
        "retry_count": record.retry_count,
        "loop_count": record.iteration,
    }


def _retry(step: TaskStep, agent: str) -> TaskRecord:
    """Store the failed call and wait."""
    run, retry = step.run, step.record.retries + 1
    LOG.warning("task `%s`: agent `%s` failed and is retried: %s", step.task.id, agent, step.reason, extra=IS_EVENT)
    step.write(record=step.record.with_usage(step.made.usage))
    step.change(retries=retry, retry_count=step.record.retry_count + 1)
    step.emit(EventDraft("task.retrying", {"retry": retry, "reason": step.reason}, "warning", agent))
    _commit(step)
    run.wait_before(retry, agent)
    return step.record


def watch_budget(run_context: RunContext) -> None:
    """Publish one event at 80% of the budget and one at 100%; then stop the run unless the plan only warns."""
    limits = run_context.plan.limits
    run = run_context.store.run(run_context.run_id)
    budget = limits.cost_budget_per_run_usd
    share = run.cost_usd / budget if budget else (float("inf") if run.cost_usd else 0.0)
    level = 2 if share >= 1 else 1 if share >= _BUDGET_WARNING else 0
    if level > run.warned:
        pct = None if share == float("inf") else round(100 * share, 1)
        details = {"current_cost": round(run.cost_usd, 6), "budget": budget, "pct_used": pct}
        kinds = ("cost.budget_warning", "cost.exceeded")[run.warned : level]
        events = [EventDraft(kind, details, "warning") for kind in kinds]
        run_context.emit(*events, warned=level)
    if level == 2 and limits.cost_enforcement != "warn":
        run_context.stop.set()


def fail(task: TaskPlan, record: TaskRecord, run: RunContext, reason: str) -> TaskRecord:
    """Fail a task that is RUNNING or NEEDS_REWORK, at the next place that allows it."""
    while status(task.machine, record.state) in {"RUNNING", "NEEDS_REWORK"}:
        event: Event = "decide" if activity(task.machine, record.state) == "decide" else "failed"
        record = _take(TaskStep.of(task, record, run, reason), event)
    return record
