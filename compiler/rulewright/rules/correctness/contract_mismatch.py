from rulewright.diagnostics import Findings
from rulewright.documents.base import text
from rulewright.documents.workflow import ArtifactDocument, TaskDocument
from rulewright.workflow import Workflow


def contract_mismatch(workflow: Workflow) -> Findings:
    """A task reads a file under another contract than the task that writes it.

    Why it matters: the reader gets a file that it can't use, and fails after the writer's work has been paid for.
    Instead: name the same contract and version in both tasks.
    """
    promised: dict[str, list[tuple[TaskDocument, ArtifactDocument, str]]] = {}
    for task in workflow.document.tasks:
        for artifact in task.outputs:
            if name := text(artifact.contract):
                promised.setdefault(artifact.path, []).append((task, artifact, name))
    for task in workflow.document.tasks if promised else ():
        for artifact in task.inputs:
            wanted, writers = text(artifact.contract), promised.get(artifact.path, [])
            if not wanted or not writers or any(name == wanted for _, _, name in writers):
                continue
            writer, output, name = writers[0]
            producer, consumer = (_version(name), _version(wanted)) if _kind(name) == _kind(wanted) else (name, wanted)
            message = f"artifact contract mismatch: {artifact.path} (producer: {producer}, consumer: {consumer})"
            notes = [(output.contract or output.node, f"the contract of `{writer.id}`")]
            yield task.error(artifact.contract or artifact.node, f"{artifact.field}.contract", message, notes=notes)


def _kind(name: str) -> str:
    return name.partition("@")[0]


def _version(name: str) -> str:
    version = name.partition("@")[2]
    return f"v{version}" if version[:1].isdecimal() else version
