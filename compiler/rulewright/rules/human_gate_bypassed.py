"""Rule: a person who is never asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.documents.workflow import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic
    from rulewright.documents.workflow import TaskDocument


def human_gate_bypassed(task: TaskDocument) -> Iterator[Diagnostic]:
    """A task sets `requires_human` while `hil` is off.

    Why it matters: the task runs without the pause its author asked for.
    Instead: turn `hil` on, or drop `requires_human`.
    """
    if task.requires_human and "hil" not in task.enabled:
        message = "`hil` is off, so the task runs without waiting for a person"
        yield task.warning(nearest(task, "requires_human"), "requires_human", message)
