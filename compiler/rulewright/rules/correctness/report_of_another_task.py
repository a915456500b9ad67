import re

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar
from rulewright.rules.suspicious.report_of_another_kind import reports_of
from rulewright.workflow import Workflow


def report_of_another_task(workflow: Workflow) -> Findings:
    """A task reads the report of another task, although its other reports are named after itself.

    Why it matters: the gate or the metric judges other work than that of the task. Usually the path was copied.
    Instead: name the report of this task.
    """
    reports = {task.id: [each.path for each in reports_of(task)] for task in workflow.document.tasks}
    owners = {path.text: set[str]() for paths in reports.values() for path in paths}
    for name, paths in reports.items():
        for path in paths:
            owners[path.text].add(name)
    for task in workflow.document.tasks:
        own = [path for path in reports[task.id] if _names(path, task)]
        for path in reports[task.id] if own else ():
            others = [other for other in workflow.document.tasks if other.id in owners[path.text] - {task.id}]
            other = next((each for each in others if _names(path, each)), None)
            if other is not None and not _names(path, task):
                message = (
                    f"`{path.value}` is the report of the task `{other.id}`, and `{own[0].value}` that of `{task.id}`"
                )
                yield warning(path, message, help=Guess(path.text.replace(other.id, task.id)))


def _names(path: Scalar, task: TaskDocument) -> bool:
    text = path.text
    return task.id in text and re.search(rf"(?<![a-zA-Z0-9]){re.escape(task.id)}(?![a-zA-Z0-9])", text) is not None
