"""Rule: two tasks that write one file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic
from rulewright.lower.workflow_order import ancestors

if TYPE_CHECKING:
    from rulewright.documents.workflow import TaskDocument
    from rulewright.workflow import Workflow


def output_written_twice(workflow: Workflow) -> Iterator[Diagnostic]:
    """Two tasks write the same file, and neither has to wait for the other.

    Why it matters: they may run side by side, and whoever is later wins.
    Instead: make one depend on the other, or let them write different files.
    """
    if not any(task.outputs for task in workflow.document.tasks):
        return
    above = ancestors(workflow.document)
    writers: dict[str, list[TaskDocument]] = {}
    for task in workflow.document.tasks:
        for artifact in task.outputs:
            for other in writers.setdefault(artifact.path, []):
                if other.id not in above[task.id] and task.id not in above[other.id] and other is not task:
                    message = f"`{artifact.path}` is also written by `{other.id}`, which may run at the same time"
                    yield task.warning(artifact.node, artifact.field, message)
            writers[artifact.path].append(task)
