from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.workflow import contract_of
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.artifacts import has_format


def file_of_another_format(workflow: Workflow) -> Iterator[Diagnostic]:
    """The file name of an input or output does not fit the `file_format` of its contract.

    Why it matters: the contract is broken whatever the agent writes, so the task fails after its work has been paid
    for.
    Instead: rename the file, or correct the format.
    """
    for task in workflow.document.tasks:
        for artifact in (*task.inputs, *task.outputs):
            contract = contract_of(task, artifact, workflow.resources.contracts, [])
            promised = contract.file_format if contract is not None else None
            if promised and artifact.path and not has_format(artifact.path, promised):
                message = f"`{artifact.path}` is not the name of a `{promised}` file"
                yield task.error(artifact.contract or artifact.node, f"{artifact.field}.contract", message)
