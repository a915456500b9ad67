"""The activity of each machine state: work, score, challenge, review, gate, and waiting for a person, whose question
holds everything that a reviewer needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.english import ticked
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow import artifacts
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError
from rulewright_runtime.workflow.events import EventDraft, Level
from rulewright_runtime.workflow.gate import GateReport, judge_evidence
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.machine import Activity, Event, iterations_used
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.task_scoring import MAX_SHOWN, decoded, score
from rulewright_runtime.workflow.task_step import TaskStep
from rulewright_runtime.workflow.workflow_plan import Pair, TaskPlan

MAX_REASON: Final = 500  # characters of the reason why a task ended or a person is asked


def _work(step: TaskStep) -> Event:
    task, root = step.task, step.run.root
    inputs = artifacts.hashes(root, task.inputs)
    if problems := [*artifacts.breaches(task.inputs, root), *_unreadable(inputs)]:
        step.reason = f"inputs: {'; '.join(problems)}"
        return "failed"
    if problems := list(artifacts.outside_root(task.outputs, root)):
        step.reason = f"outputs: {'; '.join(problems)}"
        return "failed"
    agent = step.worker
    reply = step.ask(agent, "work")
    step.write(events=(*_changed_approvals(step, inputs), *step.made.events))
    problems = [
        *artifacts.outside_root(task.outputs, root),
        *artifacts.breaches(task.outputs, root),
        *_unreadable(step.hashes()),
    ]
    if problems:
        raise AgentError(f"outputs: {'; '.join(problems)}")
    step.answered(f"{agent}/work")
    step.change(inputs=inputs, iteration=step.record.iteration + 1, feedback=(), reply=reply.text[:MAX_SHOWN])
    step.change(seen=None, locked=None)
    outputs = artifacts.contents(root, task.outputs)
    step.write(outputs=outputs)
    step.refuse_injections((f"`{path}`", decoded(content)) for path, content in outputs)
    details = {"iteration": step.record.iteration, "purpose": "work"}
    step.emit(EventDraft("context.assembled", details, agent=agent))
    step.remember("work", agent=agent, summary=reply.summary, outputs=[path for path, _ in outputs])
    return "worked"


def _changed_approvals(step: TaskStep, inputs: Mapping[str, str]) -> Iterator[EventDraft]:
    """Yield a warning for each input that was changed after it was approved as the output of another task."""
    for name, lock in step.run.store.approved(step.run.run_id).items() if inputs else ():
        for path, digest in inputs.items():
            if name != step.task.id and digest != lock.get(path, digest):
                warning = f"input `{path}` was changed after its approval in task `{name}`"
                yield EventDraft("task.warning", {"warning": warning}, "warning")


def _unreadable(digests: Mapping[str, str]) -> list[str]:
    return [f"`{path}` can't be read" for path, digest in digests.items() if digest == artifacts.UNREADABLE]


def _challenge(step: TaskStep) -> Event:
    if problem := inconsistency(step):
        step.reason = problem
        step.remember("escalate", reason=problem)
        return "escalated"
    driver, agent, seen = step.worker, step.challenger, step.hashes()
    reply = step.ask(agent, "challenge")
    step.answered(f"{agent}/challenge")
    step.change(seen=seen)
    step.change_context(
        challenger_approved=reply.approved,
        challenges=step.record.context.challenges + 1,
        driver=driver,
        challenger=agent,
    )
    if not reply.approved:
        step.comment(agent, reply.critique)
    step.remember(
        "challenge",
        driver_agent=driver,
        challenger_agent=agent,
        challenger_critique=reply.critique,
        challenger_approved=reply.approved,
    )
    return "challenged"


def inconsistency(step: TaskStep) -> str:
    """Describe what is wrong with a pair's session: roles that are not those of its two agents, or challenges that
    are missing from the history. Empty when the session is consistent."""
    pair, record = step.task.pair, step.record
    assert pair is not None
    roles, counted, remembered = {step.worker, step.challenger}, record.context.challenges, _challenges(record)
    if roles != {pair.driver_agent, pair.challenger_agent}:
        return f"the roles are {' and '.join(f'`{role}`' for role in sorted(roles))}"
    if counted != remembered:
        return f"{counted} challenges were counted, and {remembered} are remembered"
    if remembered >= iterations_used(step.task.machine, record.state, "paired_workflow"):
        return f"{remembered} challenges are remembered before iteration {remembered} has ended"
    return ""


def _challenges(record: TaskRecord) -> int:
    return sum(entry["step"] == "challenge" for entry in record.history)


def _review(step: TaskStep) -> Event:
    assert step.task.review is not None
    agent, seen = step.task.review.reviewer_agent, step.hashes()
    reply = step.ask(agent, "review")
    step.answered(f"{agent}/review")
    step.change(seen=seen)
    decided = {"decision": reply.decision, "feedback": reply.feedback}
    number = step.record.context.reviews + 1
    step.change_context(
        decision=reply.decision, review_feedback=reply.feedback, quality_checks=reply.quality_checks, reviews=number
    )
    if reply.decision != "GO":
        step.comment(agent, reply.feedback)
    logged = {"timestamp": step.run.now(), "quality_checks": reply.quality_checks}
    step.write(review={"iteration": number, **decided, **logged})
    step.remember("review", **decided)
    return "reviewed"


def _gate(step: TaskStep) -> Event:
    report = gate_report(step)
    reasons = list(report.reasons)
    step.write(report=report)
    step.change_context(verdict=report.verdict)
    if reasons:
        step.comment("policy_gate", "; ".join(reasons))
    for warning in report.warnings:
        step.warn(warning)
    details = {"overlay_type": "policy_gate", "decision": report.verdict, "reasons": reasons}
    details["iteration"] = sum(entry["step"] == "gate" for entry in step.record.history) + 1
    level: Level = "info" if report.verdict == "PASS" else "warning"
    step.emit(EventDraft("overlay.iteration", details, level))
    step.remember("gate", verdict=report.verdict, reasons=reasons)
    return "gated"


def gate_report(step: TaskStep) -> GateReport:
    """Judge the gate over the evidence and the outputs as they are now."""
    record, run = step.record, step.run
    violations = [
        f"locked output `{path}` was {'changed' if path in (record.locked or ()) else 'added'} after its review"
        for path in artifacts.broken_lock(record.locked, run.root, step.task.outputs)
    ]
    since = record.started_at
    return judge_evidence(step.task, record.context, run.root, run.now(), violations=violations, since=since)


def why_not_approved(step: TaskStep) -> str:
    """Return why an approval does not count, or nothing: the outputs, or the evidence of a signed gate, differ from
    those about which the person was asked, or the gate no longer says PASS. Before the work nothing is approved."""
    item = None if step.record.item is None else step.run.store.item(step.record.item)
    if item is None or item.status != "RESOLVED" or not _approves_outputs(step.record):
        return ""
    changed = artifacts.changed_paths(item.context.get("outputs", {}), step.hashes())
    if step.record.state.place == "sign_off":
        changed += artifacts.changed_paths(item.context.get("evidence", {}), step.evidence_hashes())
        if not changed and (report := gate_report(step)).verdict != "PASS":
            return f"the gate says {report.verdict} now: {'; '.join(report.reasons)}"[:MAX_REASON]
    return f"{paths(changed)} changed after the question" if changed else ""


def _approves_outputs(record: TaskRecord) -> bool:
    """Whether a person who resolves the question at the record's place approves the outputs as they are. After a failed
    gate these are the outputs that only people have accepted, and may have corrected."""
    place, context = record.state.place, record.context
    if place == "exhausted:gate":
        return record.locked is not None and not (context.decision == "GO" or context.challenger_approved)
    return place == "sign_off" or place.startswith("exhausted:")


def _human(step: TaskStep) -> Event:
    """Turn a person's decision into the event."""
    record = step.record
    assert record.item is not None
    item = step.run.store.item(record.item)
    step.run.store.check_decided(item)
    resolved, by, notes = item.status == "RESOLVED", item.resolved_by, item.resolution_notes
    step.change(item=None)
    step.change_context(resolved=resolved)
    step.remember("human", trigger=item.trigger, status=item.status, by=by, notes=notes)
    if not resolved:
        step.reason = f"rejected by {by}: {notes}"
        return "rejected"
    if _approves_outputs(record):
        step.change(locked=item.context.get("outputs", {}))
    if item.trigger == "overlay_escalation" and step.task.pair is not None and inconsistency(step):
        # The pair's initial roles, and as many challenges as its history holds.
        step.change_context(
            driver=step.task.pair.driver_agent,
            challenger=step.task.pair.challenger_agent,
            challenges=_challenges(record),
            challenger_approved=None,
        )
    return "resolved"


def _decide(step: TaskStep) -> Event:
    """Decide about a loop. An approval of outputs that were changed since they were reviewed does not count."""
    partner, seen = _PARTNERS.get(step.record.state.place), step.record.seen
    if partner is not None and seen is not None and (changed := artifacts.changed_paths(seen, step.hashes())):
        warning = f"{paths(changed)} changed after the review, which does not count any more"
        step.change(context=step.record.context.forget((partner,)))
        step.comment(partner, warning)
        step.warn(warning)
    return "decide"


# The place that decides about a loop of two agents, and the root of the second agent's decision.
_PARTNERS: Final = {"decide:agentic_review": "review", "decide:paired_workflow": "pair"}


def paths(names: Sequence[str]) -> str:
    """Return the first paths for a message."""
    return ticked(names[:5]) + (" ..." if len(names) > 5 else "")


def _wait(step: TaskStep) -> Event:
    if step.task.pair is not None:
        step.change_context(driver=step.task.pair.driver_agent, challenger=step.task.pair.challenger_agent)
    return "ready"


def question(step: TaskStep, trigger: str, reason: str) -> QueueItem:
    """Return the next queue item of a task."""
    task, record, run = step.task, step.record, step.run
    reports = run.store.reports(run.run_id, task.id) + ([step.made.report] if step.made.report else [])
    signs = record.state.place == "sign_off"
    if signs and step.made.report is None:  # the question is asked again: the gate over the evidence as it is now
        reports.append(gate_report(step))
    return QueueItem(
        id=f"{run.run_id}-{task.id}-{record.items + 1}",
        task_id=task.id,
        trigger=trigger,
        reason=reason,
        status="PENDING",
        context={
            "task_definition": definition(task),
            "loop_history": list(record.history),
            "overlay_state": overlay_state(step),
            "gate_reports": [msgspec.to_builtins(report) for report in reports],
            **({"outputs": step.hashes()} if record.iteration else {}),
            **({"evidence": step.evidence_hashes()} if signs else {}),
        },
        created_at=run.now(),
        run_id=run.run_id,
        workflow=run.plan.name,
    )


def why_not_decided(step: TaskStep) -> str:
    """Return why the decision that the task waited for does not count, or nothing."""
    if step.record.item is not None and not shows_task(step.run.store.item(step.record.item), step.task):
        return "the question shows another definition of the task"
    return why_not_approved(step)


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


def shows_task(item: QueueItem, task: TaskPlan) -> bool:
    """Whether the question of an item shows the task as it is defined now."""
    shown, defined = item.context.get("task_definition"), definition(task)
    return msgspec.json.encode(shown, order="sorted") == msgspec.json.encode(defined, order="sorted")


def overlay_state(step: TaskStep) -> JsonObject:
    """Return the state of a task's overlays: context, iterations used, passed overlays, and the pair's session."""
    machine, record = step.task.machine, step.record
    loops = {
        loop.name: {"used": iterations_used(machine, record.state, loop.name), "max_iterations": loop.max_iterations}
        for loop in machine.loops
    }
    state: JsonObject = {
        "context": msgspec.to_builtins(record.context),
        "loops": loops,
        "passed": list(record.passed),
        "max_iterations_exceeded": bool(record.max_iterations_exceeded),
    }
    if step.task.pair is not None:
        state["pair_session"] = _pair_session(step, step.task.pair, loops.get("paired_workflow", {}))
    return state


def _pair_session(step: TaskStep, pair: Pair, loop: Mapping[str, object]) -> JsonObject:
    """Return what driver and challenger did, iteration by iteration."""
    entries = step.record.history
    summaries = {entry["iteration"]: entry["summary"] for entry in entries if entry["step"] == "work"}
    history = [
        {
            "iteration": entry["iteration"],
            "driver_output_summary": summaries.get(entry["iteration"], ""),
            "challenger_critique": entry["challenger_critique"],
            "challenger_approved": entry["challenger_approved"],
        }
        for entry in entries
        if entry["step"] == "challenge"
    ]
    return {
        "driver_agent": pair.driver_agent,
        "challenger_agent": pair.challenger_agent,
        "current_role_driver": step.worker,
        "role_switch": pair.role_switch,
        "iteration": loop.get("used", 0),
        "max_iterations": loop.get("max_iterations"),
        "history": history,
        "challenger_approved": step.record.context.challenger_approved,
    }


# What executes each activity. Raises AgentError when a call failed and may be retried.
ACTIVITIES: Final[Mapping[Activity, Callable[[TaskStep], Event]]] = {
    "wait": _wait,
    "agent": _work,
    "score": score,
    "challenge": _challenge,
    "review": _review,
    "gate": _gate,
    "human": _human,
    "decide": _decide,
}
