from typing import Final

from rulewright.diagnostics import Findings, Guess, error
from rulewright.documents.base import descend, entries, items, scalar, text
from rulewright.documents.workflow import contract_of
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow
from rulewright_runtime.workflow.artifacts import SUFFIXES, has_format

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
    for task in workflow.document.tasks:
        for artifact in (*task.inputs, *task.outputs):
            contract = contract_of(task, artifact, workflow.resources.contracts, [])
            promised = contract.file_format if contract is not None else None
            if promised and promised not in misspelt and artifact.path and not has_format(artifact.path, promised):
                message = f"`{artifact.path}` is not the name of a `{promised}` file"
                place = scalar(artifact.contract, "file_format") or artifact.contract or artifact.node
                yield task.error(place, f"{artifact.field}.contract", message)
    for loaded in workflow.loaded:
        for entry in entries(loaded.root, "contracts"):
            sections = descend(entry.value, "required_sections")
            if sections is not None and items(sections) and text(entry.value, "file_format").lower() == "json":
                message = f"`{entry.name}` asks a JSON file for sections, which only a text has"
                yield error(sections, message, help="did you mean `required_fields`?")


def _format_meant(written: str) -> Guess | None:
    """The format that an unknown one misspells."""
    word = written.lower().lstrip(".")
    return None if word in FORMATS else did_you_mean(word, FORMATS)
