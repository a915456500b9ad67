"""The environments of a task's expressions: they declare only names that its enabled overlays provide."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from rulewright.documents.base import text_scalars
from rulewright.documents.workflow import TaskDocument
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, INT, SCORE, STRING, EnumType, MapType, RecordType, Type
from rulewright.load import Scalar
from rulewright_runtime.workflow.workflow_plan import EVIDENCE, METRIC_TYPES

ADVISORY: Final = frozenset({"confidence_score", "metrics", "confidence_advisory"})  # no gate may read these

_HINTS: Final = {
    "confidence_score": "`confidence_score` exists only where `confidence_loop` is enabled with `mode: composite`",
    "metrics": "`metrics` exists only where `confidence_loop` is enabled",
    "pair": "`pair` exists only where `paired_workflow` is enabled",
    "review": "`review` exists only where `agentic_review` is enabled",
    "policy_gate": "`policy_gate` exists only where the gate is enabled",
    "hil": "`hil` exists only where `hil` is enabled, or the gate's tier is T2",
    "loop": "`loop` exists only inside a loop",
    "evidence": "`evidence` exists only in the conditions of `policy_gate`",
    "coverage": "`coverage` exists only in the conditions of `policy_gate`",
}
# Names that only an enabled overlay provides: without it a condition that reads them is never met.
OVERLAY_NAMES: Final = frozenset(("confidence_score", "metrics", "pair", "review", "policy_gate", "hil"))


class TaskFeatures(NamedTuple):
    """The features of a task that decide which names its expressions may use."""

    mode: str | None  # of the confidence loop; None where it is off
    metrics: tuple[str, ...]
    pair: bool
    review: bool
    gate: bool
    hil: bool


def features_of(task: TaskDocument) -> TaskFeatures:
    """Return the features of a task."""
    loop = task.on("confidence_loop")
    mode = None if loop is None else "raw" if loop.text("mode") == "raw" else "composite"
    measured = tuple(dict.fromkeys(metric.type for metric in task.metrics if metric.type in METRIC_TYPES))
    enabled = task.enabled
    return TaskFeatures(
        mode,
        measured,
        "paired_workflow" in enabled,
        "agentic_review" in enabled,
        "policy_gate" in enabled,
        "hil" in enabled or task.tier == "T2",
    )


def task_expressions(task: TaskDocument) -> list[tuple[Scalar, Environment]]:
    """Return the exit conditions of a task's loops and the conditions of its gate, each with its environment."""
    conditions = [scalar for loop in task.loops for scalar in loop.conditions]
    features, of_gate = features_of(task), text_scalars(task.overlays["policy_gate"].find("conditions"))
    return [
        *((scalar, loop_environment(features)) for scalar in conditions),
        *((scalar, gate_environment(features)) for scalar in of_gate),
    ]


@cache
def loop_environment(features: TaskFeatures) -> Environment:
    """The environment of a loop's exit conditions."""
    names: dict[str, Type] = {"loop": RecordType("loop", {"iteration": INT})}
    if features.mode is not None:
        names["metrics"] = RecordType("metrics", dict.fromkeys(features.metrics, SCORE))
    if features.mode == "composite":
        names["confidence_score"] = SCORE
    if features.gate:
        names["policy_gate"] = RecordType("policy_gate", {"verdict": EnumType("verdict", ("PASS", "FAIL"))})
    return Environment(variables={**names, **_reply_types(features)}, hints=_HINTS)


@cache
def gate_environment(features: TaskFeatures) -> Environment:
    """The environment of the gate's conditions. It declares the advisory names, so that reading them can be reported as
    such; no condition that reads them is lowered."""
    status = EnumType("status", ("PASS", "FAIL", "SKIPPED"))
    names: dict[str, Type] = {
        "evidence": RecordType("evidence", dict.fromkeys(EVIDENCE, status)),
        "coverage": SCORE,
        "confidence_score": SCORE,
        "metrics": MapType(STRING, SCORE),
        "confidence_advisory": STRING,
    }
    return Environment(variables={**names, **_reply_types(features)}, hints=_HINTS)


@cache
def raw_environment() -> Environment:
    """The environment of the threshold in the mode `raw`: all metrics, whatever their types."""
    return Environment(variables={"metrics": MapType(STRING, SCORE)})


def _reply_types(features: TaskFeatures) -> dict[str, Type]:
    """The types of the replies of challengers, reviewers and people."""
    names: dict[str, Type] = {}
    if features.pair:
        names["pair"] = RecordType("pair", {"challenger_approved": BOOL, "iteration": INT})
    if features.review:
        fields = {
            "decision": EnumType("decision", ("GO", "NO_GO")),
            "feedback": STRING,
            "iteration": INT,
            "quality_checks": MapType(STRING, BOOL),
        }
        names["review"] = RecordType("review", fields)
    if features.hil:
        names["hil"] = RecordType("hil", {"resolved": BOOL})
    return names
