"""Agents that are Python callables, named in the project file and nowhere else."""

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
    """Calls a function with the brief as a dict; it answers with text, with a dict, or with None for "done"."""

    def __init__(self, agent: Agent) -> None:
        """Keep the function."""
        self._agent = agent

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """What the function returns. Whatever it raises, and a time-out, is an AdapterError.

        A function can't be ended from outside: after a time-out it runs on, unheard, in its own thread.
        """
        box: list[Any] = []
        failure: list[BaseException] = []

        def run() -> None:
            try:
                box.append(self._agent(msgspec.to_builtins(brief)))
            except BaseException as error:  # it must not end silently with its thread
                failure.append(error)

        thread = threading.Thread(target=run, name=brief.attempt_id, daemon=True)
        thread.start()
        thread.join(timeout)
        if failure:
            raise AgentError(f"{type(failure[0]).__name__}: {failure[0]}") from None
        if not box:
            raise AgentError(f"the callable took longer than {timeout:g} seconds")
        return read_reply(_text(box[0]), brief.purpose)


def find_callable(name: str) -> Agent:
    """The function `module:function`. Raises AdapterError where there is none."""
    module, colon, function = name.partition(":")
    if not colon or not module or not function.isidentifier():
        raise AgentError(f"`{name}` must look like `module:function`")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise AgentError(f"`{name}` can't be loaded: {error}") from None
    if not callable(found):
        raise AgentError(f"`{name}` is not a function")
    agent: Agent = found
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
