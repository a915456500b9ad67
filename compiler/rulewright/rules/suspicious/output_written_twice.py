from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument
from rulewright.lower.workflow import ancestors
from rulewright.workflow import Workflow


def output_written_twice(workflow: Workflow) -> Findings:
    """Two tasks write the same file without waiting for each other, or one task lists it twice.

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
            earlier = writers.setdefault(artifact.path, [])
            apart = (each for each in earlier if each.id not in above[task.id] and task.id not in above[each.id])
            if task in earlier:
                yield task.warning(artifact.node, artifact.field, f"`{artifact.path}` is listed twice")
            elif (other := next(apart, None)) is not None:
                message = f"`{artifact.path}` is also written by `{other.id}`, which may run at the same time"
                yield task.warning(artifact.node, artifact.field, message)
            earlier.append(task)
