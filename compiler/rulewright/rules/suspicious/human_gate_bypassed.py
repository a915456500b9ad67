from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument, span_in_task


def human_gate_bypassed(task: TaskDocument) -> Findings:
    """A task sets `requires_human`, but `hil` is off.

    Why it matters: the task runs without the pause that its author asked for.
    Instead: turn `hil` on, or remove `requires_human`.
    """
    if task.requires_human and "hil" not in task.enabled:
        message = "`hil` is off, so the task runs without waiting for a person"
        yield task.warning(span_in_task(task, "requires_human"), "requires_human", message)
