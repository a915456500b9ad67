from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.lower.workflow import ancestors
from rulewright.workflow import Workflow


def input_not_awaited(workflow: Workflow) -> Iterator[Diagnostic]:
    """A task reads a file that another task writes, but does not depend on that task.

    Why it matters: it may run first, and then reads an old file or none.
    Instead: add the other task to `dependencies`.
    """
    writers = {artifact.path: task for task in reversed(workflow.document.tasks) for artifact in task.outputs}
    if not writers:
        return
    above = ancestors(workflow.document)
    for task in workflow.document.tasks:
        for artifact in task.inputs:
            writer = writers.get(artifact.path)
            if writer is not None and writer is not task and writer.id not in above[task.id]:
                message = f"`{artifact.path}` is written by `{writer.id}`, which this task does not wait for"
                yield task.warning(artifact.node, artifact.field, message, help=f"add `{writer.id}` to `dependencies`")
