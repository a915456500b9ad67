"""The context shared by the overlays of one task: the typed results of each for the current outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from rulewright_runtime.score import Score, parse_score
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.machine import TaskState

_EMPTY_FIELDS: Final[Mapping[str, dict[str, object]]] = {
    "confidence_score": {"confidence": None, "advisory": ""},
    "metrics": {"metrics": ()},
    "review": {"decision": None, "review_feedback": "", "quality_checks": {}},
    "pair": {"challenger_approved": None},
    "policy_gate": {"verdict": None},
    "hil": {"resolved": None},
}


class MeasuredMetric(msgspec.Struct, frozen=True):
    """A measured metric. `source` names its files or its judge; `failure` says why it counts as 0.0."""

    type: str
    value: float
    weight: float
    source: str = ""
    evaluator_agent: str | None = None
    details: str = ""
    failure: str = ""


class AgentUsage(msgspec.Struct, frozen=True):
    """Tokens and dollars used by calls of agents."""

    tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: AgentUsage) -> AgentUsage:
        return AgentUsage(self.tokens + other.tokens, self.cost_usd + other.cost_usd)


NO_USAGE: Final = AgentUsage()


class TaskContext(msgspec.Struct, frozen=True):
    """Results of a task's overlays. None or empty means: no result yet for the current outputs.

    `confidence` is the exact score as `4/5`. `driver` and `challenger` are the current roles of a pair.
    """

    confidence: str | None = None
    metrics: tuple[MeasuredMetric, ...] = ()
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
        return None if self.confidence is None else parse_score(self.confidence)

    def forget(self, roots: Iterable[str]) -> TaskContext:
        """Return the context without the results under these roots."""
        dropped: JsonObject = {}
        for root in roots:
            dropped.update(_EMPTY_FIELDS.get(root, {}))
        return replace(self, **dropped)

    def bindings(self) -> JsonObject:
        """Return the bindings of guards. A missing result is absent."""
        bindings: JsonObject = dict(self.gate_bindings())
        if self.metrics:
            bindings["metrics"] = {metric.type: metric.value for metric in self.metrics}
        if self.score is not None:
            bindings["confidence_score"] = self.score
        if self.verdict is not None:
            bindings["policy_gate"] = {"verdict": self.verdict}
        return bindings

    def gate_bindings(self) -> JsonObject:
        """Return what may decide a gate's verdict besides evidence: review, pair and person, never confidence."""
        bindings: JsonObject = {}
        if self.decision is not None:
            bindings["review"] = {
                "decision": self.decision,
                "feedback": self.review_feedback,
                "iteration": self.reviews,
                "quality_checks": self.quality_checks,
            }
        if self.challenger_approved is not None:
            bindings["pair"] = {"challenger_approved": self.challenger_approved, "iteration": self.challenges}
        if self.resolved is not None:
            bindings["hil"] = {"resolved": self.resolved}
        return bindings


class TaskRecord(msgspec.Struct, frozen=True):
    """The state and history of a task.

    `iteration` counts how often the agent has worked, `retries` the failed attempts of the current activity, `calls`
    the answered calls of each `agent/purpose`; `reply` is the agent's last reply to work. `item` is the queue item the
    task waits for. `inputs` maps each input to its hash when it was read, `seen` each output to its hash when the
    reviewer or challenger was asked (None: not yet), `locked` each output to its hash when it was approved (None:
    not approved).
    """

    state: TaskState
    context: TaskContext = TaskContext()
    iteration: int = 0
    retries: int = 0
    retry_count: int = 0
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    reply: str = ""
    tokens_used: int = 0
    cost_usd: float = 0.0
    passed: tuple[str, ...] = ()
    max_iterations_exceeded: tuple[str, ...] = ()
    inputs: dict[str, str] = msgspec.field(default_factory=dict)
    seen: dict[str, str] | None = None
    locked: dict[str, str] | None = None
    item: str | None = None
    items: int = 0
    feedback: tuple[dict[str, str], ...] = ()
    history: tuple[JsonObject, ...] = ()
    reason: str = ""
    started: bool = False
    started_at: float = 0.0

    def with_usage(self, usage: AgentUsage) -> TaskRecord:
        tokens, cost = self.tokens_used + usage.tokens, self.cost_usd + usage.cost_usd
        return replace(self, tokens_used=tokens, cost_usd=cost)
