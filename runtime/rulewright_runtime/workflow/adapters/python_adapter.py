"""Agents that are Python callables, which only the project file may name."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply, Brief, read_reply

Agent = Callable[[JsonObject], "str | Mapping[str, Any] | None"]


class PythonAdapter:
    """Calls a function with the brief as a dict; it returns a string, a dict, or None for "done"."""

    def __init__(self, agent: Agent) -> None:
        """`agent` is the function."""
        self._agent = agent

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the function's reply. Raises AgentError for any exception of the function and for a timeout.

        A thread can't be killed: after a timeout the function runs on in its own thread, and its result is ignored.
        """
        results: list[Any] = []
        failure: list[BaseException] = []

        def run() -> None:
            try:
                results.append(self._agent(msgspec.to_builtins(brief)))
            except BaseException as error:  # it must not end silently with its thread
                failure.append(error)

        thread = threading.Thread(target=run, name=brief.attempt_id, daemon=True)
        thread.start()
        thread.join(timeout)
        if failure:
            raise AgentError(f"{type(failure[0]).__name__}: {failure[0]}") from None
        if not results:
            raise AgentError(f"the callable took longer than {timeout:g} seconds")
        return read_reply(_text(results[0]), brief.purpose)


def find_callable(name: str) -> Agent:
    """Import the function `module:function`. Raises AgentError when it can't be loaded or is not callable."""
    module, colon, function = name.partition(":")
    if not colon or not module or not function.isidentifier():
        raise AgentError(f"`{name}` must look like `module:function`")
    try:
        agent: Agent = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise AgentError(f"`{name}` can't be loaded: {error}") from None
    if not callable(agent):
        raise AgentError(f"`{name}` is not a function")
    return agent


def _text(value: str | JsonMapping | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise AgentError(f"the callable's answer is not JSON: {error}") from None
