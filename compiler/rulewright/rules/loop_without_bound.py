"""Rule: a loop that might run for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic
from rulewright.documents.workflow_fixes import add_key

if TYPE_CHECKING:
    from rulewright.workflow import Workflow


def loop_without_bound(workflow: Workflow) -> Iterator[Diagnostic]:
    """A loop has no `max_iterations`.

    Why it matters: a loop whose condition is never met would go on for ever, and spend money all the while. A default
    elsewhere does not count: the bound stands where the loop stands.
    Instead: write `max_iterations`.
    """
    usual = workflow.document.default_iterations or 5
    for task in workflow.document.tasks:
        for loop in task.loops:
            if loop.find("max_iterations") is None:
                fix = add_key(loop.node, "max_iterations", str(usual))
                yield task.error(loop.head, f"{loop.field}.max_iterations", "loop requires max_iterations", fix=fix)
