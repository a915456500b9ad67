"""Rule: a judge whose recorded replies are not where the project says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, respell, warning
from rulewright.documents.base import scalar
from rulewright.documents.layout import path_meant, resolve

if TYPE_CHECKING:
    from rulewright.project import Project

REPLAY: Final = "replay:"


def judge_reads_missing_file(project: Project) -> Iterator[Diagnostic]:
    """The project's judge answers from a file that is not there, or names its file without saying so.

    Why it matters: the scan is refused, though lint has said nothing.
    Instead: correct the path behind `replay:`, or put `replay:` before it.
    """
    source = None if project.file is None else scalar(project.file.node, "judge", "source")
    if source is None or project.path is None or "$" in str(source.value) or project.unreadable:
        return
    written = str(source.value)
    path = resolve(written.removeprefix(REPLAY), project.path, project.root)
    if written.startswith(REPLAY):
        if not dependencies.exists(path):
            yield warning(source, f"file not found: `{path}`", help=path_meant(path, written))
    elif ":" not in written and Path(written).suffix == ".json" and dependencies.is_file(path):
        fix = respell(source, REPLAY + written, safe=False)
        yield warning(source, "recorded replies are named with `replay:` before the file", fix=fix)
