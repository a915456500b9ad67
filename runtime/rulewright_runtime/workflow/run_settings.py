"""Settings of a run on this machine: the adapter of each agent, the working folder, and notifications.

A plan never names a command, callable or address; these come from the project file, as plain data.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from rulewright_runtime.strict_json import JsonObject

DEFAULT: Final = "default"


class LocalSetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all settings: immutable, and unknown keys are refused."""


class AdapterSettings(LocalSetting, frozen=True):
    """The adapter of an agent: a command, a callable `module:function`, or a script of replies.

    A command sees only `PATH` and the variables named in `environment`. `timeout_seconds` and `max_retries` default to
    the plan's limits. A brief close to `max_context_tokens` is a warning.
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
    """The target of notifications: a command that reads the item on standard input, or a webhook (POST)."""

    type: Literal["webhook", "command"]
    url: str = ""
    command: tuple[str, ...] = ()


class Constitution(LocalSetting, frozen=True):
    """Project rules given to every agent: the path of their file, and its text."""

    path: str
    text: str


class Security(LocalSetting, frozen=True):
    """Checks on replies. `secret_patterns` are added to those of common services. A detected injection is ignored
    (`pass`), published as an event (`warn`), or fails its call (`quarantine`)."""

    secret_patterns: tuple[str, ...] = ()
    injection_detection_level: Literal["pass", "warn", "quarantine"] = "warn"


class RunSettings(LocalSetting, frozen=True):
    """Settings of a run. `folder` is the agents' working folder; `queue_path` mirrors the queue as JSON files;
    `signers` maps the names of people who have to sign decisions to their public keys."""

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
        """Return the settings of `agent`: its own, else those of `default`, else None."""
        return self.adapters.get(agent) or self.adapters.get(DEFAULT)
