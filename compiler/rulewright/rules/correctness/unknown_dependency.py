from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.lower.workflow import unawaited_inputs
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
                hint = did_you_mean(needed.text, known) or _author_of_an_input(workflow, task)
                yield task.error(needed, f"dependencies[{number}]", f"task '{needed.value}' not found", help=hint)


def _author_of_an_input(workflow: Workflow, task: TaskDocument) -> str | None:
    """The help that names the task this one should have waited for."""
    early = next((early for each, early in unawaited_inputs(workflow.document) if each is task), [])
    return next((f"`{file.path}`, which this task reads, is written by `{writer.id}`" for file, writer in early), None)
