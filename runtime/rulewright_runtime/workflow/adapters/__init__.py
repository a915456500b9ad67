"""Adapters: how an agent is reached. A command, a Python callable, or a script of replies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.workflow.adapters.agent_adapter import (
    AgentAdapter,
    AgentError,
    AgentReply,
    Brief,
    Purpose,
    Started,
)
from rulewright_runtime.workflow.adapters.command_adapter import CommandAdapter
from rulewright_runtime.workflow.adapters.judged_adapter import JudgedAdapter
from rulewright_runtime.workflow.adapters.mock_adapter import MockAdapter
from rulewright_runtime.workflow.adapters.python_adapter import PythonAdapter, find_callable
from rulewright_runtime.workflow.run_settings import AdapterSettings, RunSettings

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge

__all__ = ["AgentAdapter", "AgentError", "AgentReply", "Brief", "Purpose", "open_adapters"]


def open_adapters(
    settings: RunSettings, root: Path, started: Started = lambda _: None, judge: Judge | None = None
) -> Callable[[str], AgentAdapter]:
    """A function that gives each agent its adapter. It raises AdapterError for an agent nobody answers for. `started`
    hears of every process before its command starts; `judge` answers what evaluators are asked."""
    opened: dict[str, AgentAdapter] = {}

    def adapter(agent: str) -> AgentAdapter:
        if agent not in opened:
            found = settings.adapter(agent)
            if found is None and judge is None:
                raise AgentError(f"no adapter answers for agent `{agent}`: name one in the project file")
            own = None if found is None else _open(found, root, started)
            opened[agent] = _judged(own, judge)
        return opened[agent]

    return adapter


def _judged(own: AgentAdapter | None, judge: Judge | None) -> AgentAdapter:
    return own if own is not None and judge is None else JudgedAdapter(own, judge)  # type: ignore[arg-type]


def _open(settings: AdapterSettings, root: Path, started: Started) -> AgentAdapter:
    if settings.type == "command":
        if not settings.command:
            raise AgentError("an adapter of type `command` needs a `command`")
        return CommandAdapter(settings.command, root / settings.folder, settings.environment, started)
    if settings.type == "python":
        return PythonAdapter(find_callable(settings.callable))
    script = settings.script
    if isinstance(script, str):
        try:
            script = strict_json.decode((root / script).read_bytes())
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError, RecursionError) as error:
            raise AgentError(f"the script `{settings.script}` can't be read: {error}") from None
    if not isinstance(script, dict):
        raise AgentError(f"the script `{settings.script}` must map agents to lists of replies")
    return MockAdapter(script, root / settings.folder)
