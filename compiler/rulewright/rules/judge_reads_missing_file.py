"""Rule: a judge whose file of recorded replies is missing or named without `replay:`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, respell, warning
from rulewright.documents.base import scalar
from rulewright.documents.layout import path_meant, resolve
from rulewright.project import Project

REPLAY: Final = "replay:"


def judge_reads_missing_file(project: Project) -> Iterator[Diagnostic]:
    """The project's judge reads recorded replies from a missing file, or names the file without `replay:`.

    Why it matters: the scan is refused.
    Instead: correct the path after `replay:`, or put `replay:` before it.
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
        yield warning(source, "write `replay:` before a file of recorded replies", fix=fix)
