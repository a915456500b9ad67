"""What the expressions of a task may name: only what its enabled overlays bring about."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, INT, SCORE, STRING, EnumType, MapType, RecordType, Type
from rulewright_runtime.workflow.workflow_plan import EVIDENCE, METRIC_TYPES

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument
    from rulewright.load import Scalar

ADVISORY: Final = frozenset({"confidence_score", "metrics", "confidence_advisory"})  # what no gate may decide by

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
# What only an enabled overlay brings: a condition that reads it elsewhere is never met.
OVERLAY_NAMES: Final = frozenset(("confidence_score", "metrics", "pair", "review", "policy_gate", "hil"))


class Facts(NamedTuple):
    """What decides which names exist in a task's expressions."""

    mode: str | None  # of the confidence loop; None where it is off
    metrics: tuple[str, ...]
    pair: bool
    review: bool
    gate: bool
    hil: bool


def facts(task: TaskDocument) -> Facts:
    """The facts of a task."""
    loop = task.on("confidence_loop")
    mode = None if loop is None else "raw" if loop.text("mode") == "raw" else "composite"
    measured = tuple(dict.fromkeys(metric.type for metric in task.metrics if metric.type in METRIC_TYPES))
    enabled = task.enabled
    return Facts(
        mode,
        measured,
        "paired_workflow" in enabled,
        "agentic_review" in enabled,
        "policy_gate" in enabled,
        "hil" in enabled or task.tier == "T2",
    )


def loop_expressions(task: TaskDocument) -> list[tuple[Scalar, Environment]]:
    """The exit conditions of a task's loops with their environment."""
    conditions = [scalar for loop in task.loops for scalar in loop.conditions]
    return [(scalar, loop_environment(facts(task))) for scalar in conditions]


@cache
def loop_environment(known: Facts) -> Environment:
    """Where a loop's exit conditions are decided."""
    names: dict[str, Type] = {"loop": RecordType("loop", {"iteration": INT})}
    if known.mode is not None:
        names["metrics"] = RecordType("metrics", dict.fromkeys(known.metrics, SCORE))
    if known.mode == "composite":
        names["confidence_score"] = SCORE
    if known.gate:
        names["policy_gate"] = RecordType("policy_gate", {"verdict": EnumType("verdict", ("PASS", "FAIL"))})
    return Environment(variables={**names, **_spoken(known)}, hints=_HINTS)


@cache
def gate_environment(known: Facts) -> Environment:
    """Where the gate's verdict is decided. The advisory names are known, so that reading them can be called by its
    name; nothing that reads them is lowered."""
    status = EnumType("status", ("PASS", "FAIL", "SKIPPED"))
    names: dict[str, Type] = {
        "evidence": RecordType("evidence", dict.fromkeys(EVIDENCE, status)),
        "coverage": SCORE,
        "confidence_score": SCORE,
        "metrics": MapType(STRING, SCORE),
        "confidence_advisory": STRING,
    }
    return Environment(variables={**names, **_spoken(known)}, hints=_HINTS)


@cache
def raw_environment() -> Environment:
    """Where the threshold of the mode `raw` is decided: all metrics, whatever their types."""
    return Environment(variables={"metrics": MapType(STRING, SCORE)})


def _spoken(known: Facts) -> dict[str, Type]:
    """What challengers, reviewers and people say."""
    names: dict[str, Type] = {}
    if known.pair:
        names["pair"] = RecordType("pair", {"challenger_approved": BOOL, "iteration": INT})
    if known.review:
        fields = {
            "decision": EnumType("decision", ("GO", "NO_GO")),
            "feedback": STRING,
            "iteration": INT,
            "quality_checks": MapType(STRING, BOOL),
        }
        names["review"] = RecordType("review", fields)
    if known.hil:
        names["hil"] = RecordType("hil", {"resolved": BOOL})
    return names
