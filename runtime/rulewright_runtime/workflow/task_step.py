"""One step of one task while it is taken: what its activity finds out and changes, and its calls of agents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.english import escape_surrogates
from rulewright_runtime.errors import OutageError
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.adapters import AgentReply, Brief, Purpose
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError
from rulewright_runtime.workflow.artifacts import hashes
from rulewright_runtime.workflow.events import EventDraft
from rulewright_runtime.workflow.run_context import RunContext
from rulewright_runtime.workflow.run_database import TaskChange
from rulewright_runtime.workflow.run_settings import AdapterSettings
from rulewright_runtime.workflow.security import detect_injections, redact_reply, redact_text
from rulewright_runtime.workflow.task_context import TaskRecord
from rulewright_runtime.workflow.workflow_plan import Artifact, TaskPlan


@dataclass(slots=True)
class TaskStep:
    """A step that is being taken, with the change it has made so far. `reason` says why its activity failed, `asked` is
    the agent that it called last."""

    run: RunContext
    made: TaskChange
    reason: str = ""
    asked: str = ""

    @classmethod
    def of(cls, task: TaskPlan, record: TaskRecord, run: RunContext, reason: str = "") -> TaskStep:
        return cls(run, TaskChange(task=task, before=record, record=record), reason)

    @property
    def task(self) -> TaskPlan:
        return self.made.task

    @property
    def record(self) -> TaskRecord:
        """The record with the changes so far."""
        return self.made.record

    @property
    def worker(self) -> str:
        """The agent that works now: the driver of a pair, the coder of a review, or the task's agent."""
        if self.record.context.driver:
            return self.record.context.driver
        return self.task.agent if self.task.review is None else self.task.review.coder_agent

    @property
    def challenger(self) -> str:
        """The agent that challenges now."""
        assert self.task.pair is not None
        return self.record.context.challenger or self.task.pair.challenger_agent

    def hashes(self) -> dict[str, str]:
        """Return the hashes of the outputs as they are now."""
        return hashes(self.run.root, self.task.outputs)

    def evidence_hashes(self) -> dict[str, str]:
        """Return the hashes of the gate's reports and lists of requirements as they are now; not of the folders in
        which requirements are looked for, which may hold anything."""
        sources = {} if self.task.gate is None else self.task.gate.sources
        paths = {path for kind, found in sources.items() if kind != "implemented" for path in found}
        return hashes(self.run.root, [Artifact(path) for path in sorted(paths)])

    def write(self, **fields: Any) -> None:
        """Change what the transaction writes."""
        self.made = replace(self.made, **fields)

    def emit(self, *events: EventDraft) -> None:
        self.write(events=(*self.made.events, *events))

    def change(self, **fields: object) -> None:
        self.write(record=replace(self.record, **fields))

    def change_context(self, **fields: object) -> None:
        self.change(context=replace(self.record.context, **fields))

    def remember(self, step: str, **entry: object) -> None:
        """Add an entry to the history of the task's loops, which reviewers see."""
        entry = {"iteration": self.record.iteration, "step": step, **entry}
        self.change(history=(*self.record.history, entry))

    def comment(self, who: str, text: str) -> None:
        """Add a comment on the work, which its agent receives in the next iteration."""
        self.change(feedback=(*self.record.feedback, {"from": who, "text": text}))

    def warn(self, warning: str) -> None:
        self.emit(EventDraft("task.warning", {"warning": warning}, "warning"))

    def answered(self, call: str) -> None:
        """Count a call that was answered or given up, named `agent/purpose`."""
        self.change(calls={**self.record.calls, call: self.record.calls.get(call, 0) + 1})

    def refuse_injections(self, texts: Iterable[tuple[str, str]]) -> None:
        """Add an event for each labelled text with instructions. Raises AgentError at the level `quarantine`."""
        security = self.run.settings.security
        found = detect_injections(security, texts)
        self.emit(*found)
        if found and security.injection_detection_level == "quarantine":
            where, text = found[0].details["where"], found[0].details["text"]
            raise AgentError(f"{where} contains instructions to the agent that reads it: `{text}`")

    def ask(
        self, agent: str, purpose: Purpose, *, prompt: str = "", about: str = "", retry: int | None = None
    ) -> AgentReply:
        """Call an agent. `about` tells the calls of one purpose apart. The usage and the events of the call are those
        of the step, also when it fails. Raises AgentError for a failed call, OutageError when a model can't be reached.
        """
        self.asked, run, security = agent, self.run, self.run.settings.security
        brief = self._brief(agent, purpose, prompt, about, self.record.retries if retry is None else retry)
        own = run.settings.adapter(agent)
        self._warn_of_size(brief, AdapterSettings("mock") if own is None else own)
        timeout = None if own is None else own.timeout_seconds
        try:
            reply = run.adapter(agent).call(brief, timeout or run.plan.limits.timeout_seconds)
            self.write(usage=self.made.usage + reply.usage)
            reply, redactions = redact_reply(security, reply)
            self.emit(*redactions)
            self.refuse_injections([("the reply", reply.text)])
        except OutageError:
            raise  # nothing to store: the run stops and can be resumed
        except Exception as error:  # an adapter may be third-party code
            failure = error if isinstance(error, AgentError) else AgentError(f"{type(error).__name__}: {error}")
            self.write(usage=self.made.usage + failure.usage)
            message, _ = redact_text(security, escape_surrogates(str(failure)))
            raise AgentError(message, is_final=failure.is_final) from error
        return reply

    def _brief(self, agent: str, purpose: Purpose, prompt: str, about: str, retry: int) -> Brief:
        """Return what an agent receives, after the attempt to call it was recorded."""
        run, task, record = self.run, self.task, self.record
        kind = f"{purpose}:{about}" if about else purpose
        call = record.calls.get(f"{agent}/{kind}", 0)
        task_run = run.store.task_run(run.run_id, task.id)
        prefix = f"{run.plan.name}:{task.id}:{task_run}"
        operation = f"{prefix}:{agent}:{kind}:{call + 1}"
        # A judge has its own session for every question, so that it shares none with the work it scores.
        session = f"{operation}:session" if purpose == "judge" else f"{prefix}:{agent}:session"
        call_of = {"session_id": session, "agent": agent, "purpose": purpose}
        attempt = run.store.begin_attempt(run.run_id, task.id, run.now(), operation, **call_of)
        rules = run.settings.constitution
        return Brief(
            version="1",
            purpose=purpose,
            workflow=run.plan.name,
            run_id=run.run_id,
            task_id=task.id,
            task_run_id=task_run,
            operation_id=operation,
            attempt_id=attempt,
            session_id=session,
            agent=agent,
            role=msgspec.to_builtins(run.plan.agents[agent]) if agent in run.plan.agents else {},
            description=task.description,
            inputs=list(msgspec.to_builtins(task.inputs)),
            outputs=list(msgspec.to_builtins(task.outputs)),
            iteration=record.iteration + (purpose == "work"),
            call=call,
            retry=retry,
            feedback=[] if purpose == "judge" else list(record.feedback),
            prompt=prompt,
            constitution="" if rules is None else rules.text,
        )

    def _warn_of_size(self, brief: Brief, settings: AdapterSettings) -> None:
        """Add an event for a brief close to its agent's context size; four bytes count as one token."""
        limit, tokens = settings.max_context_tokens, len(brief.as_json()) // 4
        pct = 100 * tokens / limit
        if pct >= self.run.plan.limits.context_warning_threshold_pct:
            details: JsonObject = {"tokens_estimated": tokens, "max_context_tokens": limit, "pct_used": round(pct, 1)}
            details["purpose"] = brief.purpose
            self.emit(EventDraft("context.warning", details, "warning", brief.agent))
