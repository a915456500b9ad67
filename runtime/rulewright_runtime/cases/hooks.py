"""Hooks: what other systems are told about results. They never block or fail a run; what was lost is counted."""

from __future__ import annotations

import json
import queue
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

OBSERVATION: Final = "recordSAFEv0Result"
RESULT: Final = "safe:v0:result"
EVALUATION: Final = "gen_ai.evaluation.result"
_WAITING: Final = 10_000
_ATTEMPTS: Final = 3
_TIMEOUT: Final = 5.0


class Sink(Protocol):
    """A receiver of messages."""

    @property
    def lost(self) -> int:
        """How many messages did not arrive."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Take a message; never raises and never waits."""

    def close(self) -> None:
        """Deliver what is waiting, as far as that is possible in a few seconds."""


class FileSink:
    """Appends messages to a file of JSON lines."""

    def __init__(self, path: str) -> None:
        """Messages go to `path`; a file that can't be written loses them."""
        self.lost = 0
        self._lines: list[str] = []
        self._path = path

    def send(self, message: Mapping[str, Any]) -> None:
        """Take a message."""
        self._lines.append(json.dumps(message, ensure_ascii=False))
        if len(self._lines) >= 1000:
            self._flush()

    def _flush(self) -> None:
        if not self._lines:
            return
        try:
            with open(self._path, "a", encoding="utf-8", errors="replace") as file:
                file.write("\n".join(self._lines) + "\n")
        except OSError:
            self.lost += len(self._lines)
        self._lines.clear()

    def close(self) -> None:
        """Write what is waiting."""
        self._flush()


class HttpSink:
    """Posts messages as JSON to an HTTP endpoint, from a thread of its own, with a few attempts each."""

    def __init__(self, url: str, *, pause: float = 0.2, patience: float = 10.0) -> None:
        """`pause` is the wait before the second attempt (doubled for the third), `patience` how long `close` waits."""
        self.lost = 0
        self._url = url
        self._pause = pause
        self._patience = patience
        self._waiting: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Take a message; with too many waiting it is lost."""
        try:
            self._waiting.put_nowait(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))
        except queue.Full:
            self.lost += 1

    def _work(self) -> None:
        while (body := self._waiting.get()) is not None:
            if not self._post(body):
                self.lost += 1

    def _post(self, body: bytes) -> bool:
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(self._pause * 2 ** (attempt - 1))
            try:
                request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"}, method="POST")
                with urllib.request.urlopen(request, timeout=_TIMEOUT):
                    return True
            except urllib.error.HTTPError as error:
                if error.code < 500:  # the endpoint understood and does not want it
                    return False
            except (OSError, ValueError):
                continue
        return False

    def close(self) -> None:
        """Wait for the messages on their way, at most `patience` seconds; count what is left as lost."""
        try:
            self._waiting.put(None, timeout=self._patience)
        except queue.Full:
            self.lost += self._waiting.qsize()
            return
        self._thread.join(self._patience)
        if self._thread.is_alive():
            self.lost += max(self._waiting.qsize() - 1, 0)


class CallSink:
    """Hands messages to a Python callable."""

    def __init__(self, callback: Callable[[Mapping[str, Any]], object]) -> None:
        """Messages go to `callback`; one that raises loses them."""
        self.lost = 0
        self._callback = callback

    def send(self, message: Mapping[str, Any]) -> None:
        """Take a message."""
        try:
            self._callback(message)
        except Exception:  # a callback's mistake must not fail the run
            self.lost += 1

    def close(self) -> None:
        """Nothing waits."""


class OtlpSink:
    """Sends OpenTelemetry `gen_ai.evaluation.result` events as log records (OTLP over HTTP, JSON encoding)."""

    def __init__(self, url: str, *, most: int = 200) -> None:
        """`url` is the collector's address for logs; up to `most` records go in one request."""
        self._http = HttpSink(url)
        self._most = most
        self._records: list[dict[str, Any]] = []

    @property
    def lost(self) -> int:
        """How many requests were lost."""
        return self._http.lost

    def send(self, message: Mapping[str, Any]) -> None:
        """Take a log record."""
        self._records.append(dict(message))
        if len(self._records) >= self._most:
            self._flush()

    def _flush(self) -> None:
        if self._records:
            scope = {"scope": {"name": "rulewright"}, "logRecords": self._records}
            resource = {"attributes": [_attribute("service.name", "rulewright")]}
            self._http.send({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]})
            self._records = []

    def close(self) -> None:
        """Send what is waiting."""
        self._flush()
        self._http.close()


def evaluation_events(result: Mapping[str, Any], prefix: str, now: int) -> Iterator[dict[str, Any]]:
    """A case as log records: one for every metric, named `prefix` and the metric, and one for the composite, which
    bears the label; `now` in nanoseconds since 1970."""
    for name, value in result["scores"].items():
        attributes = [
            _attribute("gen_ai.evaluation.name", f"{prefix} {name}"),
            _attribute("gen_ai.evaluation.score.value", float(value)),
            _attribute("rulewright.test_id", result["test_id"]),
            _attribute("rulewright.archetype", result["archetype"]),
            _attribute("rulewright.batch_id", result["batch_id"]),
        ]
        if name == "composite":
            attributes.append(_attribute("gen_ai.evaluation.score.label", result["label"]))
        yield {
            "timeUnixNano": str(now),
            "severityNumber": 9,
            "eventName": EVALUATION,
            "attributes": attributes,
        }


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}


def sink(target: str) -> Sink:
    """The sink of a target: an `http://` or `https://` address, else a file."""
    return HttpSink(target) if target.startswith(("http://", "https://")) else FileSink(target)


def observation(result: Mapping[str, Any], metrics: list[str], timestamp: str) -> dict[str, Any]:
    """The observation record of a result (seed 001, 8.1)."""
    return {
        "event": OBSERVATION,
        "test_id": result["test_id"],
        "scores": {name: result["scores"][name] for name in metrics},
        "label": result["label"],
        "timestamp": timestamp,
    }


def mission_event(concern_id: str, batch_id: str, summary: Mapping[str, Any], timestamp: str) -> dict[str, Any]:
    """The event for a dashboard (seed 001, 8.2)."""
    return {
        "event": RESULT,
        "concern_id": concern_id,
        "batch_id": batch_id,
        "summary": dict(summary),
        "timestamp": timestamp,
    }
