"""Events of a run, as lines of JSON with one envelope."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from rulewright_runtime.strict_json import JsonObject

VERSION: Final = "1"

IS_EVENT: Final = {"is_event": True}  # `extra` of a log record about something that an event tells as well
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
