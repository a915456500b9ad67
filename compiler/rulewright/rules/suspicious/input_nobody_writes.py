from pathlib import PurePosixPath

from rulewright import dependencies
from rulewright.diagnostics import Findings
from rulewright.rules.suspicious.misspelt_path import output_meant
from rulewright.workflow import Workflow


def input_nobody_writes(workflow: Workflow) -> Findings:
    """A task reads a file in a folder that tasks write to, but no task writes this file, and it does not exist.

    Why it matters: the task starts without its input, after the tasks before it have been paid for.
    Instead: correct the path, or list the file in the `outputs` of the task that writes it.
    """
    folder = workflow.place("folder", ".")
    outputs = {artifact.path for task in workflow.document.tasks for artifact in task.outputs}
    written = {str(PurePosixPath(path).parent) for path in outputs} - {"."}
    for task in workflow.document.tasks if dependencies.exists(folder) else ():
        for artifact in task.inputs:
            path = artifact.path
            is_ours = path not in outputs and "*" not in path and str(PurePosixPath(path).parent) in written
            if is_ours and output_meant(path, outputs) is None and not dependencies.exists(folder / path):
                message = f"no task writes `{path}`, and it does not exist"
                yield task.warning(artifact.node, artifact.field, message)
