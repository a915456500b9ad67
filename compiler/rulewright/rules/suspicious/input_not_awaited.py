from rulewright.diagnostics import Findings
from rulewright.lower.workflow import ancestors
from rulewright.workflow import Workflow


def input_not_awaited(workflow: Workflow) -> Findings:
    """A task reads a file that another task writes, but does not depend on that task.

    Why it matters: it may run first, and then reads an old file or none.
    Instead: add the other task to `dependencies`.
    """
    writers = {artifact.path: task for task in reversed(workflow.document.tasks) for artifact in task.outputs}
    if not writers:
        return
    above = ancestors(workflow.document)
    for task in workflow.document.tasks:
        early = [
            (artifact, writer)
            for artifact in task.inputs
            if (writer := writers.get(artifact.path)) is not None
            if writer is not task and writer.id not in above[task.id]
        ]
        if early:
            (first, writer), *others = early
            message = f"`{first.path}` is written by `{writer.id}`, which this task does not wait for"
            notes = [(each.node, f"written by `{other.id}`") for each, other in others]
            help = f"add `{writer.id}` to `dependencies`"
            yield task.warning(first.node, first.field, message, help=help, notes=notes)
