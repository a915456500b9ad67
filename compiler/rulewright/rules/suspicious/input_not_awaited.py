from rulewright.diagnostics import Findings
from rulewright.lower.workflow import unawaited_inputs
from rulewright.workflow import Workflow


def input_not_awaited(workflow: Workflow) -> Findings:
    """A task reads a file that another task writes, but does not depend on that task.

    Why it matters: it may run first, and then reads an old file or none.
    Instead: add the other task to `dependencies`.
    """
    for task, early in unawaited_inputs(workflow.document):
        (first, writer), *others = early
        message = f"`{first.path}` is written by `{writer.id}`, which this task does not wait for"
        notes = [(each.node, f"written by `{other.id}`") for each, other in others]
        help = f"add `{writer.id}` to `dependencies`"
        yield task.warning(first.node, first.field, message, help=help, notes=notes)
