"""Hooks send results to other systems. They never slow or fail a run; undelivered messages are written to a file."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from time import monotonic, sleep
from typing import IO, Final

import msgspec

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.english import plural
from rulewright_runtime.strict_json import JsonMapping, JsonObject

OBSERVATION: Final = "recordSAFEv0Result"
RESULT: Final = "safe:v0:result"
EVALUATION: Final = "gen_ai.evaluation.result"
LIMIT: Final = 1.0  # seconds for all hooks together at the end of the run
_MAX_QUEUE: Final = 10_000  # messages for one target
_ATTEMPTS: Final = 3
_PAUSE: Final = 0.1  # seconds before the second attempt; twice as long before the third
_TIMEOUT: Final = 5.0  # seconds
Deliver = Callable[[list[bytes]], bool]


class Hooks:
    """The targets of a run. Each has its own thread and a queue of limited length."""

    def __init__(self, plan: CaseScorecardPlan, timestamp: str, undelivered: str) -> None:
        """`timestamp` is the time of the run. Messages that can't be delivered are written to the path `undelivered`
        plus `.undelivered.jsonl`, with a number when that file exists."""
        self._metrics = [metric.name for metric in plan.metrics]
        self._prefix = plan.report_type.replace("_", " ")
        self._timestamp = timestamp
        self._nanoseconds = int(datetime.fromisoformat(timestamp).timestamp()) * 10**9
        self._observers: list[Delivery] = []
        self._collectors: list[Delivery] = []
        self._announcements: list[Delivery] = []
        self._undelivered = Undelivered(undelivered)

    def observe(self, target: str) -> None:
        """Send every result to `target`, an `http://` or `https://` address, else a file."""
        self._observers.append(self._delivery(target))

    def collect(self, address: str) -> None:
        """Send OpenTelemetry evaluation events (OTLP over HTTP, JSON encoding) to a collector's address for logs."""
        self._collectors.append(Delivery(address, _otlp_request(_post(address)), 200, self._undelivered))

    def announce(self, target: str, concern_id: str, batch_id: str, summary: Mapping[str, object]) -> None:
        """Send the summary of the run to `target`."""
        self._announcements.append(self._delivery(target))
        self._announcements[-1].send(mission_event(concern_id, batch_id, summary, self._timestamp))

    def _delivery(self, target: str) -> Delivery:
        if target.startswith(("http://", "https://")):
            return Delivery(target, _post(target), 1, self._undelivered)
        return Delivery(target, _append(target), 1000, self._undelivered)

    def on_case(self, result: JsonMapping) -> None:
        """Queue the messages about a result; never waits and never raises."""
        for delivery in self._observers:
            delivery.send(observation(result, self._metrics, self._timestamp))
        for delivery in self._collectors:
            for event in evaluation_events(result, self._prefix, self._nanoseconds):
                delivery.send(event)

    def close(self) -> list[str]:
        """Wait for queued messages, at most `LIMIT` seconds for all targets. Returns a warning for each target with
        undelivered messages."""
        deadline = monotonic() + LIMIT
        for delivery in (*self._observers, *self._collectors, *self._announcements):
            delivery.close(deadline)
        return self._undelivered.close()


class Delivery:
    """The queue of messages to a target, and the thread that delivers them."""

    def __init__(self, target: str, deliver: Deliver, batch_size: int, undelivered: Undelivered) -> None:
        """`deliver` runs in the thread, takes up to `batch_size` messages, and returns whether they arrived."""
        self._target = target
        self._deliver = deliver
        self._batch_size = batch_size
        self._undelivered = undelivered
        self._queue: deque[bytes] = deque()
        self._in_delivery: list[bytes] = []
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def send(self, message: Mapping[str, object]) -> None:
        """Queue a message; with a full queue it is undelivered."""
        data = msgspec.json.encode(message)
        with self._changed:
            if len(self._queue) < _MAX_QUEUE:
                self._queue.append(data)
                self._changed.notify()
                return
        self._undelivered.add(self._target, [data])

    def _work(self) -> None:
        while batch := self._next():
            arrived = self._deliver(batch)
            with self._changed:
                lost, self._in_delivery = [] if arrived else self._in_delivery, []
                self._undelivered.add(self._target, lost)  # before `close` can end the file

    def _next(self) -> list[bytes]:
        """Wait for the next messages; empty when the queue is closed and drained."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            self._in_delivery = [self._queue.popleft() for _ in range(min(self._batch_size, len(self._queue)))]
            return self._in_delivery

    def close(self, deadline: float) -> None:
        """Wait until every message is delivered, at most until the deadline; the rest is undelivered."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(max(0.0, deadline - monotonic()))
        with self._changed:
            left = [*self._in_delivery, *self._queue]
            self._in_delivery = []
            self._queue.clear()
            self._undelivered.add(self._target, left)


class Undelivered:
    """The file of undelivered messages, created with the first of them."""

    def __init__(self, name: str) -> None:
        """`name` is the path without its suffix."""
        self._name = name
        self._file: IO[bytes] | None = None
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._is_closed = self._is_incomplete = False

    def add(self, target: str, messages: list[bytes]) -> None:
        with self._lock:
            if not messages or self._is_closed:
                return
            self._counts[target] = self._counts.get(target, 0) + len(messages)
            head = b'{"target":' + msgspec.json.encode(target) + b',"message":'
            try:
                self._file = self._file or self._open()
                self._file.writelines(head + message + b"}\n" for message in messages)
            except OSError:
                self._is_incomplete = True

    def _open(self) -> IO[bytes]:
        os.makedirs(os.path.dirname(self._name) or ".", exist_ok=True)
        number = 1
        while True:
            try:
                return open(f"{self._name}{f'_{number}' if number > 1 else ''}.undelivered.jsonl", "xb")
            except FileExistsError:
                number += 1

    def close(self) -> list[str]:
        """Close the file. Returns a warning for each target with undelivered messages."""
        with self._lock:
            self._is_closed = True
            where = "they could not be written to a file"
            if self._file is not None:
                try:
                    self._file.close()
                except OSError:  # its last messages don't fit on the disk
                    self._is_incomplete = True
                name = f"`{self._file.name}`"
                where = f"and {name} does not contain all of them" if self._is_incomplete else f"kept in {name}"
        return [f"not delivered to `{to}`: {plural(n, 'message')}, {where}" for to, n in self._counts.items()]


def _append(path: str) -> Deliver:
    path = os.path.abspath(path)  # the working folder may change while the thread waits

    def deliver(messages: list[bytes]) -> bool:
        try:
            with open(path, "ab") as file:
                file.write(b"\n".join(messages) + b"\n")
        except OSError:
            return False
        return True

    return deliver


def _post(url: str) -> Deliver:
    import httpx2

    client = httpx2.Client(timeout=_TIMEOUT, headers={"Content-Type": "application/json"})

    def deliver(messages: list[bytes]) -> bool:
        for attempt in range(_ATTEMPTS):
            sleep(_PAUSE * attempt)
            try:
                status = int(client.post(url, content=messages[0]).status_code)
            except (httpx2.HTTPError, httpx2.InvalidURL):
                continue
            if status < 500:  # the endpoint accepted or rejected the message: no retry
                return status < 300
        return False

    return deliver


def _otlp_request(deliver: Deliver) -> Deliver:
    """Wrap log records in one OTLP request."""
    attribute = msgspec.json.encode(_attribute("service.name", "rulewright"))
    head = b'{"resourceLogs":[{"resource":{"attributes":[' + attribute + b"]}"
    head += b',"scopeLogs":[{"scope":{"name":"rulewright"},"logRecords":['
    return lambda records: deliver([head + b",".join(records) + b"]}]}]}"])


def evaluation_events(result: JsonMapping, prefix: str, now: int) -> Iterator[JsonObject]:
    """Yield the log records of a case: one for every metric, named `prefix` and the metric, and one for the composite
    with the label. `now` is in nanoseconds since 1970."""
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
        yield {"timeUnixNano": str(now), "severityNumber": 9, "eventName": EVALUATION, "attributes": attributes}


def _attribute(key: str, value: str | float) -> JsonObject:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}


def observation(result: JsonMapping, metrics: list[str], timestamp: str) -> JsonObject:
    """Return the observation record of a result (seed 001, 8.1)."""
    return {
        "event": OBSERVATION,
        "test_id": result["test_id"],
        "scores": {name: result["scores"][name] for name in metrics},
        "label": result["label"],
        "timestamp": timestamp,
    }


def mission_event(concern_id: str, batch_id: str, summary: Mapping[str, object], timestamp: str) -> JsonObject:
    """Return the event for a dashboard (seed 001, 8.2)."""
    return {
        "event": RESULT,
        "concern_id": concern_id,
        "batch_id": batch_id,
        "summary": dict(summary),
        "timestamp": timestamp,
    }
