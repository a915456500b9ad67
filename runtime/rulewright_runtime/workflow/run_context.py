"""The context of a run: what its activities use besides the task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from rulewright_runtime.errors import OutageError
from rulewright_runtime.workflow.adapters import AgentAdapter, AgentReply, Brief, Purpose
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.run_database import AgentCall, Store, TaskChange
from rulewright_runtime.workflow.run_settings import AdapterSettings, RunSettings
from rulewright_runtime.workflow.security import detect_injections, redact_reply, redact_text
from rulewright_runtime.workflow.task_context import NO_USAGE, TaskRecord
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan


def utc_now() -> str:
    """Return the current time as in events: ISO 8601 with milliseconds and `Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run: its plan, its database, its agents and its working folder.

    `stop` is set when no activity may start any more. `publish` receives every event after it was written, `notify`
    every new queue item; neither may block.
    """

    plan: WorkflowPlan
    run_id: str
    store: Store
    settings: RunSettings
    root: Path
    adapter: Callable[[str], AgentAdapter]
    now: Callable[[], str] = utc_now
    publish: Callable[[Sequence[Event]], None] = lambda _: None
    notify: Callable[[QueueItem], None] = lambda _: None
    stop: threading.Event = field(default_factory=threading.Event)

    def commit(self, change: TaskChange) -> None:
        """Store a change of a task, publish its events, and notify people of its question. Raises StoreError and
        QueueError."""
        self.publish(self.store.commit(self.run_id, change, self.now()))
        if change.item is not None:
            self.notify(change.item)

    def max_retries(self, agent: str) -> int:
        """Return how often a failed call of this agent is retried."""
        own = self.settings.adapter(agent)
        return self.plan.limits.max_retries if own is None or own.max_retries is None else own.max_retries

    def ask(
        self,
        task: TaskPlan,
        record: TaskRecord,
        agent: str,
        purpose: Purpose,
        *,
        prompt: str = "",
        about: str = "",
        retry: int | None = None,
    ) -> AgentReply:
        """Call an agent for a task. `about` tells the calls of one purpose apart. Raises AgentError for a failed call,
        OutageError when a model can't be reached."""
        brief = self._brief(task, record, agent, purpose, prompt, about, retry)
        own = self.settings.adapter(agent)
        timeout = self.plan.limits.timeout_seconds if own is None else own.timeout_seconds
        events, usage = self._context_warning(brief), NO_USAGE
        try:
            reply = self.adapter(agent).call(brief, timeout or self.plan.limits.timeout_seconds)
            usage = reply.usage
            reply, redactions = redact_reply(self.settings.security, reply)
            events = (*events, *redactions)
            injections = detect_injections(self.settings.security, [("the reply", reply.text)])
        except AgentError as error:
            message, _ = redact_text(self.settings.security, str(error))
            raise AgentError(message, (*events, *error.events), usage + error.usage, is_final=error.is_final) from error
        except OutageError:
            raise  # there is no reply to store: the run stops and can be resumed
        except Exception as error:  # an adapter may be third-party code
            message, _ = redact_text(self.settings.security, f"{type(error).__name__}: {error}")
            raise AgentError(message, events, usage) from error
        return msgspec.structs.replace(reply, events=(*events, *injections))

    def _brief(
        self,
        task: TaskPlan,
        record: TaskRecord,
        agent: str,
        purpose: Purpose,
        prompt: str,
        about: str,
        retry: int | None,
    ) -> Brief:
        """Return what an agent is told, after the attempt to call it was recorded."""
        kind = f"{purpose}:{about}" if about else purpose
        call = record.calls.get(f"{agent}/{kind}", 0)
        task_run = self.store.task_run(self.run_id, task.id)
        prefix = f"{self.plan.name}:{task.id}:{task_run}"
        operation = f"{prefix}:{agent}:{kind}:{call + 1}"
        # A judge has its own session for every question, so that it shares none with the work it scores.
        session = f"{operation}:session" if purpose == "judge" else f"{prefix}:{agent}:session"
        agent_call = AgentCall(operation, session, agent, purpose)
        attempt = self.store.begin_attempt(self.run_id, task.id, agent_call, self.now())
        return Brief(
            version="1",
            purpose=purpose,
            workflow=self.plan.name,
            run_id=self.run_id,
            task_id=task.id,
            task_run_id=task_run,
            operation_id=operation,
            attempt_id=attempt,
            session_id=session,
            agent=agent,
            role=msgspec.to_builtins(self.plan.agents[agent]) if agent in self.plan.agents else {},
            description=task.description,
            inputs=list(msgspec.to_builtins(task.inputs)),
            outputs=list(msgspec.to_builtins(task.outputs)),
            iteration=record.iteration + (purpose == "work"),
            call=call,
            retry=record.retries if retry is None else retry,
            feedback=[] if purpose == "judge" else list(record.feedback),
            prompt=prompt,
            constitution="" if self.settings.constitution is None else self.settings.constitution.text,
        )

    def _context_warning(self, brief: Brief) -> tuple[EventDraft, ...]:
        """Return an event for a brief close to its agent's context size; four bytes count as one token."""
        own = self.settings.adapter(brief.agent)
        limit = AdapterSettings("mock").max_context_tokens if own is None else own.max_context_tokens
        tokens = len(brief.as_json()) // 4
        pct = 100 * tokens / limit
        if pct < self.plan.limits.context_warning_threshold_pct:
            return ()
        details = {"tokens_estimated": tokens, "max_context_tokens": limit, "pct_used": round(pct, 1)}
        return (EventDraft("context.warning", {**details, "purpose": brief.purpose}, "warning", brief.agent),)
