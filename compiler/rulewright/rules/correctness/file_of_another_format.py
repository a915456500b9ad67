from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, Guess, error
from rulewright.documents.base import descend, entries, items, scalar, text
from rulewright.documents.workflow import ArtifactDocument, TaskDocument, contract_of
from rulewright.load import Scalar
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.artifacts import SUFFIXES, has_format
from rulewright_runtime.workflow.workflow_plan import Contract

OTHERS: Final = ("csv", "json", "jsonl", "sarif", "toml", "tsv", "txt", "xml")  # formats named like their suffix
FORMATS: Final = frozenset({*SUFFIXES, *OTHERS, *(each[1:] for suffixes in SUFFIXES.values() for each in suffixes)})


def file_of_another_format(workflow: Workflow) -> Findings:
    """A file name does not fit the `file_format` of its contract, the format is misspelt, or JSON must have sections.

    Why it matters: the contract is broken whatever the agent writes, so the task fails after its work has been paid
    for.
    Instead: rename the file, or correct the format; a JSON file has `required_fields`.
    """
    inline = [each.contract for task in workflow.document.tasks for each in (*task.inputs, *task.outputs)]
    named = [entry.value for loaded in workflow.loaded for entry in entries(loaded.root, "contracts")]
    misspelt = set()
    for written in (scalar(each, "file_format") for each in (*named, *inline)):
        if written is not None and (near := _format_meant(written.text)):
            misspelt.add(written.value)
            yield error(written, f"unknown format `{written.value}`", help=near)
    artifacts = [*_artifacts(workflow)]
    wrong = dict(_wrong_for_all(workflow, [each for each in artifacts if each[2].file_format not in misspelt]))
    for written in wrong.values():
        yield error(written, f"no file with this contract has the name of a `{written.value}` file")
    for task, artifact, contract in artifacts:
        if contract.type not in wrong and contract.file_format not in misspelt and not _fits(artifact, contract):
            message = f"`{artifact.path}` is not the name of a `{contract.file_format}` file"
            place = scalar(artifact.contract, "file_format") or artifact.contract or artifact.node
            yield task.error(place, f"{artifact.field}.contract", message)
    for loaded in workflow.loaded:
        for entry in entries(loaded.root, "contracts"):
            sections = descend(entry.value, "required_sections")
            if sections is not None and items(sections) and text(entry.value, "file_format").lower() == "json":
                message = f"`{entry.name}` asks a JSON file for sections, which only a text has"
                yield error(sections, message, help="did you mean `required_fields`?")


def _artifacts(workflow: Workflow) -> Iterator[tuple[TaskDocument, ArtifactDocument, Contract]]:
    """The artifacts of a path with a contract that promises a format."""
    for task in workflow.document.tasks:
        for artifact in (*task.inputs, *task.outputs):
            contract = contract_of(task, artifact, workflow.resources.contracts, [])
            if contract is not None and contract.file_format and artifact.path:
                yield task, artifact, contract


def _fits(artifact: ArtifactDocument, contract: Contract) -> bool:
    return not contract.file_format or has_format(artifact.path, contract.file_format)


def _wrong_for_all(
    workflow: Workflow, artifacts: list[tuple[TaskDocument, ArtifactDocument, Contract]]
) -> Iterator[tuple[str, Scalar]]:
    """The types of contracts whose format fits no file, where several places name their files otherwise."""
    for loaded in workflow.loaded:
        for entry in entries(loaded.root, "contracts"):
            fits = [_fits(artifact, contract) for _, artifact, contract in artifacts if contract.type == entry.name]
            written = scalar(entry.value, "file_format")
            if written is not None and len(fits) > 1 and not any(fits):
                yield entry.name, written


def _format_meant(written: str) -> Guess | None:
    """The format that an unknown one misspells."""
    word = written.lower().lstrip(".")
    return None if word in FORMATS else did_you_mean(word, FORMATS)
