"""Agents in this process: Python callables, which only the project file may name, scripts of replies for tests and
rehearsals, and models as the judges of metrics."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import Judge, JudgeRequest
from rulewright_runtime.models.call import CallFailure, ending
from rulewright_runtime.processes.user_code import Called, UserCode, failure_of, state_kept
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.workflow.adapters.agent_adapter import (
    NO_ADAPTER,
    AgentAdapter,
    AgentError,
    AgentReply,
    Brief,
    read_reply,
)
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage

Agent = Callable[[JsonObject], "str | Mapping[str, Any] | None"]


class PythonAdapter:
    """Calls a function with the brief as a dict; it returns a string, a dict, or None for "done"."""

    def __init__(self, agent: Agent) -> None:
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
        with state_kept():
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
        with UserCode(Called(f"`{name}`")):
            agent: Agent = getattr(importlib.import_module(module), function)
    except Exception as error:
        raise AgentError(f"`{name}` can't be loaded: {failure_of(error)}") from None
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


SCRIPT_KEYS: Final = frozenset({"files", "raise", "delay_seconds", "text"})


class MockAdapter:
    """Replies from a script `{key: [entry, ...]}`, where the key is `task/agent/purpose`, `task/agent` or `agent`.

    The number of a call selects its entry; the last one serves all later calls. An entry that is a list holds the
    attempts of that call. An entry is the reply, with four special keys: `files` (path to content) are written,
    `delay_seconds` delays the reply, `raise` fails the attempt, and `text` is the whole reply.
    """

    def __init__(self, script: JsonMapping, folder: Path) -> None:
        """`folder` is where files are written."""
        self._script, self._folder = script, folder

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the scripted reply. Raises AgentError for `raise`, a timeout, and a call without an entry."""
        entry = self._entry(brief)
        delay = float(entry.get("delay_seconds", 0))
        time.sleep(min(delay, timeout))
        if delay > timeout:
            raise AgentError(f"the script took longer than {timeout:g} seconds")
        for path, content in entry.get("files", {}).items():
            target = self._folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        if "raise" in entry:
            raise AgentError(str(entry["raise"]))
        if "text" in entry:
            return read_reply(str(entry["text"]), brief.purpose)
        return read_reply(json.dumps({k: v for k, v in entry.items() if k not in SCRIPT_KEYS}), brief.purpose)

    def _entry(self, brief: Brief) -> JsonMapping:
        agent = f"{brief.task_id}/{brief.agent}"
        for key in (f"{agent}/{brief.purpose}", agent, brief.agent):
            entries = self._script.get(key)
            if entries:
                entry = entries[min(brief.call, len(entries) - 1)]
                if isinstance(entry, list):
                    entry = entry[min(brief.retry, len(entry) - 1)]
                return entry if isinstance(entry, dict) else {"text": entry}
        raise AgentError(f"the script has no reply of `{agent}`")


MAX_REPLY_TOKENS = 2000  # a score and its reason


class JudgedAdapter:
    """Sends briefs with the purpose `judge` to a model, and all others to the agent's own adapter."""

    def __init__(self, own: AgentAdapter | None, judge: Judge) -> None:
        self._own, self._judge = own, judge

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the reply. Raises AgentError, and OutageError when the judge can't be reached: that is not a score."""
        if brief.purpose != "judge":
            if self._own is None:
                raise AgentError(NO_ADAPTER)
            return self._own.call(brief, timeout)
        fields = (brief.task_run_id, brief.operation_id, brief.prompt, MAX_REPLY_TOKENS, 0.0, brief.call, brief.retry)
        usage = NO_USAGE
        try:
            answer, finish, usage = self._ask(JudgeRequest(*fields, purpose="metric"))
            if answer is None or finish:
                raise AgentError(f"the judge's reply is incomplete{finish and f': {ending(finish)}'}")
            return msgspec.structs.replace(read_reply(answer, "judge"), usage=usage)
        except AgentError as error:
            raise AgentError(str(error), usage) from None
        except OutageError:
            raise
        except Exception as error:
            is_outage = isinstance(error, CallFailure) and error.is_outage
            raise (OutageError if is_outage else AgentError)(f"the judge did not answer: {error}") from None

    def _ask(self, request: JudgeRequest) -> tuple[str | None, str, AgentUsage]:
        """The reply, how it ended if it is not whole, and what it cost: that of a model is in the budget of the run,
        whatever the reply says."""
        if not hasattr(self._judge, "answer"):  # replies that are recorded
            return self._judge.ask(request), "", NO_USAGE
        answer, spent = self._judge.answer(request)
        finish = "" if answer.is_whole else answer.finish
        return answer.text, finish, AgentUsage(spent.tokens, float(spent.usd or 0))
