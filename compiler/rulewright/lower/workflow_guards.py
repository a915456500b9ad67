"""The guards of a task's machine, built from the author's conditions, thresholds and the verdict of its gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rulewright.diagnostics import Diagnostic
from rulewright.documents.base import items
from rulewright.documents.overlays import Loop
from rulewright.documents.workflow import TaskDocument
from rulewright.documents.workflow_fixes import drop_item
from rulewright.errors import ExpressionError, Reason
from rulewright.expression.build import Built, build
from rulewright.expression.compose import all_of, fill, path
from rulewright.expression.nodes import Binary, Expr, ListLiteral, Literal, Name, Select, children
from rulewright.expression.parser import parse
from rulewright.expression.types import BOOL
from rulewright.load import Scalar, place
from rulewright.lower.workflow_environments import (
    ADVISORY,
    OVERLAY_NAMES,
    Facts,
    gate_environment,
    loop_environment,
    raw_environment,
)
from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate

PAGES: Final[dict[str, str]] = {
    "gate-reads-confidence": """A condition of the policy gate reads confidence, a metric or the advisory.

    Why it matters: confidence is advice; if it decided the verdict, a task could promote itself by scoring well.
    Instead: ask for evidence (`evidence.verification == PASS`), or put the condition into `exit_conditions`.
    """,
    "bad-condition": """A condition of a workflow that does not parse, or names what does not exist at its place.

    Why it matters: a condition that can never be met keeps a loop going until it is exhausted.
    Instead: correct the part that is marked; an overlay that is off declares no names.
    """,
}
# Conditions of overlays whose author wrote none.
USUAL: Final = {
    "paired_workflow": "pair.challenger_approved == true",
    "agentic_review": "review.decision == GO",
}


@lru_cache(maxsize=16_384)
def _built(text: str, known: Facts | None, gate: bool) -> Built:
    """The expression built at its place; tasks of one workflow share most of theirs."""
    if known is None:
        return build(text, raw_environment(), expect=BOOL)
    return build(text, gate_environment(known) if gate else loop_environment(known), expect=BOOL)


@dataclass(frozen=True, slots=True)
class Guards:
    """Builds the expressions of tasks, and adds what is wrong with them to `found`."""

    found: list[Diagnostic]

    def conditions(self, task: TaskDocument, loop: Loop, known: Facts) -> list[Built]:
        """The author's exit conditions, or the usual one of the overlay; mistakes are added to `found`."""
        if not loop.conditions and loop.name in USUAL:
            return [self.ours(USUAL[loop.name], known)]
        kept: list[Built] = []
        mistaken: list[tuple[Scalar, Diagnostic]] = []
        for number, scalar in enumerate(loop.conditions):
            before = len(self.found)
            built = self.authored(task, f"{loop.field}.exit_conditions[{number}]", scalar, known)
            if built is not None:
                kept.append(built)
            elif len(self.found) > before and _is_never_met(str(scalar.value), known):
                mistaken.append((scalar, self.found[before]))
        if kept and loop.mode == "any":
            self.found[:] = _droppable(task, self.found, mistaken)
        return kept

    def threshold(self, task: TaskDocument, known: Facts) -> Built | None:
        """The threshold as an expression, or None where there is none."""
        loop = task.on("confidence_loop")
        number = None if loop is None else loop.number("threshold")
        if number is None or not 0 <= float(str(number.value)) <= 1:
            return None
        if known.mode == "raw":
            text = fill("size(metrics) > 0 && metrics.all(m, metrics[m] >= threshold)", threshold=number.value)
            return _built(text, None, False)
        return self.ours(fill("confidence_score >= threshold", threshold=number.value), known)

    def verdict(self, task: TaskDocument, known: Facts, required: list[str], optional: list[str]) -> Program:
        """The gate's verdict: what the tier requires passes, what is optional does not fail, every condition holds."""
        texts = [fill("status == PASS", status=path("evidence", name)) for name in required]
        texts += [fill("status != FAIL", status=path("evidence", name)) for name in optional]
        parts = [_built(text, known, True) for text in texts]
        gate = task.overlays["policy_gate"]
        written = gate.find("conditions") if gate.enabled else None
        for number, scalar in enumerate(items(written)):
            if isinstance(scalar, Scalar) and isinstance(scalar.value, str):
                where = f"overlays.policy_gate.conditions[{number}]"
                built = self.authored(task, where, scalar, known, gate=True)
                parts += [] if built is None else [built]
        program = all_of([built.program for built in parts])
        try:
            validate(program)
        except PlanError:
            message = "the conditions of the gate are too large together"
            place = task if written is None else written
            self.found.append(task.error(place, "overlays.policy_gate.conditions", message, code="bad-condition"))
        return program

    def ours(self, text: str, known: Facts) -> Built:
        """An expression of our own at a place where a loop is decided."""
        return _built(text, known, False)

    def authored(
        self, task: TaskDocument, where: str, scalar: Scalar, known: Facts, *, gate: bool = False
    ) -> Built | None:
        """The author's condition, or None with its mistakes added to `found`."""
        text = str(scalar.value)
        try:
            built = _built(text, known, gate)
        except ExpressionError as failure:
            self.found.extend(_mistakes(task, where, scalar, failure))
            return None
        read = {names[0] for names in built.reads} & ADVISORY
        if gate and read:
            message = f"the gate's verdict can't depend on `{min(read)}`: confidence is advisory"
            self.found.append(task.error(scalar, where, message, code="gate-reads-confidence"))
            return None
        return built


def _is_never_met(text: str, known: Facts) -> bool:
    """Whether a condition, which has mistakes, asks for what only an overlay brings that is off, and can't be met by
    anything else in it."""
    try:
        _built(text, known, False)
    except ExpressionError as failure:
        first = failure.errors[0]
        if first.reason is not Reason.UNKNOWN_NAME or text[first.start : first.end] not in OVERLAY_NAMES:
            return False
    return _is_conjunction(parse(text))


def _is_conjunction(tree: Expr) -> bool:
    """Whether a condition is comparisons joined by `and`, so that each of them has to be met."""
    if isinstance(tree, Binary):
        return tree.operator != "||" and all(map(_is_conjunction, children(tree)))
    return isinstance(tree, (Name, Select, Literal, ListLiteral))


def _droppable(
    task: TaskDocument, found: list[Diagnostic], mistaken: list[tuple[Scalar, Diagnostic]]
) -> list[Diagnostic]:
    """The findings, with a fix for each condition that can be dropped: where any of several conditions ends the loop,
    one that asks for what an overlay brings that is off is never met. Lists that tasks share are left alone."""
    fixes: dict[Diagnostic, Diagnostic] = {}
    for scalar, mistake in mistaken:
        own = scalar.source is task.node.source and task.node.start <= scalar.start < task.node.end
        if own:
            fixes[mistake] = replace(mistake, fix=drop_item(scalar, "remove the condition, which is never met"))
    return [fixes.get(each, each) for each in found]


def _mistakes(task: TaskDocument, where: str, scalar: Scalar, failure: ExpressionError) -> list[Diagnostic]:
    """The mistakes at their places. Calls of what does not exist, and names that belong to an interpreter's inside, are
    called what they are."""
    calls = "__" in failure.text or any(mistake.reason is Reason.UNKNOWN_FUNCTION for mistake in failure.errors)
    found = []
    for number, mistake in enumerate(failure.errors):
        disallowed = mistake.reason is Reason.UNKNOWN_FUNCTION or (calls and number == 0)
        message = f"expression uses disallowed construct: {mistake.message}" if disallowed else mistake.message
        at = place(scalar, mistake.start, mistake.end)
        found.append(task.error(at, where, message, code="bad-condition", help=mistake.help))
    return found
