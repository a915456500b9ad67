"""Scripted agents, for tests, demonstrations and rehearsals of a workflow."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Final

from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, AgentReply, Brief, read_reply

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
