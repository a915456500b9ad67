"""The context that the overlays of one task share: what each said of the present outputs, typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from rulewright_runtime.score import Score, parse_score
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.machine import TaskState

_FORGOTTEN: Final[Mapping[str, dict[str, object]]] = {
    "confidence_score": {"confidence": None, "advisory": ""},
    "metrics": {"metrics": ()},
    "review": {"decision": None, "review_feedback": "", "quality_checks": {}},
    "pair": {"challenger_approved": None},
    "policy_gate": {"verdict": None},
    "hil": {"resolved": None},
}


class Measured(msgspec.Struct, frozen=True):
    """A metric as it was measured. `source` is its files, or the judge; `failure` says why it counts as 0.0."""

    type: str
    value: float
    weight: float
    source: str = ""
    evaluator_agent: str | None = None
    details: str = ""
    failure: str = ""


class Usage(msgspec.Struct, frozen=True):
    """What calls of agents used."""

    tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(self.tokens + other.tokens, self.cost_usd + other.cost_usd)


NO_USAGE: Final = Usage()


class TaskContext(msgspec.Struct, frozen=True):
    """What the overlays know of a task. None and nothing mean that it was not said of the present outputs.

    `confidence` is the exact score as `4/5`. `driver` and `challenger` are the present roles of a pair.
    """

    confidence: str | None = None
    metrics: tuple[Measured, ...] = ()
    advisory: str = ""
    decision: Literal["GO", "NO_GO"] | None = None
    review_feedback: str = ""
    quality_checks: dict[str, bool] = msgspec.field(default_factory=dict)
    reviews: int = 0
    challenger_approved: bool | None = None
    challenges: int = 0
    driver: str = ""
    challenger: str = ""
    verdict: Literal["PASS", "FAIL"] | None = None
    resolved: bool | None = None

    @property
    def score(self) -> Score | None:
        """The confidence, exact."""
        return None if self.confidence is None else parse_score(self.confidence)

    def forget(self, roots: Iterable[str]) -> TaskContext:
        """Without what these roots said."""
        dropped: JsonObject = {}
        for root in roots:
            dropped.update(_FORGOTTEN.get(root, {}))
        return msgspec.structs.replace(self, **dropped)

    def bindings(self) -> JsonObject:
        """What guards see. What was not said is absent."""
        made: JsonObject = dict(self.gate_bindings())
        if self.metrics:
            made["metrics"] = {metric.type: metric.value for metric in self.metrics}
        if self.score is not None:
            made["confidence_score"] = self.score
        if self.verdict is not None:
            made["policy_gate"] = {"verdict": self.verdict}
        return made

    def gate_bindings(self) -> JsonObject:
        """What may decide a gate's verdict besides evidence: review, pair and person, and never confidence."""
        made: JsonObject = {}
        if self.decision is not None:
            made["review"] = {
                "decision": self.decision,
                "feedback": self.review_feedback,
                "iteration": self.reviews,
                "quality_checks": self.quality_checks,
            }
        if self.challenger_approved is not None:
            made["pair"] = {"challenger_approved": self.challenger_approved, "iteration": self.challenges}
        if self.resolved is not None:
            made["hil"] = {"resolved": self.resolved}
        return made


class TaskRecord(msgspec.Struct, frozen=True):
    """Where a task is and what it has been through.

    `iteration` counts how often the agent has worked, `retries` the failed attempts of the present activity, `calls`
    the answered calls of each `agent/purpose`, `reply` what the agent answered to its last work. `item` is the queue
    item the task waits for. `inputs` maps what was read to the hash it had then, `locked` an output to the hash it had
    when its review ended with GO; `is_locked` tells a lock on no outputs from no lock.
    """

    state: TaskState
    context: TaskContext = TaskContext()
    iteration: int = 0
    retries: int = 0
    retry_count: int = 0
    loop_count: int = 0
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    reply: str = ""
    tokens_used: int = 0
    cost_usd: float = 0.0
    passed: tuple[str, ...] = ()
    max_iterations_exceeded: tuple[str, ...] = ()
    inputs: dict[str, str] = msgspec.field(default_factory=dict)
    locked: dict[str, str] = msgspec.field(default_factory=dict)
    is_locked: bool = False
    item: str | None = None
    items: int = 0
    feedback: tuple[dict[str, str], ...] = ()
    history: tuple[JsonObject, ...] = ()
    reason: str = ""
    started: bool = False
    started_at: float = 0.0

    def after(self, call: str, usage: Usage) -> TaskRecord:
        """The record after an answered call, `agent/purpose`."""
        calls = {**self.calls, call: self.calls.get(call, 0) + 1}
        return msgspec.structs.replace(self.spending(usage), calls=calls)

    def spending(self, usage: Usage) -> TaskRecord:
        """The record with what was used besides."""
        tokens, cost = self.tokens_used + usage.tokens, self.cost_usd + usage.cost_usd
        return msgspec.structs.replace(self, tokens_used=tokens, cost_usd=cost)
