"""The questions to people: a queue item holds everything that its reviewer needs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.activities import gate_report, why_not_approved
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.machine import iterations_used
from rulewright_runtime.workflow.task_step import TaskStep
from rulewright_runtime.workflow.workflow_plan import Pair, TaskPlan


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
