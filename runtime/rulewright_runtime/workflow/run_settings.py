"""What a run is told on this machine: who answers for each agent, where files lie, who is notified.

A plan never names a command, callable or address; these come from the project file, as plain data.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from rulewright_runtime.strict_json import JsonObject

DEFAULT: Final = "default"


class LocalSetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all settings have in common: they can't be changed, and an unknown key is refused."""


class AdapterSettings(LocalSetting, frozen=True):
    """How an agent is reached: a command, a callable `module:function`, or a script of replies.

    A command sees only the variables named in `environment`, and `PATH`. Without `timeout_seconds` and `max_retries`
    the plan's limits hold. A brief that nears `max_context_tokens` is a warning.
    """

    type: Literal["command", "python", "mock"]
    command: tuple[str, ...] = ()
    callable: str = ""
    script: str | JsonObject = ""
    environment: tuple[str, ...] = ()
    folder: str = ""
    timeout_seconds: Annotated[float, Meta(gt=0, le=604_800)] | None = None
    max_retries: Annotated[int, Meta(ge=0, le=100)] | None = None
    max_context_tokens: Annotated[int, Meta(ge=1, le=10**9)] = 100_000


class Notice(LocalSetting, frozen=True):
    """Where a notification goes: a command that gets it on its standard input, or a webhook that is posted to."""

    type: Literal["webhook", "command"]
    url: str = ""
    command: tuple[str, ...] = ()


class Constitution(LocalSetting, frozen=True):
    """Rules of the project that every agent is given: the file they stand in, and its text."""

    path: str
    text: str


class Security(LocalSetting, frozen=True):
    """What is looked for. `secret_patterns` are added to those of widespread services; what looks like an order to
    another agent passes, is told (`warn`), or fails the call that it came from (`quarantine`)."""

    secret_patterns: tuple[str, ...] = ()
    injection_detection_level: Literal["pass", "warn", "quarantine"] = "warn"


class RunSettings(LocalSetting, frozen=True):
    """All of it. `folder` is the working folder of the agents; `queue_path` mirrors the queue as JSON files;
    `signers` are the public keys of those who have to sign decisions, by their names."""

    adapters: dict[str, AdapterSettings] = msgspec.field(default_factory=dict)
    folder: str = "."
    queue_path: str = ""
    poll_interval_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 2.0
    on_created: tuple[Notice, ...] = ()
    on_t2_gate: tuple[Notice, ...] = ()
    constitution: Constitution | None = None
    security: Security = Security()
    signers: dict[str, str] = msgspec.field(default_factory=dict)

    def adapter(self, agent: str) -> AdapterSettings | None:
        """How `agent` is reached: its own adapter, else the one called `default`."""
        return self.adapters.get(agent) or self.adapters.get(DEFAULT)
