import os
import re
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.base import descend, entries, items, scalar, text
from rulewright.documents.layout import path_meant
from rulewright.load import Node, Scalar
from rulewright.spelling import did_you_mean
from rulewright.workflow import Workflow

PROGRAMS: Final = frozenset((".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"))


def adapter_names_missing_file(workflow: Workflow) -> Findings:
    """The `script` or function of an adapter, or a program in its `command` or that of a notification, does not exist.

    Why it matters: the run starts, and the first task that uses the adapter fails.
    Instead: correct the path. A `script` is relative to the project's root; a `command` runs in `workflow.folder`, or
    in the adapter's own `folder` below it.
    """
    written = {path for task in workflow.document.tasks for path in [each.path for each in task.outputs]}
    for adapter in (entry.value for entry in entries(workflow.settings, "adapters")):
        script = scalar(adapter, "script")
        if script is not None and _is_missing(workflow.root, script.text):
            yield _missing(script, workflow.root, "`script` is relative to the project's root")
        folder = workflow.place("folder", ".") / text(adapter, "folder")
        yield from _without_program(adapter, folder, workflow, written)
        yield from _without_function(scalar(adapter, "callable"), workflow.root)
    notices = descend(workflow.settings, "overlays", "hil", "notify")
    for notice in (each for entry in entries(notices) for each in items(entry.value)):
        yield from _without_program(notice, workflow.place("folder", "."), workflow, written)


def _without_program(node: Node | None, folder: Path, workflow: Workflow, written: set[str]) -> Findings:
    """The first program of a command, if it is neither a file nor written by a task."""
    words = (each for each in items(node, "command") if isinstance(each, Scalar))
    program = next((each for each in words if Path(each.text).suffix in PROGRAMS), None)
    if program is not None and program.text not in written and _is_missing(folder, program.text):
        yield _missing(program, folder, f"the command runs in `{os.path.relpath(folder, workflow.root)}`")


def _without_function(written: Scalar | None, root: Path) -> Findings:
    """A `module:function` whose module is a file of the project that does not mention the function."""
    module, _, function = str(written.value if written else "").partition(":")
    file = root / (module.replace(".", "/") + ".py")
    if written is None or not re.fullmatch(r"\w+(?:\.\w+)*:\w+", written.text) or not dependencies.is_file(file):
        return
    content = file.read_bytes()
    dependencies.note_content(file, content)
    names = set(re.findall(r"\w+", content.decode("utf-8", "replace")))
    if function not in names:
        yield warning(written, f"`{file.name}` has no `{function}`", help=did_you_mean(function, names))


def _is_missing(folder: Path, written: str) -> bool:
    return "$" not in written and not dependencies.exists(_from(folder, written))


def _missing(place: Scalar, folder: Path, otherwise: str) -> Diagnostic:
    written = place.text
    help = path_meant(_from(folder, written), written) or otherwise
    return warning(place, f"file not found: `{written}`", help=help)


def _from(folder: Path, written: str) -> Path:
    return Path(os.path.normpath(folder / written))
