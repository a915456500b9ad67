"""Builds the guards of a task's machine from the author's conditions, thresholds and its gate's verdict."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import items, text_scalars
from rulewright.documents.workflow import Overlay, TaskDocument
from rulewright.errors import ExpressionError, Reason
from rulewright.expression.build import Built, build
from rulewright.expression.compose import all_of, fill
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import dotted
from rulewright.expression.types import BOOL, INT, SCORE, STRING, EnumType, MapType, RecordType, Type
from rulewright.load import Scalar, is_text, place
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.workflow.workflow_plan import EVIDENCE, METRIC_TYPES

# The exit condition of an overlay without `exit_conditions`.
DEFAULT_CONDITIONS: Final = {
    "paired_workflow": "pair.challenger_approved == true",
    "agentic_review": "review.decision == GO",
}


@lru_cache(maxsize=16_384)
def condition_of(text: str, features: TaskFeatures, gate: bool = False) -> Built:
    """Build an expression in its environment; cached, since the tasks of a workflow share most of theirs."""
    return build(text, gate_environment(features) if gate else loop_environment(features), expect=BOOL)


class Guards(Struct, frozen=True):
    """Builds the expressions of tasks and adds their mistakes to `findings`."""

    findings: list[Diagnostic]

    def conditions(self, task: TaskDocument, loop: Overlay, features: TaskFeatures) -> list[Built]:
        """Build the author's exit conditions, or the overlay's default; mistakes are added to `findings`."""
        if not loop.conditions and loop.name in DEFAULT_CONDITIONS:
            return [condition_of(DEFAULT_CONDITIONS[loop.name], features)]
        places = [f"{loop.field}.exit_conditions[{number}]" for number in range(len(loop.conditions))]
        built = (self.author_condition(task, *each, features) for each in zip(places, loop.conditions, strict=True))
        return [each for each in built if each is not None]

    def threshold(self, task: TaskDocument, features: TaskFeatures) -> Built | None:
        """Build the threshold's condition, or return None without a threshold."""
        loop = task.on("confidence_loop")
        number = None if loop is None else loop.number("threshold")
        if number is None or not 0 <= number.as_float <= 1:
            return None
        if features.mode == "raw":
            text = fill("size(metrics) > 0 && metrics.all(m, metrics[m] >= threshold)", threshold=number.value)
            return build(text, RAW, expect=BOOL)
        return condition_of(fill("confidence_score >= threshold", threshold=number.value), features)

    def verdict(self, task: TaskDocument, features: TaskFeatures, required: list[str], optional: list[str]) -> Program:
        """The gate's verdict: required evidence passes, optional evidence does not fail, and every condition holds."""
        texts = [fill("status == PASS", status=dotted("evidence", name)) for name in required]
        texts += [fill("status != FAIL", status=dotted("evidence", name)) for name in optional]
        parts = [condition_of(text, features, True) for text in texts]
        gate = task.overlays["policy_gate"]
        written = gate.find("conditions") if gate.enabled else None
        for number, scalar in enumerate(items(written)):
            if is_text(scalar):
                location = f"overlays.policy_gate.conditions[{number}]"
                built = self.author_condition(task, location, scalar, features, gate=True)
                parts += [] if built is None else [built]
        program = all_of([built.program for built in parts])
        try:
            validate(program)
        except PlanError:
            message = "the conditions of the gate are too large together"
            place = task if written is None else written
            self.findings.append(task.error(place, "overlays.policy_gate.conditions", message, code="bad-condition"))
        return program

    def author_condition(
        self, task: TaskDocument, location: str, scalar: Scalar, features: TaskFeatures, *, gate: bool = False
    ) -> Built | None:
        """Build an author's condition, or return None with its mistakes added to `findings`."""
        text = scalar.text
        try:
            condition = condition_of(text, features, gate)
        except ExpressionError as failure:
            self.findings.extend(_mistakes(task, location, scalar, failure))
            return None
        read = {names[0] for names in condition.reads} & ADVISORY
        if gate and read:
            message = f"the gate's verdict can't depend on `{min(read)}`: confidence is advisory"
            self.findings.append(task.error(scalar, location, message, code="gate-reads-confidence"))
            return None
        return condition


def _mistakes(task: TaskDocument, location: str, scalar: Scalar, failure: ExpressionError) -> list[Diagnostic]:
    """The mistakes as findings at their spans. Calls of unknown functions and names with `__` are reported as
    disallowed constructs."""
    calls = "__" in failure.text or any(mistake.reason is Reason.UNKNOWN_FUNCTION for mistake in failure.errors)
    findings = []
    for number, mistake in enumerate(failure.errors):
        disallowed = mistake.reason is Reason.UNKNOWN_FUNCTION or (calls and number == 0)
        message = f"expression uses disallowed construct: {mistake.message}" if disallowed else mistake.message
        span = place(scalar, mistake.start, mistake.end)
        findings.append(task.error(span, location, message, code="bad-condition", help=mistake.help))
    return findings


ADVISORY: Final = frozenset({"confidence_score", "metrics", "confidence_advisory"})  # no gate may read these

_HINTS: Final = {
    "confidence_score": "`confidence_score` exists only where `confidence_loop` is enabled with `mode: composite`",
    "metrics": "`metrics` exists only where `confidence_loop` is enabled",
    "pair": "`pair` exists only where `paired_workflow` is enabled",
    "review": "`review` exists only where `agentic_review` is enabled",
    "policy_gate": "`policy_gate` exists only where the gate is enabled",
    "hil": "`hil` exists only where `hil` is enabled, or the gate's tier is T2",
    "loop": "`loop` exists only in the exit conditions of a loop",
    "evidence": "`evidence` exists only in the conditions of `policy_gate`",
    "coverage": "`coverage` exists only in the conditions of `policy_gate`",
}
_HINTS_OF_THE_GATE: Final = {
    **_HINTS,
    "policy_gate": "the conditions of `policy_gate` decide its verdict; they can read `evidence` and `coverage`",
}


class TaskFeatures(NamedTuple):
    """The features of a task that decide which names its expressions may use."""

    mode: str | None  # of the confidence loop; None where it is off
    metrics: tuple[str, ...]
    pair: bool
    review: bool
    gate: bool
    hil: bool


def features_of(task: TaskDocument) -> TaskFeatures:
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
    return Environment(variables={**names, **_reply_types(features)}, hints=_HINTS_OF_THE_GATE)


# The environment of the threshold in the mode `raw`: all metrics, whatever their types.
RAW: Final = Environment(variables={"metrics": MapType(STRING, SCORE)})


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
