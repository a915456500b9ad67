"""What a run is told on this machine: who answers for each agent, where files lie, who is notified.

A plan never names a command, callable or address; these come from the project file, as plain data.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

DEFAULT: Final = "default"


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all settings have in common: they can't be changed, and an unknown key is refused."""


class AdapterSettings(Setting, frozen=True):
    """How an agent is reached: a command, a callable `module:function`, or a script of replies.

    A command sees only the variables named in `environment`, and `PATH`. Without `timeout_seconds` and `max_retries`
    the plan's limits hold.
    """

    type: Literal["command", "python", "mock"]
    command: tuple[str, ...] = ()
    callable: str = ""
    script: str | dict[str, Any] = ""
    environment: tuple[str, ...] = ()
    folder: str = ""
    timeout_seconds: Annotated[float, Meta(gt=0, le=604_800)] | None = None
    max_retries: Annotated[int, Meta(ge=0, le=100)] | None = None


class Notice(Setting, frozen=True):
    """Where a notification goes: a command that gets it on its standard input, or a webhook that is posted to."""

    type: Literal["webhook", "command"]
    url: str = ""
    command: tuple[str, ...] = ()


class Settings(Setting, frozen=True):
    """All of it. `folder` is the working folder of the agents; `queue_path` mirrors the queue as JSON files."""

    adapters: dict[str, AdapterSettings] = msgspec.field(default_factory=dict)
    folder: str = "."
    queue_path: str = ""
    poll_interval_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 2.0
    on_created: tuple[Notice, ...] = ()
    on_t2_gate: tuple[Notice, ...] = ()

    def adapter(self, agent: str) -> AdapterSettings | None:
        """How `agent` is reached: its own adapter, else the one called `default`."""
        return self.adapters.get(agent) or self.adapters.get(DEFAULT)
