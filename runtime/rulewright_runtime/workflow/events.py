"""Events of a run, as lines of JSON with one envelope, and as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from rulewright_runtime.english import plural
from rulewright_runtime.report.text import moment
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import one_line

VERSION: Final = "1"

IS_EVENT: Final = {"is_event": True}  # `extra` of a log record about something that an event also reports
Level = Literal["info", "warning", "error"]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event. `task_run_id`, `task_id` and `agent` are None for an event about the run."""

    version: str = VERSION
    run_id: str
    task_run_id: str | None
    timestamp: str
    level: Level
    event_type: str
    workflow: str
    task_id: str | None
    agent: str | None
    details: JsonObject

    def as_line(self) -> str:
        """Encode the event as one line of JSON, without the line end."""
        return msgspec.json.encode(self, order="deterministic").decode()


class EventDraft(msgspec.Struct, frozen=True):
    """An event before the store adds run, task and time."""

    event_type: str
    details: JsonObject = msgspec.field(default_factory=dict)
    level: Level = "info"
    agent: str | None = None


Details = Mapping[str, Any]


def narrate(events: Iterable[Event]) -> Iterator[str]:
    """Yield when the run began, and a line for each event with the time since then, the task and a sentence."""
    start: datetime | None = None
    for event in events:
        at = datetime.fromisoformat(event.timestamp)
        if start is None:
            start = at
            yield f"{event.run_id} of {event.workflow} began at {moment(event.timestamp)}"
        yield line(event, max(0.0, (at - start).total_seconds()))  # a clock may go back


def line(event: Event, seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    mark = {"info": " ", "warning": "!", "error": "x"}[event.level]
    return f"{int(minutes):4d}:{rest:06.3f} {mark} {event.task_id or '-':<16} {sentence(event)}"


def sentence(event: Event) -> str:
    template = _SENTENCES.get(event.event_type)
    if template is None:
        return one_line(f"{event.event_type} {dict(event.details)}")
    return one_line(template(event.details, event.agent or "the agent"))


def _usage(details: Details) -> str:
    cost = details["estimated_cost_usd"]
    parts = [
        plural(details["loop_count"], "iteration"),
        plural(details["retry_count"], "retry", "retries"),
        f"{details['duration_ms'] / 1000:.1f} s",
    ]
    parts += [f"{plural(details['tokens_used'], 'token')}", f"{cost:.4f} USD"] if cost or details["tokens_used"] else []
    return ", ".join(parts)


def _engine_completed(details: Details, _: str) -> str:
    parts = [f"the run is {details['status']}: {plural(len(details['completed']), 'task')} completed"]
    parts += [f"failed: {', '.join(details['failed'])}"] if details["failed"] else []
    parts += [f"never run: {', '.join(details['blocked'])}"] if details["blocked"] else []
    return "; ".join(parts)


def _engine_changed(details: Details) -> str:
    parts = ["the run continues with a changed workflow"]
    parts += [f"carried over: {', '.join(details['kept'])}"] if details["kept"] else []
    parts += (
        [f"restarted: {', '.join(f'{name} ({why})' for name, why in details['restarted'].items())}"]
        if details["restarted"]
        else []
    )
    parts += [f"removed: {', '.join(details['removed'])}"] if details["removed"] else []
    return "; ".join(parts)


def _task_started(details: Details, agent: str) -> str:
    overlays = details["overlays"]
    return f"{agent} starts" + (f"; overlays: {' > '.join(overlays)}" if overlays else "")


def _iteration(details: Details, _: str) -> str:
    overlay, number = details["overlay_type"], details["iteration"]
    if overlay == "policy_gate":
        reasons = "; ".join(details.get("reasons", ()))
        return f"the policy gate says {details['decision']}" + (f": {reasons}" if reasons else "")
    outcome, decision = details["outcome"], details["decision"]
    shown_decision = f" ({decision})" if decision != outcome else ""
    score = details.get("confidence_score")
    suffix = shown_decision + (f" at confidence {score:g}" if score is not None else "")
    words = {
        "exit": f"ends after iteration {number}{suffix}",
        "continue": f"continues after iteration {number}{suffix}",
        "max_iterations_exceeded": f"has no iteration left after {number}{suffix}",
    }
    return f"{overlay} {words[outcome]}"


def _advisory(details: Details, _: str) -> str:
    score = details.get("confidence_score")
    comparison = f" ({score:g} >= {details['threshold']:g})" if score is not None else ""
    return f"advice: {details['signal']}{comparison}; the gate decides"


_SENTENCES: Final[Mapping[str, Callable[[Details, str], str]]] = {
    "engine.started": lambda d, _: f"a run of {plural(len(d['tasks']), 'task')} begins: {', '.join(d['tasks'])}",
    "engine.completed": _engine_completed,
    "engine.changed": lambda d, _: _engine_changed(d),
    "engine.cancelled": lambda d, _: f"the run is cancelled by {d['by']}" + (f": {d['reason']}" if d["reason"] else ""),
    "task.started": _task_started,
    "task.completed": lambda d, _: f"COMPLETED: {_usage(d)}",
    "task.failed": lambda d, _: f"FAILED: {d['reason']} ({_usage(d)})",
    "task.retrying": lambda d, agent: f"{agent} is retried ({d['retry']}): {d['reason']}",
    "task.warning": lambda d, _: d["warning"],
    "constitution.resolved": lambda d, _: f"every agent receives the rules of {d['file']} ({d['sha256'][:12]})",
    "context.warning": lambda d, agent: (
        f"{agent} receives about {d['tokens_estimated']} tokens: {d['pct_used']}% of what fits"
    ),
    "security.secret_redacted": lambda d, _: f"redacted in {d['where']}: {plural(d['count'], 'secret')}",
    "security.injection_detected": lambda d, _: (
        f"{d['where']} contains instructions to the agent that reads it: {d['text']}"
    ),
    "context.assembled": lambda d, agent: f"{agent} finished iteration {d['iteration']}",
    "overlay.iteration": _iteration,
    "confidence.advisory": _advisory,
    "metric.failed": lambda d, _: f"{d['metric']} counts as 0.0: {d['reason']}",
    "artifact.locked": lambda d, _: f"locked: {', '.join(d['outputs']) or 'no outputs'}",
    "pair.roles_switched": lambda d, _: f"roles change: {d['driver_agent']} drives, {d['challenger_agent']} challenges",
    "hil.created": lambda d, _: f"waits for a person ({d['trigger']}): {d['reason']}; item {d['item']}",
    "hil.resolved": lambda d, _: f"resolved by {d['resolved_by']}" + (f": {d['notes']}" if d["notes"] else ""),
    "hil.rejected": lambda d, _: f"rejected by {d['resolved_by']}: {d['notes']}",
    "cost.budget_warning": lambda d, _: f"{d['pct_used']}% of the budget of {d['budget']:g} USD is spent",
    "cost.exceeded": lambda d, _: f"the budget of {d['budget']:g} USD is used up ({d['current_cost']:g} USD)",
}
