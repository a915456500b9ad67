from collections.abc import Iterator
from pathlib import PurePosixPath

from rulewright import dependencies
from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import scalar, text_scalars
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar, scalars_below
from rulewright.rules.suspicious.misspelt_path import output_meant
from rulewright.workflow import Workflow


def input_nobody_writes(workflow: Workflow) -> Findings:
    """A task or its gate reads a missing file in a folder that tasks write to, and no task writes it.

    Why it matters: the task starts without its input, or its gate never passes, after the tasks before it have been
    paid for. Files of evidence, and those that metrics read, are only reported where tasks write all others; a `*` in
    their paths stands for no other letters.
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
    evidence = [each for task in workflow.document.tasks for each in _evidence(task)]
    unwritten = [each for each in evidence if each.value not in outputs]
    several = {each.value for each in evidence} - {each.value for each in unwritten}
    for each in unwritten if len(unwritten) == 1 < len(several) and dependencies.exists(folder) else ():
        path = each.text
        is_ours = str(PurePosixPath(path).parent) in written and not any(out.startswith(f"{path}/") for out in outputs)
        if is_ours and output_meant(path, outputs) is None and not dependencies.exists(folder / path):
            yield warning(each, f"no task writes the evidence `{path}`, and it does not exist")


def _evidence(task: TaskDocument) -> Iterator[Scalar]:
    """The reports that the gate and the metrics of a task read."""
    for metric in task.metrics if task.on("confidence_loop") else ():
        yield from scalars_below(metric.node.get("source"))
    for key in ("acceptance", "lint", "security", "readiness"):
        yield from text_scalars(task.node, "overlays", "policy_gate", "evidence", key)
        one = scalar(task.node, "overlays", "policy_gate", "evidence", key)
        yield from () if one is None else (one,)
