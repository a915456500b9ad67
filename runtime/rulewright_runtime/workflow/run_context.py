"""The context of a run: what its activities use besides the task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from rulewright_runtime.workflow.adapters import AgentAdapter
from rulewright_runtime.workflow.events import Event, EventDraft
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.run_database import Store, TaskChange
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan

_MAX_BACKOFF: Final = 86_400.0  # seconds


def utc_now() -> str:
    """Return the current time as in events: ISO 8601 with milliseconds and `Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RunContext(Struct, frozen=True):
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

    def emit(self, *events: EventDraft, warned: int | None = None) -> None:
        """Store and publish events of the run itself, and its budget warning level where `warned` is given."""
        self.publish(self.store.add_events(self.run_id, self.now(), events, warned=warned))

    def max_retries(self, agent: str) -> int:
        """Return how often a failed call of this agent is retried."""
        own = self.settings.adapter(agent)
        return self.plan.limits.max_retries if own is None or own.max_retries is None else own.max_retries

    def wait_before(self, retry: int, agent: str) -> None:
        """Wait before a retry, each time twice as long; a script of replies needs no rest."""
        own = self.settings.adapter(agent)
        if own is None or own.type != "mock":
            self.stop.wait(min(self.plan.limits.retry_backoff_seconds * 2 ** (retry - 1), _MAX_BACKOFF))
