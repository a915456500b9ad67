"""Rule: a sign-off that waits although people are off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument


def sign_off_without_hil(task: TaskDocument) -> Iterator[Diagnostic]:
    """A gate of tier T2 stands in a task whose `hil` is off.

    Why it matters: T2 always waits for a person's sign-off, whatever `hil` says, so the task stops there all the same.
    Instead: turn `hil` on, so that exhausted loops ask a person as well, or choose another tier.
    """
    if task.tier == "T2" and "hil" not in task.enabled:
        place = task.overlays["policy_gate"].find("risk_tier") or task.key
        message = "`hil` is off, but a T2 gate waits for a person's sign-off all the same"
        yield task.warning(place, "overlays.policy_gate.risk_tier", message)
