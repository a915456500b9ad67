"""Notifications: telling people that the queue has something for them, without ever holding up a run."""

from __future__ import annotations

import logging
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, Started
from rulewright_runtime.workflow.adapters.command_adapter import run_command
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.run_settings import Notice, RunSettings

LOG: Final = logging.getLogger("rulewright.workflow")
TIMEOUT: Final = 10.0  # seconds that one notification may take
PATIENCE: Final = 2.0  # seconds that the end of a run waits for the last ones


class Notifier:
    """Sends every notification in a thread of its own; what goes wrong is a warning in the log."""

    def __init__(self, settings: RunSettings, started: Started = lambda _: None) -> None:
        """Keep who is told of what; `started` hears of every process before its command starts."""
        self._settings, self._started = settings, started
        self._threads: list[threading.Thread] = []

    def notify(self, item: QueueItem) -> None:
        """Tell of a new item, and return at once."""
        notices: Sequence[Notice] = self._settings.on_created
        if item.trigger == "t2_gate":
            notices = (*notices, *self._settings.on_t2_gate)
        for notice in notices:
            thread = threading.Thread(target=self._send, args=(notice, item), name=f"notify-{item.id}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Give the last notifications a moment."""
        end = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _send(self, notice: Notice, item: QueueItem) -> None:
        try:
            if notice.type == "command":
                self._command(notice, item)
            else:
                self._post(notice, item)
        except (RuntimeFailure, OSError, ValueError) as error:
            LOG.warning("a notification of `%s` was not delivered: %s", item.id, error)

    def _command(self, notice: Notice, item: QueueItem) -> None:
        if not notice.command:
            raise ValueError("a notification of type `command` needs a `command`")
        seen = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        folder = Path(self._settings.folder)
        code, _, err = run_command(notice.command, msgspec.json.encode(item), folder, TIMEOUT, seen, self._started)
        if code:
            raise AgentError(f"exit code {code}: {err.decode(errors='replace').strip()[-200:]}")

    def _post(self, notice: Notice, item: QueueItem) -> None:
        if urlsplit(notice.url).scheme not in {"http", "https"}:
            raise ValueError(f"a webhook needs an address with http or https, found `{notice.url}`")
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(notice.url, msgspec.json.encode(item), head, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f"the webhook answered {error.code}") from None
