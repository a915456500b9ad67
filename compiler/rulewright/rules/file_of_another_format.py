from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import descend, entries, items, text
from rulewright.documents.workflow import contract_of
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.artifacts import has_format


def file_of_another_format(workflow: Workflow) -> Iterator[Diagnostic]:
    """A file name does not fit the `file_format` of its contract, or a contract asks a JSON file for sections.

    Why it matters: the contract is broken whatever the agent writes, so the task fails after its work has been paid
    for.
    Instead: rename the file, or correct the format; a JSON file has `required_fields`.
    """
    for task in workflow.document.tasks:
        for artifact in (*task.inputs, *task.outputs):
            contract = contract_of(task, artifact, workflow.resources.contracts, [])
            promised = contract.file_format if contract is not None else None
            if promised and artifact.path and not has_format(artifact.path, promised):
                message = f"`{artifact.path}` is not the name of a `{promised}` file"
                yield task.error(artifact.contract or artifact.node, f"{artifact.field}.contract", message)
    for loaded in workflow.loaded:
        for entry in entries(loaded.root, "contracts"):
            sections = descend(entry.value, "required_sections")
            if sections is not None and items(sections) and text(entry.value, "file_format").lower() == "json":
                message = f"`{entry.name}` asks a JSON file for sections, which only a text has"
                yield error(sections, message, help="did you mean `required_fields`?")
