"""Notifications of new queue items, sent without blocking the run."""

from __future__ import annotations

import http.client
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
from rulewright_runtime.workflow.adapters.agent_adapter import AgentError, OnStart
from rulewright_runtime.workflow.adapters.command_adapter import run_command
from rulewright_runtime.workflow.hil import QueueItem
from rulewright_runtime.workflow.run_settings import Notice, RunSettings

LOG: Final = logging.getLogger("rulewright.workflow")
TIMEOUT: Final = 10.0  # seconds for one notification
PATIENCE: Final = 2.0  # seconds to wait for the last notifications at the end of a run


class Notifier:
    """Sends each notification in its own thread; a failure is logged as a warning."""

    def __init__(self, settings: RunSettings, on_start: OnStart) -> None:
        """`on_start` is called with the process id of each command before the command starts."""
        self._settings, self._on_start = settings, on_start
        self._threads: list[threading.Thread] = []

    def notify(self, item: QueueItem) -> None:
        """Send the notifications for a new item, without waiting for them."""
        notices: Sequence[Notice] = self._settings.on_created
        if item.trigger == "t2_gate":
            notices = (*notices, *self._settings.on_t2_gate)
        for notice in notices:
            thread = threading.Thread(target=self._send, args=(notice, item), name=item.id, daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Wait up to `PATIENCE` seconds for pending notifications; later ones are a warning."""
        end = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                LOG.warning(
                    "a notification of `%s` was not delivered in the %g seconds before the run ended",
                    thread.name,
                    PATIENCE,
                )

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
        environment = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        folder, data = Path(self._settings.folder), msgspec.json.encode(item)
        code, _, err = run_command(notice.command, data, folder, TIMEOUT, environment, self._on_start)
        if code:
            raise AgentError(f"exit code {code}: {err.decode(errors='replace').strip()[-200:]}")

    def _post(self, notice: Notice, item: QueueItem) -> None:
        if urlsplit(notice.url).scheme not in {"http", "https"}:
            raise ValueError(f"a webhook needs an address with http or https, found `{notice.url}`")
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(notice.url, msgspec.json.encode(item), headers, method="POST")
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=TIMEOUT):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f"the webhook answered {error.code}") from None
        except http.client.HTTPException as error:
            raise OSError(f"the webhook's answer is not HTTP: {error}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an error: it would be followed by a GET, without the item."""

    def redirect_request(self, *_: object) -> None:
        """Return no request."""
