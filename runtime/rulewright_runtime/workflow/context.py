"""The context that the overlays of one task share: what each said of the present outputs, typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from rulewright_runtime.score import Score, parse_score

_FORGOTTEN: Final[Mapping[str, dict[str, Any]]] = {
    "confidence_score": {"confidence": None, "advisory": ""},
    "metrics": {"metrics": ()},
    "review": {"decision": None},
    "pair": {"challenger_approved": None, "subtask_completed": False},
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


class TaskContext(msgspec.Struct, frozen=True):
    """What the overlays know of a task. None and nothing mean that it was not said of the present outputs.

    `confidence` is the exact score as `4/5`. `driver` and `challenger` are the present roles of a pair.
    """

    confidence: str | None = None
    metrics: tuple[Measured, ...] = ()
    advisory: str = ""
    decision: Literal["GO", "NO_GO"] | None = None
    challenger_approved: bool | None = None
    subtask_completed: bool = False
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
        dropped: dict[str, Any] = {}
        for root in roots:
            dropped.update(_FORGOTTEN.get(root, {}))
        return msgspec.structs.replace(self, **dropped)

    def bindings(self) -> dict[str, Any]:
        """What guards see. What was not said is absent."""
        made: dict[str, Any] = {"pair": {}, "review": {}, "policy_gate": {}, "hil": {}}
        if self.score is not None:
            made["confidence_score"] = self.score
            made["metrics"] = {metric.type: metric.value for metric in self.metrics}
        if self.decision is not None:
            made["review"]["decision"] = self.decision
        made["pair"] = self._pair()
        if self.verdict is not None:
            made["policy_gate"]["verdict"] = self.verdict
        if self.resolved is not None:
            made["hil"]["resolved"] = self.resolved
        return made

    def gate_bindings(self) -> dict[str, Any]:
        """What decides a gate's verdict besides evidence: review and pair, and never confidence."""
        return {"review": {} if self.decision is None else {"decision": self.decision}, "pair": self._pair()}

    def _pair(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.challenger_approved is not None:
            made["challenger_approved"] = self.challenger_approved
        if self.driver:
            made |= {"driver_agent": self.driver, "challenger_agent": self.challenger}
            made["subtask_completed"] = self.subtask_completed
        return made
