from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.base import entries, items, scalar, text
from rulewright.documents.layout import path_meant
from rulewright.load import Scalar
from rulewright.workflow import Workflow

PROGRAMS: Final = frozenset((".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"))


def adapter_names_missing_file(workflow: Workflow) -> Findings:
    """The `script` of an adapter, or a program in its `command`, does not exist.

    Why it matters: the run starts, and the first task that uses the adapter fails.
    Instead: correct the path. A `script` is relative to the project's root; a `command` runs in `workflow.folder`, or
    in the adapter's own `folder` below it.
    """
    written = {path for task in workflow.document.tasks for path in [each.path for each in task.outputs]}
    for adapter in (entry.value for entry in entries(workflow.settings, "adapters")):
        script = scalar(adapter, "script")
        if script is not None and _is_missing(workflow.root, str(script.value)):
            yield _missing(script, workflow.root, "`script` is relative to the project's root")
        folder = workflow.place("folder", ".") / text(adapter, "folder")
        words = (each for each in items(adapter, "command") if isinstance(each, Scalar))
        program = next((each for each in words if Path(str(each.value)).suffix in PROGRAMS), None)
        if program is not None and str(program.value) not in written and _is_missing(folder, str(program.value)):
            yield _missing(program, folder, f"the command runs in `{os.path.relpath(folder, workflow.root)}`")


def _is_missing(folder: Path, written: str) -> bool:
    return "$" not in written and not dependencies.exists(_from(folder, written))


def _missing(place: Scalar, folder: Path, otherwise: str) -> Diagnostic:
    written = str(place.value)
    help = path_meant(_from(folder, written), written) or otherwise
    return warning(place, f"file not found: `{written}`", help=help)


def _from(folder: Path, written: str) -> Path:
    return Path(os.path.normpath(folder / written))
