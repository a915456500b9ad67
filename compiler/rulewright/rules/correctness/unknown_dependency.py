from rulewright.diagnostics import Findings
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow


def unknown_dependency(workflow: Workflow) -> Findings:
    """A task depends on a task that the workflow does not have.

    Why it matters: it would wait forever, or start without what it needs.
    Instead: correct the id.
    """
    known = [task.id for task in workflow.document.tasks]
    for task in workflow.document.tasks:
        for number, needed in enumerate(task.dependencies):
            if needed.value not in known:
                hint = did_you_mean(needed.text, known)
                yield task.error(needed, f"dependencies[{number}]", f"task '{needed.value}' not found", help=hint)
