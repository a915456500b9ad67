"""The activity of each machine state: work, score, challenge, review, gate, and waiting for a person."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.english import ticked
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply
from rulewright_runtime.workflow.artifacts import (
    UNREADABLE,
    breaches,
    broken_lock,
    changed_paths,
    contents,
    hashes,
    outside_root,
)
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.gate import judge_evidence
from rulewright_runtime.workflow.machine import Activity, Event, iterations_used
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.run_database import ActivityOutcome
from rulewright_runtime.workflow.security import detect_injections
from rulewright_runtime.workflow.task_context import TaskRecord, challenger, worker
from rulewright_runtime.workflow.task_scoring import MAX_SHOWN, decoded, score
from rulewright_runtime.workflow.workflow_plan import TaskPlan

LOG: Final = logging.getLogger("rulewright.workflow")


def _work(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    inputs = hashes(run_context.root, task.inputs)
    problems = [*breaches(task.inputs, run_context.root), *_unreadable(inputs)]
    if problems:
        return ActivityOutcome("failed", record, reason=f"inputs: {'; '.join(problems)}")
    outside = list(outside_root(task.outputs, run_context.root))
    if outside:
        return ActivityOutcome("failed", record, reason=f"outputs: {'; '.join(outside)}")
    agent = worker(task, record)
    record = replace(record, inputs=inputs)
    reply = run_context.ask(task, record, agent, "work")
    reply = replace(reply, events=(*_changed_approvals(task, inputs, run_context), *reply.events))
    try:
        return _accept_work(task, record, run_context, reply)
    except AgentError as error:
        raise AgentError(str(error), (*reply.events, *error.events), reply.usage) from None


def _changed_approvals(task: TaskPlan, inputs: Mapping[str, str], run_context: RunContext) -> Iterator[EventDraft]:
    """Yield a warning for each input that was changed after it was approved as the output of another task."""
    for name, (status, record) in run_context.store.records(run_context.run_id).items() if inputs else ():
        for path, digest in inputs.items():
            if name != task.id and status == "COMPLETED" and digest != record.locked.get(path, digest):
                warning = f"input `{path}` was changed after its approval in task `{name}`"
                yield EventDraft("task.warning", {"warning": warning}, "warning")


def _accept_work(task: TaskPlan, record: TaskRecord, run_context: RunContext, reply: AgentReply) -> ActivityOutcome:
    """Return the outcome of finished work. Raises AgentError when an output is missing or breaks its contract."""
    agent = worker(task, record)
    problems = [*outside_root(task.outputs, run_context.root), *breaches(task.outputs, run_context.root)]
    problems += _unreadable(hashes(run_context.root, task.outputs))
    if problems:
        raise AgentError(f"outputs: {'; '.join(problems)}")
    record = record.after_call(f"{agent}/work", reply.usage)
    text = reply.text[:MAX_SHOWN]
    record = replace(
        record, iteration=record.iteration + 1, feedback=(), seen=None, locked={}, is_locked=False, reply=text
    )
    outputs = tuple(contents(run_context.root, task.outputs))
    injections = detect_injections(
        run_context.settings.security, ((f"`{path}`", decoded(content)) for path, content in outputs)
    )
    entry = {"agent": agent, "summary": reply.summary, "outputs": [path for path, _ in outputs]}
    assembled = EventDraft("context.assembled", {"iteration": record.iteration, "purpose": "work"}, agent=agent)
    return ActivityOutcome(
        "worked",
        record.remember("work", entry),
        (*reply.events, *injections, assembled),
        outputs=outputs,
        usage=reply.usage,
    )


def _unreadable(digests: Mapping[str, str]) -> list[str]:
    return [f"`{path}` can't be read" for path, digest in digests.items() if digest == UNREADABLE]


def _challenge(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    problem = inconsistency(task, record)
    if problem:
        return ActivityOutcome("escalated", record.remember("escalate", {"reason": problem}), reason=problem)
    agent = challenger(task, record)
    record = replace(record, seen=hashes(run_context.root, task.outputs))
    reply = run_context.ask(task, record, agent, "challenge")
    record = record.after_call(f"{agent}/challenge", reply.usage)
    context = replace(
        record.context,
        challenger_approved=reply.approved,
        challenges=record.context.challenges + 1,
        driver=worker(task, record),
        challenger=agent,
    )
    record = replace(record, context=context)
    if not reply.approved:
        record = record.with_feedback(agent, reply.critique)
    entry = {
        "driver_agent": worker(task, record),
        "challenger_agent": agent,
        "challenger_critique": reply.critique,
        "challenger_approved": reply.approved,
    }
    return _outcome_of("challenged", record.remember("challenge", entry), reply)


def inconsistency(task: TaskPlan, record: TaskRecord) -> str:
    """Describe what is wrong with a pair's session: roles that are not those of its two agents, or challenges that
    are missing from the history. Empty when the session is consistent."""
    assert task.pair is not None
    pair, context = task.pair, record.context
    roles = {worker(task, record), challenger(task, record)}
    if roles != {pair.driver_agent, pair.challenger_agent}:
        return f"the roles are {' and '.join(f'`{role}`' for role in sorted(roles))}"
    remembered = sum(entry["step"] == "challenge" for entry in record.history)
    if context.challenges != remembered:
        return f"{context.challenges} challenges were counted, and {remembered} are remembered"
    if remembered >= iterations_used(task.machine, record.state, "paired_workflow"):
        return f"{remembered} challenges are remembered before iteration {remembered} has ended"
    return ""


def _restore_roles(task: TaskPlan, record: TaskRecord) -> TaskRecord:
    """Return the record with the pair's initial roles and as many challenges as its history holds."""
    assert task.pair is not None
    remembered = sum(entry["step"] == "challenge" for entry in record.history)
    context = replace(
        record.context,
        driver=task.pair.driver_agent,
        challenger=task.pair.challenger_agent,
        challenges=remembered,
        challenger_approved=None,
    )
    return replace(record, context=context)


def _review(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    assert task.review is not None
    agent = task.review.reviewer_agent
    record = replace(record, seen=hashes(run_context.root, task.outputs))
    reply = run_context.ask(task, record, agent, "review")
    record = record.after_call(f"{agent}/review", reply.usage)
    decision: object = reply.decision
    context = replace(
        record.context,
        decision=decision,
        review_feedback=reply.feedback,
        quality_checks=reply.quality_checks,
        reviews=record.context.reviews + 1,
    )
    record = replace(record, context=context)
    if decision != "GO":
        record = record.with_feedback(agent, reply.feedback)
    entry = {
        "iteration": context.reviews,
        "decision": decision,
        "feedback": reply.feedback,
        "timestamp": run_context.now(),
        "quality_checks": reply.quality_checks,
    }
    outcome = _outcome_of(
        "reviewed", record.remember("review", {"decision": decision, "feedback": reply.feedback}), reply
    )
    return dataclasses.replace(outcome, review=entry)


def _gate(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    violations = [
        f"locked output `{path}` was {'changed' if path in record.locked else 'added'} after its review"
        for path in broken_lock(record.lock, run_context.root, task.outputs)
    ]
    since = record.started_at
    report = judge_evidence(
        task, record.context, run_context.root, run_context.now(), violations=violations, since=since
    )
    record = replace(record, context=replace(record.context, verdict=report.verdict))
    if report.reasons:
        record = record.with_feedback("policy_gate", "; ".join(report.reasons))
    details = {"overlay_type": "policy_gate", "decision": report.verdict, "reasons": list(report.reasons)}
    details["iteration"] = sum(entry["step"] == "gate" for entry in record.history) + 1
    iteration = EventDraft("overlay.iteration", details, "info" if report.verdict == "PASS" else "warning")
    warnings = [EventDraft("task.warning", {"warning": warning}, "warning") for warning in report.warnings]
    entry = {"verdict": report.verdict, "reasons": list(report.reasons)}
    return ActivityOutcome("gated", record.remember("gate", entry), (*warnings, iteration), report=report)


def changed_since_asked(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> list[str]:
    """Return the outputs that differ from those about which a person was asked and has approved; none where a gate
    judges them once more, and before the work."""
    item = None if record.item is None else run_context.store.item(record.item)
    if item is None or item.status != "RESOLVED" or not _approves_outputs(record):
        return []
    return changed_paths(item.context.get("outputs", {}), hashes(run_context.root, task.outputs))


def _approves_outputs(record: TaskRecord) -> bool:
    """Whether a person who resolves the question at the record's place approves the outputs as they are."""
    place = record.state.place
    return place == "sign_off" or (place.startswith("exhausted:") and place != "exhausted:gate")


def _human(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    """Turn a person's decision into the event."""
    assert record.item is not None
    item = run_context.store.item(record.item)
    run_context.store.check_decided(item)
    resolved = item.status == "RESOLVED"
    is_reviewed = record.context.decision == "GO" or bool(record.context.challenger_approved)
    entry = {"trigger": item.trigger, "status": item.status, "by": item.resolved_by, "notes": item.resolution_notes}
    record = replace(record, item=None, context=replace(record.context, resolved=resolved))
    record = record.remember("human", entry)
    if resolved and _approves_outputs(record):
        record = replace(record, locked=item.context.get("outputs", {}), is_locked=True)
    elif resolved and record.state.place == "exhausted:gate" and not is_reviewed:
        record = replace(record, locked={}, is_locked=False)  # people may correct what only people have accepted
    if resolved and item.trigger == "overlay_escalation" and task.pair is not None and inconsistency(task, record):
        record = _restore_roles(task, record)
    if resolved:
        return ActivityOutcome("resolved", record)
    return ActivityOutcome("rejected", record, reason=f"rejected by {item.resolved_by}: {item.resolution_notes}")


def _decide(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    """Decide about a loop. An approval of outputs that were changed since they were reviewed does not count."""
    partner = _PARTNERS.get(record.state.place)
    now = {} if partner is None or record.seen is None else hashes(run_context.root, task.outputs)
    changed = changed_paths(record.seen or {}, now)
    if partner is None or not changed:
        return ActivityOutcome("decide", record)
    warning = f"{paths(changed)} changed after the review, which does not count any more"
    record = replace(record, context=record.context.forget((partner,)))
    event = EventDraft("task.warning", {"warning": warning}, "warning")
    return ActivityOutcome("decide", record.with_feedback(partner, warning), (event,))


# The place that decides about a loop of two agents, and the root of the second agent's decision.
_PARTNERS: Final = {"decide:agentic_review": "review", "decide:paired_workflow": "pair"}


def paths(names: Sequence[str]) -> str:
    """Return the first paths for a message."""
    return ticked(names[:5]) + (" ..." if len(names) > 5 else "")


def _wait(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    if task.pair is not None:
        context = replace(record.context, driver=task.pair.driver_agent, challenger=task.pair.challenger_agent)
        record = replace(record, context=context)
    return ActivityOutcome("ready", record)


# What carries out each activity. Raises AgentError when a call failed and may be retried.
ACTIVITIES: Final[Mapping[Activity, Callable[[TaskPlan, TaskRecord, RunContext], ActivityOutcome]]] = {
    "wait": _wait,
    "agent": _work,
    "score": score,
    "challenge": _challenge,
    "review": _review,
    "gate": _gate,
    "human": _human,
    "decide": _decide,
}


def _outcome_of(event: Event, record: TaskRecord, reply: AgentReply) -> ActivityOutcome:
    return ActivityOutcome(event, record, reply.events, usage=reply.usage)


def definition(task: TaskPlan) -> JsonObject:
    """Return the task for reviewers, without its machine and programs."""
    fields: JsonObject = msgspec.to_builtins(replace(task, confidence=None, gate=None))
    del fields["machine"], fields["confidence"], fields["gate"]
    if task.gate is not None:
        fields["risk_tier"] = task.gate.risk_tier
    if task.confidence is not None:
        fields["metrics"] = [msgspec.to_builtins(metric) for metric in task.confidence.metrics]
        fields["threshold"] = task.confidence.threshold
    return fields


def overlay_state(task: TaskPlan, record: TaskRecord) -> JsonObject:
    """Return the state of a task's overlays: context, iterations used, passed overlays, and the pair's session."""
    loops = {
        loop.name: {
            "used": iterations_used(task.machine, record.state, loop.name),
            "max_iterations": loop.max_iterations,
        }
        for loop in task.machine.loops
    }
    state: JsonObject = {
        "context": msgspec.to_builtins(record.context),
        "loops": loops,
        "passed": list(record.passed),
        "max_iterations_exceeded": bool(record.max_iterations_exceeded),
    }
    if task.pair is not None:
        state["pair_session"] = pair_session(task, record, loops.get("paired_workflow", {}))
    return state


def pair_session(task: TaskPlan, record: TaskRecord, loop: Mapping[str, object]) -> JsonObject:
    """Return what driver and challenger did, iteration by iteration."""
    assert task.pair is not None
    summaries = {e["iteration"]: e["summary"] for e in record.history if e["step"] == "work"}
    history = [
        {
            "iteration": entry["iteration"],
            "driver_output_summary": summaries.get(entry["iteration"], ""),
            "challenger_critique": entry["challenger_critique"],
            "challenger_approved": entry["challenger_approved"],
        }
        for entry in record.history
        if entry["step"] == "challenge"
    ]
    return {
        "driver_agent": task.pair.driver_agent,
        "challenger_agent": task.pair.challenger_agent,
        "current_role_driver": worker(task, record),
        "role_switch": task.pair.role_switch,
        "iteration": loop.get("used", 0),
        "max_iterations": loop.get("max_iterations"),
        "history": history,
        "challenger_approved": record.context.challenger_approved,
    }
