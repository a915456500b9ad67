"""Hooks: what other systems are told about results. They never slow or fail a run; what did not arrive is kept."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import count
from time import monotonic, sleep
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.report.text import plural
from rulewright_runtime.strict_json import JsonMapping, JsonObject

OBSERVATION: Final = "recordSAFEv0Result"
RESULT: Final = "safe:v0:result"
EVALUATION: Final = "gen_ai.evaluation.result"
LIMIT: Final = 1.0  # seconds that all hooks together may take when the run has ended
_WAITING: Final = 10_000  # messages of a target
_ATTEMPTS: Final = 3
_PAUSE: Final = 0.1  # seconds before the second attempt, and twice as many before the third
_TIMEOUT: Final = 5.0
Deliver = Callable[[list[bytes]], bool]


class Hooks:
    """The targets of a run. Each has a thread of its own and a queue of limited length."""

    def __init__(self, plan: CaseScorecardPlan, moment: str, kept: str) -> None:
        """`moment` is the time of the run. What does not arrive is written to `kept` with `.undelivered.jsonl` behind
        it, and a number where that is taken."""
        self._metrics = [metric.name for metric in plan.metrics]
        self._prefix = plan.report_type.replace("_", " ")
        self._moment = moment
        self._nanoseconds = int(datetime.fromisoformat(moment).timestamp()) * 10**9
        self._observers: list[Delivery] = []
        self._collectors: list[Delivery] = []
        self._announced: list[Delivery] = []
        self._undelivered = Undelivered(kept)

    def observe(self, target: str) -> None:
        """Tell `target` (an `http://` or `https://` address, else a file) of every result."""
        self._observers.append(self._delivery(target))

    def collect(self, address: str) -> None:
        """Send OpenTelemetry evaluation events (OTLP over HTTP, JSON encoding) to a collector's address for logs."""
        self._collectors.append(Delivery(address, _bundled(_post(address)), 200, self._undelivered))

    def announce(self, target: str, concern_id: str, batch_id: str, summary: Mapping[str, object]) -> None:
        """Tell `target` what the run came to."""
        self._announced.append(self._delivery(target))
        self._announced[-1].send(mission_event(concern_id, batch_id, summary, self._moment))

    def _delivery(self, target: str) -> Delivery:
        if target.startswith(("http://", "https://")):
            return Delivery(target, _post(target), 1, self._undelivered)
        return Delivery(target, _append(target), 1000, self._undelivered)

    def on_case(self, result: JsonMapping) -> None:
        """Send what is to be said of a result on its way; never waits and never raises."""
        for delivery in self._observers:
            delivery.send(observation(result, self._metrics, self._moment))
        for delivery in self._collectors:
            for event in evaluation_events(result, self._prefix, self._nanoseconds):
                delivery.send(event)

    def close(self, limit: float = LIMIT) -> list[str]:
        """Wait for what is on its way, at most `limit` seconds for all targets, and say what did not arrive."""
        deadline = monotonic() + limit
        for delivery in (*self._observers, *self._collectors, *self._announced):
            delivery.close(deadline)
        return self._undelivered.close()


class Delivery:
    """Messages on their way to a target."""

    def __init__(self, target: str, deliver: Deliver, most: int, undelivered: Undelivered) -> None:
        """`deliver` takes up to `most` messages, in the thread, and says whether they arrived."""
        self._target = target
        self._deliver = deliver
        self._most = most
        self._undelivered = undelivered
        self._waiting: deque[bytes] = deque()
        self._carried: list[bytes] = []
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def send(self, message: Mapping[str, object]) -> None:
        """Take a message; with too many waiting it does not arrive."""
        data = msgspec.json.encode(message)
        with self._changed:
            if len(self._waiting) < _WAITING:
                self._waiting.append(data)
                self._changed.notify()
                return
        self._undelivered.add(self._target, [data])

    def _work(self) -> None:
        while batch := self._next():
            arrived = self._deliver(batch)
            with self._changed:
                lost, self._carried = [] if arrived else self._carried, []
            self._undelivered.add(self._target, lost)

    def _next(self) -> list[bytes]:
        """The next messages; none when all are through."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._carried = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            return self._carried

    def close(self, deadline: float) -> None:
        """Wait until every message is through, at most until the deadline; what is left then does not arrive."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(max(0.0, deadline - monotonic()))
        with self._changed:
            left = [*self._carried, *self._waiting]
            self._carried = []
            self._waiting.clear()
        self._undelivered.add(self._target, left)


class Undelivered:
    """A file of the messages that did not arrive, made with the first of them."""

    def __init__(self, name: str) -> None:
        """The file's name without its end."""
        self._name = name
        self._file: IO[bytes] | None = None
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, target: str, messages: list[bytes]) -> None:
        """Keep messages to a target."""
        with self._lock:
            if not messages or self._is_closed:
                return
            self._counts[target] = self._counts.get(target, 0) + len(messages)
            head = b'{"target":' + msgspec.json.encode(target) + b',"message":'
            try:
                self._file = self._file or self._open()
                self._file.writelines(head + message + b"}\n" for message in messages)
            except OSError:
                self._file = None

    def _open(self) -> IO[bytes]:
        os.makedirs(os.path.dirname(self._name) or ".", exist_ok=True)
        for number in count(1):
            try:
                return open(f"{self._name}{f'_{number}' if number > 1 else ''}.undelivered.jsonl", "xb")
            except FileExistsError:
                continue
        raise AssertionError("numbers do not end")

    def close(self) -> list[str]:
        """Close the file; a warning for each target that something did not reach."""
        with self._lock:
            self._is_closed = True
            where = "they could not be written to a file"
            if self._file is not None:
                self._file.close()
                where = f"kept in `{self._file.name}`"
        return [f"not delivered to `{to}`: {plural(n, 'message')}, {where}" for to, n in self._counts.items()]


def _append(path: str) -> Deliver:
    def deliver(messages: list[bytes]) -> bool:
        try:
            with open(path, "ab") as file:
                file.write(b"\n".join(messages) + b"\n")
        except OSError:
            return False
        return True

    return deliver


def _post(url: str) -> Deliver:
    client: Any = None

    def deliver(messages: list[bytes]) -> bool:
        import httpx2

        nonlocal client
        client = client or httpx2.Client(timeout=_TIMEOUT, headers={"Content-Type": "application/json"})
        for attempt in range(_ATTEMPTS):
            sleep(_PAUSE * attempt)
            try:
                status = int(client.post(url, content=messages[0]).status_code)
            except (httpx2.HTTPError, httpx2.InvalidURL):
                continue
            if status < 500:  # the endpoint has understood: it took the message, or does not want it
                return status < 300
        return False

    return deliver


def _bundled(deliver: Deliver) -> Deliver:
    """Deliver log records as one request."""
    attribute = msgspec.json.encode(_attribute("service.name", "rulewright"))
    head = b'{"resourceLogs":[{"resource":{"attributes":[' + attribute + b"]}"
    head += b',"scopeLogs":[{"scope":{"name":"rulewright"},"logRecords":['
    return lambda records: deliver([head + b",".join(records) + b"]}]}]}"])


def evaluation_events(result: JsonMapping, prefix: str, now: int) -> Iterator[JsonObject]:
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


def _attribute(key: str, value: str | float) -> JsonObject:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}


def observation(result: JsonMapping, metrics: list[str], timestamp: str) -> JsonObject:
    """The observation record of a result (seed 001, 8.1)."""
    return {
        "event": OBSERVATION,
        "test_id": result["test_id"],
        "scores": {name: result["scores"][name] for name in metrics},
        "label": result["label"],
        "timestamp": timestamp,
    }


def mission_event(concern_id: str, batch_id: str, summary: Mapping[str, object], timestamp: str) -> JsonObject:
    """The event for a dashboard (seed 001, 8.2)."""
    return {
        "event": RESULT,
        "concern_id": concern_id,
        "batch_id": batch_id,
        "summary": dict(summary),
        "timestamp": timestamp,
    }
