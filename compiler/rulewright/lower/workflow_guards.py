"""The guards of a task's machine, built from the author's conditions, thresholds and the verdict of its gate."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rulewright.documents.base import items
from rulewright.errors import ExpressionError
from rulewright.expression.build import Built, build
from rulewright.expression.types import BOOL
from rulewright.load import Scalar, place
from rulewright.lower.workflow_environments import (
    ADVISORY,
    OFF,
    Facts,
    gate_environment,
    loop_environment,
    raw_environment,
)
from rulewright.workflows.fixes import drop_item
from rulewright_runtime.ir import Program

if TYPE_CHECKING:
    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.overlays import Loop
    from rulewright.documents.workflow import TaskDocument

PAGES: Final[dict[str, str]] = {
    "gate-reads-confidence": """A condition of the policy gate reads confidence, a metric or the advisory.

    Why it matters: confidence is advice; if it decided the verdict, a task could promote itself by scoring well.
    Instead: ask for evidence (`evidence.verification == PASS`), or put the condition into `exit_conditions`.
    """,
    "bad-condition": """A condition of a workflow that does not parse, or names what does not exist at its place.

    Why it matters: a condition that can never be met keeps a loop going until it is exhausted.
    Instead: follow the message; overlays that are off bring no names, and functions outside the language do not exist.
    """,
}
# With one of these a condition may be met although a part of it never is.
_OTHERWISE: Final = re.compile(r"\|\||\?|!(?!=)|\b(?:or|not)\b|\(")
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
            elif len(self.found) > before:
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
        limit = format(Decimal(repr(number.value)), "f")
        if known.mode == "raw":
            text = f"size(metrics) > 0 && metrics.all(m, metrics[m] >= {limit})"
            return _built(text, None, False)
        return self.ours(f"confidence_score >= {limit}", known)

    def verdict(self, task: TaskDocument, known: Facts, required: list[str], optional: list[str]) -> Program:
        """The gate's verdict: what the tier requires passes, what is optional does not fail, every condition holds."""
        parts = [f"evidence.{name} == PASS" for name in required]
        parts += [f"evidence.{name} != FAIL" for name in optional]
        gate = task.overlays["policy_gate"]
        written = gate.find("conditions") if gate.enabled else None
        for number, scalar in enumerate(items(written)):
            if isinstance(scalar, Scalar) and isinstance(scalar.value, str):
                where = f"overlays.policy_gate.conditions[{number}]"
                if self.authored(task, where, scalar, known, gate=True) is not None:
                    parts.append(f"({scalar.value})")
        return _built(" && ".join(parts), known, True).program

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
        read = {path[0] for path in built.reads} & ADVISORY
        if gate and read:
            message = f"the gate's verdict can't depend on `{min(read)}`: confidence is advisory"
            self.found.append(task.error(scalar, where, message, code="gate-reads-confidence"))
            return None
        return built


def _droppable(
    task: TaskDocument, found: list[Diagnostic], mistaken: list[tuple[Scalar, Diagnostic]]
) -> list[Diagnostic]:
    """The findings, with a fix for each condition that can be dropped: where any of several conditions ends the loop,
    one that asks for what an overlay brings that is off is never met. Lists that tasks share are left alone."""
    fixes: dict[Diagnostic, Diagnostic] = {}
    for scalar, mistake in mistaken:
        own = scalar.source is task.node.source and task.node.start <= scalar.start < task.node.end
        if own and mistake.help in OFF and not _OTHERWISE.search(str(scalar.value)):
            fixes[mistake] = replace(mistake, fix=drop_item(scalar, "remove the condition, which is never met"))
    return [fixes.get(each, each) for each in found]


def _mistakes(task: TaskDocument, where: str, scalar: Scalar, failure: ExpressionError) -> list[Diagnostic]:
    """The mistakes at their places. Calls of what does not exist, and names that belong to an interpreter's inside, are
    called what they are."""
    calls = "__" in failure.text or any(_is_call(mistake.message) for mistake in failure.errors)
    found = []
    for number, mistake in enumerate(failure.errors):
        disallowed = _is_call(mistake.message) or (calls and number == 0)
        message = f"expression uses disallowed construct: {mistake.message}" if disallowed else mistake.message
        at = place(scalar, mistake.start, mistake.end)
        found.append(task.error(at, where, message, code="bad-condition", help=mistake.help))
    return found


def _is_call(message: str) -> bool:
    return message.startswith(("there is no function", "there is no method"))
