"""Events: what happened in a run, as lines of JSON with one envelope."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from rulewright_runtime.strict_json import JsonObject

VERSION: Final = "1"

Level = Literal["info", "warning", "error"]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event. `task_run_id`, `task_id` and `agent` are null where it is about the run."""

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
        """The event as one line of JSON."""
        return msgspec.json.encode(self, order="deterministic").decode()


class EventDraft(msgspec.Struct, frozen=True):
    """An event before it is known when it is written down."""

    event_type: str
    details: JsonObject = msgspec.field(default_factory=dict)
    level: Level = "info"
    agent: str | None = None
