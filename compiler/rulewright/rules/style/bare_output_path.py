from rulewright.diagnostics import Findings, Fix, replace
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Scalar


def bare_output_path(task: TaskDocument) -> Findings:
    """An output is written as a bare path, which is deprecated.

    Why it matters: a bare path can't carry a contract, so nothing says what the file has to contain.
    Instead: write `{path: note.md}`, with a `contract` where you know one.
    """
    for artifact in task.outputs:
        if isinstance(artifact.node, Scalar):
            fix = _fix(artifact.node)
            message = "a bare output path is deprecated; write `path`"
            yield task.advice(artifact.node, artifact.field, message, fix=fix)


def _fix(node: Scalar) -> Fix | None:
    written = node.source.text[node.start : node.end]
    return None if "\n" in written else replace(node, f"{{path: {written}}}", "write `path`", safe=True)
