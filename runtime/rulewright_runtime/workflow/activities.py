"""The activity of each machine state: work, score, challenge, review, gate, and waiting for a person."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import JudgeError, RuntimeFailure
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow import collectors
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply
from rulewright_runtime.workflow.artifacts import (
    UNREADABLE,
    breaches,
    broken_lock,
    changed_paths,
    contents,
    hashes,
    outside_root,
    too_large,
)
from rulewright_runtime.workflow.collectors.metric_judge import judge_prompt, parse_score
from rulewright_runtime.workflow.confidence import ZERO, EvalMetric, exact_confidence, measure_or_zero
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.gate import GateReport, judge_evidence
from rulewright_runtime.workflow.machine import Activity, Event, iterations_used
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.security import detect_injections
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage, MeasuredMetric, TaskRecord
from rulewright_runtime.workflow.workflow_plan import Contract, ProcessMetric, TaskPlan

LOG: Final = logging.getLogger("rulewright.workflow")
MAX_SHOWN: Final = 200_000  # characters of one output in a judge's prompt
REPLY: Final = "the agent's reply"  # in place of a path: a task without outputs is judged by its agent's reply


@dataclass(frozen=True, slots=True)
class ActivityOutcome:
    """The result of an activity: the event for the machine, the new record, and what is stored."""

    event: Event
    record: TaskRecord
    events: tuple[EventDraft, ...] = ()
    report: GateReport | None = None
    review: JsonObject | None = None
    outputs: tuple[tuple[str, bytes], ...] = ()
    usage: AgentUsage = NO_USAGE
    reason: str = ""


@dataclass(slots=True)
class _JudgeCalls:
    """The calls of judges in one scoring, with their usage and events."""

    usage: AgentUsage = NO_USAGE
    calls: list[str] = field(default_factory=list)
    events: list[EventDraft] = field(default_factory=list)


def worker(task: TaskPlan, record: TaskRecord) -> str:
    """Return the agent that works now: the driver of a pair, the coder of a review, or the task's agent."""
    if record.context.driver:
        return record.context.driver
    if task.pair is not None:
        return task.pair.driver_agent
    return task.agent if task.review is None else task.review.coder_agent


def challenger(task: TaskPlan, record: TaskRecord) -> str:
    """Return the agent that challenges now."""
    assert task.pair is not None
    return record.context.challenger or task.pair.challenger_agent


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
        run_context.settings.security, ((f"`{path}`", _text(content)) for path, content in outputs)
    )
    entry = {"agent": agent, "summary": reply.summary, "outputs": [path for path, _ in outputs]}
    assembled = EventDraft("context.assembled", {"iteration": record.iteration, "purpose": "work"}, agent=agent)
    return ActivityOutcome(
        "worked",
        _remember(record, "work", entry),
        (*reply.events, *injections, assembled),
        outputs=outputs,
        usage=reply.usage,
    )


def _unreadable(digests: Mapping[str, str]) -> list[str]:
    return [f"`{path}` can't be read" for path, digest in digests.items() if digest == UNREADABLE]


def _score(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    """Collect the metrics and compute confidence, which is 0.0 when a metric can't be measured. Scoring itself never
    fails."""
    assert task.confidence is not None
    judged = _JudgeCalls()
    metrics = [_measure(metric, task, record, run_context, judged) for metric in task.confidence.metrics]
    confidence: Score | None = None
    if task.confidence.mode == "composite":
        confidence = _confidence(task, metrics)
    context = replace(
        record.context, metrics=tuple(metrics), confidence=None if confidence is None else str(confidence), advisory=""
    )
    for call in judged.calls:
        record = record.after_call(call, NO_USAGE)
    record = replace(record.with_usage(judged.usage), context=context)
    entry: JsonObject = {"confidence_score": None if confidence is None else float(confidence)}
    entry["metrics"] = {metric.type: metric.value for metric in metrics}
    failures = tuple(
        EventDraft("metric.failed", {"metric": metric.type, "reason": metric.failure, "counts_as": 0.0}, "warning")
        for metric in metrics
        if metric.failure
    )
    comment = ", ".join(
        f"{metric.type} {metric.value:g}" + (f" ({metric.details})" * bool(metric.details)) for metric in metrics
    )
    record = _with_feedback(record, "confidence_loop", comment)
    return ActivityOutcome(
        "scored",
        _remember(record, "score", entry),
        (*judged.events, *failures),
        usage=judged.usage,
    )


def _confidence(task: TaskPlan, measured: list[MeasuredMetric]) -> Score:
    """Return the confidence. A metric without a source counts as 0.0; one that can't be measured makes all 0.0."""
    assert task.confidence is not None
    pairs = zip(task.confidence.metrics, measured, strict=True)
    if any(value.failure and metric.is_measurable(task.outputs) for metric, value in pairs):
        return ZERO
    return exact_confidence([EvalMetric(metric.type, metric.value, metric.weight) for metric in measured])


def _measure(
    metric: ProcessMetric, task: TaskPlan, record: TaskRecord, run_context: RunContext, calls: _JudgeCalls
) -> MeasuredMetric:
    """Measure one metric."""
    details: list[str] = []

    def collect() -> float:
        reading = collectors.measure(
            metric.type,
            run_context.root,
            metric.sources,
            requirements=metric.requirements,
            outputs=[output.path for output in task.outputs],
        )
        details.append(reading.details)
        return reading.value

    def judge() -> float:
        return _ask_judge(metric, task, record, run_context, calls)

    judged = metric.type == "llm_judge"
    result, failure = measure_or_zero(metric.type, metric.weight, judge if judged else collect)
    source = f"judge:{metric.evaluator_agent}" if judged else ", ".join((*metric.sources, *metric.requirements))
    return MeasuredMetric(
        type=metric.type,
        value=float(result.value),
        weight=metric.weight,
        source=source,
        evaluator_agent=metric.evaluator_agent,
        details=failure or "; ".join(details),
        failure=failure,
    )


def _ask_judge(
    metric: ProcessMetric, task: TaskPlan, record: TaskRecord, run_context: RunContext, calls: _JudgeCalls
) -> float:
    evaluator = metric.evaluator_agent
    if not evaluator:
        raise AgentError("llm_judge metric requires evaluator_agent")
    if folded_name(evaluator) in {folded_name(worker(task, record)), folded_name(task.agent)}:
        raise AgentError("llm_judge evaluator_agent must differ from task agent")
    outputs = [(path, _text(content)) for path, content in contents(run_context.root, task.outputs)]
    outputs += [(path, f"[{size} bytes are left out]") for path, size in too_large(run_context.root, task.outputs)]
    if not task.outputs and record.reply.strip():
        outputs = [(REPLY, record.reply)]
    prompt = judge_prompt(metric.criteria or _criteria(task), outputs)
    for retry in range(run_context.max_retries(evaluator) + 1):
        try:
            reply = run_context.ask(task, record, evaluator, "judge", prompt=prompt, about=metric.type, retry=retry)
            calls.usage += reply.usage
            calls.events += reply.events
            score = parse_score(reply.text)
            break
        except AgentError as error:
            failure: RuntimeFailure = error
            calls.usage += error.usage
            calls.events += error.events
        except JudgeError as error:
            failure = error
    else:
        raise failure
    calls.calls.append(f"{evaluator}/judge:{metric.type}")
    return score


def _text(content: bytes) -> str:
    """Decode an output for a judge's prompt. A note says how many characters are left out."""
    text = content.decode("utf-8", errors="replace")
    left_out = len(text) - MAX_SHOWN
    return text if left_out <= 0 else f"{text[:MAX_SHOWN]}\n[{left_out} characters are left out]"


def _criteria(task: TaskPlan) -> list[str]:
    """Return the default criteria of a judge: the task's description and the contracts of its outputs."""
    criteria = [task.description] if task.description.strip() else []
    criteria += [f"`{o.path}`: {_requirements(o.contract)}" for o in task.outputs if o.contract is not None]
    return criteria or [f"the outputs do what the task `{task.id}` is called"]


def _requirements(contract: Contract) -> str:
    parts = [contract.type] if contract.type else []
    parts += [f"has the section `{section}`" for section in contract.required_sections]
    parts += [f"has the field `{name}`" for name in contract.required_fields]
    return ", ".join(parts) or "fulfils its contract"


def _challenge(task: TaskPlan, record: TaskRecord, run_context: RunContext) -> ActivityOutcome:
    problem = inconsistency(task, record)
    if problem:
        return ActivityOutcome("escalated", _remember(record, "escalate", {"reason": problem}), reason=problem)
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
        record = _with_feedback(record, agent, reply.critique)
    entry = {
        "driver_agent": worker(task, record),
        "challenger_agent": agent,
        "challenger_critique": reply.critique,
        "challenger_approved": reply.approved,
    }
    return _outcome_of("challenged", _remember(record, "challenge", entry), reply)


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
        record = _with_feedback(record, agent, reply.feedback)
    entry = {
        "iteration": context.reviews,
        "decision": decision,
        "feedback": reply.feedback,
        "timestamp": run_context.now(),
        "quality_checks": reply.quality_checks,
    }
    outcome = _outcome_of(
        "reviewed", _remember(record, "review", {"decision": decision, "feedback": reply.feedback}), reply
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
        record = _with_feedback(record, "policy_gate", "; ".join(report.reasons))
    details = {"overlay_type": "policy_gate", "decision": report.verdict, "reasons": list(report.reasons)}
    details["iteration"] = sum(entry["step"] == "gate" for entry in record.history) + 1
    iteration = EventDraft("overlay.iteration", details, "info" if report.verdict == "PASS" else "warning")
    warnings = [EventDraft("task.warning", {"warning": warning}, "warning") for warning in report.warnings]
    entry = {"verdict": report.verdict, "reasons": list(report.reasons)}
    return ActivityOutcome("gated", _remember(record, "gate", entry), (*warnings, iteration), report=report)


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
    record = _remember(record, "human", entry)
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
    return ActivityOutcome("decide", _with_feedback(record, partner, warning), (event,))


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
    "score": _score,
    "challenge": _challenge,
    "review": _review,
    "gate": _gate,
    "human": _human,
    "decide": _decide,
}


def _outcome_of(event: Event, record: TaskRecord, reply: AgentReply) -> ActivityOutcome:
    return ActivityOutcome(event, record, reply.events, usage=reply.usage)


def _with_feedback(record: TaskRecord, who: str, text: str) -> TaskRecord:
    """Add a comment on the work, which its agent receives in the next iteration."""
    return replace(record, feedback=(*record.feedback, {"from": who, "text": text}))


def _remember(record: TaskRecord, step: str, entry: JsonMapping) -> TaskRecord:
    """Add an entry to the history of the task's loops, which reviewers see."""
    return replace(record, history=(*record.history, {"iteration": record.iteration, "step": step, **entry}))


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
