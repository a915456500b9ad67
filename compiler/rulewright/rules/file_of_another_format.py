"""Rule: a file name that does not fit the format of its contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import optional_text
from rulewright.documents.workflow import contract_of
from rulewright.load import Mapping, walk
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.artifacts import has_format

NEVER: Final = {"required_fields": ("text", "txt"), "required_sections": ("json",)}


def file_of_another_format(workflow: Workflow) -> Iterator[Diagnostic]:
    """A file name, or what a contract requires, does not fit the `file_format` of the contract.

    Why it matters: the contract is broken whatever the agent writes, so the task fails after its work has been paid
    for.
    Instead: rename the file, or correct the format.
    """
    yield from _unfit(workflow)
    for task in workflow.document.tasks:
        for artifact in (*task.inputs, *task.outputs):
            contract = contract_of(task, artifact, workflow.resources.contracts, [])
            promised = contract.file_format if contract is not None else None
            if promised and artifact.path and not has_format(artifact.path, promised):
                message = f"`{artifact.path}` is not the name of a `{promised}` file"
                yield task.error(artifact.contract or artifact.node, f"{artifact.field}.contract", message)


def _unfit(workflow: Workflow) -> Iterator[Diagnostic]:
    """The contracts that require fields of a text, or sections of a JSON file."""
    nodes = (node for loaded in workflow.loaded for node in walk(loaded.root) if isinstance(node, Mapping))
    for node in nodes:
        promised = (optional_text(node, "file_format") or "").lower()
        for key, formats in NEVER.items():
            if key in node and promised in formats:
                other = next(each for each in NEVER if each != key)
                yield error(
                    node.key_span(key), f"a `{promised}` file has no {key.split('_')[1]}", help=f"write `{other}`"
                )
