"""The desk of a run: all that its activities use besides the task itself."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from rulewright_runtime.workflow.adapters import Adapter, Brief, Purpose, Reply
from rulewright_runtime.workflow.adapters.base import AdapterError
from rulewright_runtime.workflow.collectors.base import MAX_BYTES, files_below
from rulewright_runtime.workflow.events import Event
from rulewright_runtime.workflow.hil import Item
from rulewright_runtime.workflow.plan import Artifact, Task, WorkflowPlan
from rulewright_runtime.workflow.record import TaskRecord
from rulewright_runtime.workflow.settings import Settings
from rulewright_runtime.workflow.store import Call, Store


def utc_now() -> str:
    """The time, as events write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Desk:
    """One run: its plan, its database, its agents and its working folder.

    `stop` is set when nothing new may be begun. `tell` hears every event after it was written, `notify` every new
    queue item; neither may block.
    """

    plan: WorkflowPlan
    run_id: str
    store: Store
    settings: Settings
    root: Path
    adapter: Callable[[str], Adapter]
    now: Callable[[], str] = utc_now
    tell: Callable[[Sequence[Event]], None] = lambda _: None
    notify: Callable[[Item], None] = lambda _: None
    stop: threading.Event = field(default_factory=threading.Event)

    def max_retries(self, agent: str) -> int:
        """How often a failed call of this agent is repeated."""
        own = self.settings.adapter(agent)
        return self.plan.limits.max_retries if own is None or own.max_retries is None else own.max_retries

    def ask(
        self,
        task: Task,
        record: TaskRecord,
        agent: str,
        purpose: Purpose,
        *,
        prompt: str = "",
        about: str = "",
        retry: int | None = None,
    ) -> Reply:
        """Call an agent for a task. `about` tells the calls of one purpose apart. Raises AdapterError."""
        kind = f"{purpose}:{about}" if about else purpose
        call = record.calls.get(f"{agent}/{kind}", 0)
        position = next(n for n, each in enumerate(self.plan.tasks, 1) if each.id == task.id)
        task_run = f"{self.run_id}.{position}"
        whole = f"{self.plan.name}:{task.id}:{task_run}"
        operation = f"{whole}:{agent}:{kind}:{call + 1}"
        # A judge has a session of its own for every question: it shares none with the work it scores.
        session = f"{operation}:session" if purpose == "judge" else f"{whole}:{agent}:session"
        attempt = self.store.attempt(self.run_id, task.id, Call(operation, session, agent, purpose), self.now())
        brief = Brief(
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
            role=self._role(agent),
            description=task.description,
            inputs=_artifacts(task.inputs),
            outputs=_artifacts(task.outputs),
            iteration=record.iteration + (purpose == "work"),
            call=call,
            retry=record.retries if retry is None else retry,
            feedback=[] if purpose == "judge" else list(record.feedback),
            prompt=prompt,
        )
        own = self.settings.adapter(agent)
        timeout = self.plan.limits.timeout_seconds if own is None else own.timeout_seconds
        try:
            return self.adapter(agent).call(brief, timeout or self.plan.limits.timeout_seconds)
        except AdapterError:
            raise
        except Exception as error:  # an adapter may be anybody's code
            raise AdapterError(f"{type(error).__name__}: {error}") from error

    def _role(self, agent: str) -> dict[str, Any]:
        known = self.plan.agents.get(agent)
        made: dict[str, Any] = {} if known is None else msgspec.to_builtins(known)
        return made

    def written(self, task: Task) -> list[tuple[str, bytes]]:
        """The files the task's outputs are at present, folders in depth."""
        top = self.root.resolve()
        files: list[tuple[str, bytes]] = []
        for output in task.outputs:
            path = (top / output.path).resolve()
            if not path.exists() or not path.is_relative_to(top):
                continue
            for file in files_below(path):
                if file.stat().st_size <= MAX_BYTES:
                    files.append((file.relative_to(top).as_posix(), file.read_bytes()))
        return files

    def hashes(self, task: Task) -> dict[str, str]:
        """The sha256 of every file of the task's outputs."""
        return {path: hashlib.sha256(content).hexdigest() for path, content in self.written(task)}


def _artifacts(artifacts: Sequence[Artifact]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(artifact) for artifact in artifacts]
