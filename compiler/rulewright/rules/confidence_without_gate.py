"""Rule: confidence with nobody to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.workflows.fixes import add_overlay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.workflow import TaskDocument


def confidence_without_gate(task: TaskDocument) -> Iterator[Diagnostic]:
    """A task has a confidence loop, but no enabled policy gate.

    Why it matters: confidence is advice and never promotes; a gate of tier T1 is added, which asks for evidence that
    the author may not have thought of.
    Instead: enable `policy_gate` and choose its tier.
    """
    loop = task.on("confidence_loop")
    if loop is not None and task.gate_is_implicit:
        message = "confidence never promotes by itself; without an enabled `policy_gate` a gate of tier T1 is added"
        yield task.warning(loop.place, loop.field, message, fix=add_overlay(task, "policy_gate", "risk_tier: T1"))
