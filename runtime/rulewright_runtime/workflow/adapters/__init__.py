"""Adapters to agents: a command, a Python callable, or a script of replies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rulewright_runtime import strict_json
from rulewright_runtime.judging.judge import Judge
from rulewright_runtime.workflow.adapters.agent_adapter import (
    NO_ADAPTER,
    AgentAdapter,
    AgentError,
    AgentReply,
    Brief,
    OnStart,
    Purpose,
)
from rulewright_runtime.workflow.adapters.command_adapter import CommandAdapter
from rulewright_runtime.workflow.adapters.in_process import JudgedAdapter, MockAdapter, PythonAdapter, find_callable
from rulewright_runtime.workflow.run_settings import AdapterSettings, RunSettings

__all__ = ["AgentAdapter", "AgentError", "AgentReply", "Brief", "Purpose", "open_adapters"]


def open_adapters(
    settings: RunSettings, root: Path, on_start: OnStart = lambda _: None, judge: Judge | None = None
) -> Callable[[str], AgentAdapter]:
    """Return a function from an agent to its adapter. It raises AgentError for an agent without adapter. `on_start` is
    called with each process id before its command starts; `judge` answers the questions to evaluators."""
    opened: dict[str, AgentAdapter] = {}

    def adapter(agent: str) -> AgentAdapter:
        if agent not in opened:
            agent_settings = settings.adapter(agent)
            if agent_settings is None and judge is None:
                raise AgentError(NO_ADAPTER)
            own = None if agent_settings is None else _open(agent_settings, root, on_start)
            opened[agent] = own if own is not None and judge is None else JudgedAdapter(own, judge)  # type: ignore[arg-type]
        return opened[agent]

    return adapter


def _open(settings: AdapterSettings, root: Path, on_start: OnStart) -> AgentAdapter:
    if settings.type == "command":
        if not settings.command:
            raise AgentError("an adapter of type `command` needs a `command`")
        return CommandAdapter(settings.command, root / settings.folder, settings.environment, on_start)
    if settings.type == "python":
        return PythonAdapter(find_callable(settings.callable))
    script = settings.script
    if script == "":
        raise AgentError("an adapter of type `mock` needs a `script`")
    if isinstance(script, str):
        try:
            script = strict_json.decode((root / script).read_bytes())
        except (OSError, *strict_json.UNDECODED) as error:
            raise AgentError(f"the script `{settings.script}` can't be read: {error}") from None
    if not isinstance(script, dict):
        raise AgentError(f"the script `{settings.script}` must map agents to lists of replies")
    return MockAdapter(script, root / settings.folder)
