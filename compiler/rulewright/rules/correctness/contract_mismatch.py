from rulewright.diagnostics import Findings
from rulewright.documents.base import text
from rulewright.documents.workflow import ArtifactDocument, TaskDocument
from rulewright.workflow import Workflow


def contract_mismatch(workflow: Workflow) -> Findings:
    """A task reads a file under another contract than the task that writes it, or overwrites it under none or another.

    Why it matters: the reader gets a file that it can't use, and fails after the writer's work has been paid for.
    Instead: name the same contract and version in both tasks.
    """
    promised: dict[str, list[tuple[TaskDocument, ArtifactDocument, str]]] = {}
    for task in workflow.document.tasks:
        for artifact in task.outputs:
            if name := text(artifact.contract):
                promised.setdefault(artifact.path, []).append((task, artifact, name))
    refused: dict[int, list[tuple[TaskDocument, ArtifactDocument, str]]] = {}
    for task in workflow.document.tasks if promised else ():
        for artifact in task.inputs:
            wanted, writers = text(artifact.contract), promised.get(artifact.path, [])
            if wanted and writers and not any(name == wanted for _, _, name in writers):
                refused.setdefault(id(writers[0][1]), []).append((task, artifact, wanted))
    yield from _of_writers(workflow)
    for writers in promised.values():
        writer, output, name = writers[0]
        yield from _of_output(writer, output, name, refused.get(id(output), []))


def _of_writers(workflow: Workflow) -> Findings:
    """The outputs without a contract, or under another that nobody reads, whose file another task writes under one."""
    wanted = {(each.path, text(each.contract)) for task in workflow.document.tasks for each in task.inputs}
    first: dict[str, tuple[TaskDocument, ArtifactDocument]] = {}
    for task in workflow.document.tasks:
        for artifact in task.outputs:
            writer, before = first.setdefault(artifact.path, (task, artifact))
            earlier, own = text(before.contract), text(artifact.contract)
            is_stage = own and (artifact.path, own) in wanted  # such as a report after its draft
            if writer is not task and earlier and _kind(own) != _kind(earlier) and not is_stage:
                notes = [(before.node, f"written by `{writer.id}`")]
                differs = f"but this says `{own}`" if own else "which this lacks"
                message = f"`{artifact.path}` has the contract `{earlier}`, {differs}"
                yield task.warning(artifact.node, artifact.field, message, notes=notes)


def _of_output(
    writer: TaskDocument, output: ArtifactDocument, name: str, readers: list[tuple[TaskDocument, ArtifactDocument, str]]
) -> Findings:
    """A finding for each reader that wants another contract, or one at the output if several want the same one."""
    if len(readers) > 1 and len({wanted for *_, wanted in readers}) == 1:
        notes = [(artifact.contract or artifact.node, f"read by `{task.id}`") for task, artifact, _ in readers]
        message = _message(output.path, name, readers[0][2])
        yield writer.error(output.contract or output.node, f"{output.field}.contract", message, notes=notes)
        return
    for task, artifact, wanted in readers:
        notes = [(output.contract or output.node, f"the contract of `{writer.id}`")]
        message = _message(output.path, name, wanted)
        yield task.error(artifact.contract or artifact.node, f"{artifact.field}.contract", message, notes=notes)


def _message(path: str, name: str, wanted: str) -> str:
    producer, consumer = (_version(name), _version(wanted)) if _kind(name) == _kind(wanted) else (name, wanted)
    return f"artifact contract mismatch: {path} (producer: {producer}, consumer: {consumer})"


def _kind(name: str) -> str:
    return name.partition("@")[0]


def _version(name: str) -> str:
    version = name.partition("@")[2]
    return f"v{version}" if version[:1].isdecimal() else version
