"""Rule: a file that is written twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulewright.diagnostics import Diagnostic
from rulewright.documents.workflow import TaskDocument
from rulewright.lower.workflow import ancestors
from rulewright.spelling import Guess
from rulewright.workflow import Workflow


def _awaited(workflow: Workflow, task: TaskDocument, before: Mapping[str, object]) -> str | None:
    """A file that no task writes, and that one reads which waits for this task."""
    written = {artifact.path for each in workflow.document.tasks for artifact in each.outputs} | before.keys()
    return next(
        (
            artifact.path
            for each in workflow.document.tasks
            for artifact in each.inputs
            if task.id in [name.value for name in each.dependencies] and artifact.path not in written
        ),
        None,
    )


def output_written_twice(workflow: Workflow) -> Iterator[Diagnostic]:
    """Two tasks write the same file at once or in place of one that is read, or a task lists it twice.

    Why it matters: the tasks may run at the same time, and the later one wins; where one task lists a file twice, two
    files were meant.
    Instead: make one task depend on the other, or write different files.
    """
    if not any(task.outputs for task in workflow.document.tasks):
        return
    above = ancestors(workflow.document)
    writers: dict[str, list[TaskDocument]] = {}
    for task in workflow.document.tasks:
        for artifact in task.outputs:
            for other in writers.setdefault(artifact.path, []):
                if other is task:
                    yield task.warning(artifact.node, artifact.field, f"`{artifact.path}` is listed twice")
                elif other.id not in above[task.id] and task.id not in above[other.id]:
                    message = f"`{artifact.path}` is also written by `{other.id}`, which may run at the same time"
                    yield task.warning(artifact.node, artifact.field, message)
                elif unwritten := _awaited(workflow, task, writers):
                    message = f"`{artifact.path}` is also written by `{other.id}`, and nobody writes `{unwritten}`"
                    yield task.warning(artifact.node, artifact.field, message, help=Guess(unwritten))
            writers[artifact.path].append(task)
