from pathlib import PurePosixPath, PureWindowsPath

from rulewright.diagnostics import Findings
from rulewright.documents.workflow import TaskDocument


def output_outside_the_project(task: TaskDocument) -> Findings:
    """An output is an absolute path, or one above the working folder.

    Why it matters: only files of the project can be shown to reviewers and locked, so the task fails after its work has
    been paid for.
    Instead: write a path below the working folder, without a slash at its beginning.
    """
    for artifact in task.outputs:
        parts = PurePosixPath(artifact.path).parts
        depth = lowest = 0
        for part in parts:
            depth += -1 if part == ".." else 1
            lowest = min(lowest, depth)
        if lowest < 0 or parts[:1] == ("/",) or PureWindowsPath(artifact.path).drive:
            yield task.warning(artifact.node, artifact.field, f"`{artifact.path}` is outside of the working folder")
