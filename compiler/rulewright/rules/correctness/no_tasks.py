from rulewright.diagnostics import Findings, error
from rulewright.load import Sequence
from rulewright.workflow import Workflow


def no_tasks(workflow: Workflow) -> Findings:
    """The workflow has no tasks.

    Why it matters: a run of it is refused, and nothing can be proved about it.
    Instead: add tasks, or remove the file.
    """
    document = workflow.document
    if not document.tasks and "tasks" in document.node and not isinstance(document.node.get("tasks"), Sequence):
        yield error(document.key_place("tasks"), "the workflow has no tasks")
